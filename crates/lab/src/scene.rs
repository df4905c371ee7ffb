//! The surroundings of a run on any substrate: derived from the seed before it begins, and
//! identical in every process of the run.

use std::net::IpAddr;
use std::time::Duration;

use trackbed_core::{Event, EventLog, Seed, Time};
use trackbed_protocols::{ClientConfig, PathControl, TransportParameters};
use trackbed_substrate::{Task, spawn_named};
use trackbed_workloads::environment::Course;

use crate::environment;
use crate::foresight::{self, WhoActs};
use crate::topology::{path_addresses, phone_networks};
use trackbed_scenario::{Cell, Drive, NetworkPlan, Radio};

pub(crate) struct Scene {
    /// Changes around connections.
    pub course: Course,
    /// The links with their impairments.
    pub network: NetworkPlan,
    drive: Option<Drive>,
}

impl Scene {
    /// The scene of the run of `cell` with this seed. An environment begins `lead` late if sessions
    /// are warmed up.
    pub fn of(cell: &Cell, seed: &Seed, lead: Duration) -> Scene {
        let course = environment::course(cell, seed, lead);
        let Some(radio) = &cell.radio else {
            let network = environment::under(cell, &course);
            return Scene { course, network, drive: None };
        };
        let drive = radio.drive(seed);
        let network = radio.network(&cell.network, &drive);
        Scene { course, network, drive: Some(drive) }
    }

    /// Records the coming handovers of the paths that `cell` uses.
    pub fn record_handovers(&self, cell: &Cell, log: &EventLog) {
        let balances = cell.radio.as_ref().is_some_and(Radio::balances);
        let has_many = cell.endpoint.protocol.capabilities().multipath || balances;
        let used =
            |event: &Event| has_many || !matches!(event, Event::Handover { path, .. } if *path > 0);
        let events = self.drive.iter().flat_map(Drive::events).filter(used);
        events.for_each(|event| log.record(Time::ZERO, event));
    }

    /// The addresses of phone `number`, network by network, on each of its paths.
    pub fn addresses(&self, cell: &Cell, number: u32) -> Vec<Vec<IpAddr>> {
        let mut networks = phone_networks(number, cell.networks());
        let further = (1..self.network.paths.len()).flat_map(|path| path_addresses(path, number));
        networks.iter_mut().for_each(|network| network.extend(further.clone()));
        networks
    }

    /// Gives phone `number` its further paths.
    pub fn tell_paths(&self, cell: &Cell, number: u32, client: &mut ClientConfig) {
        if let Some(paths) = &mut client.transport.tcp.multipath {
            let further = (1..self.network.paths.len()).map(|path| path_addresses(path, number));
            paths.addresses = further.map(|pair| cell.endpoint.ip.of(pair)).collect();
        }
    }

    /// The addresses of phone `number` among which a load balancer chooses, if the train has one.
    pub fn balanced(&self, cell: &Cell, number: u32) -> Option<[IpAddr; 2]> {
        let ends = [0, 1].map(|path| path_addresses(path, number));
        let balances = cell.radio.as_ref().is_some_and(Radio::balances);
        balances.then(|| ends.map(|pair| cell.endpoint.ip.of(pair)))
    }

    /// Learns what the ends need to foresee handovers, which takes a while.
    pub fn prepare(cell: &Cell) {
        if let Some(radio) = &cell.radio {
            radio.prepare();
        }
    }

    /// Keeps data off paths that are about to stop, if one of the `acting` ends does that, until
    /// the task is dropped.
    pub fn follow(
        self,
        cell: &Cell,
        acting: &[WhoActs],
        (client, server): (PathControl, PathControl),
    ) -> Option<Task<()>> {
        // A connection with one path has none to leave.
        let foresight = cell.radio.as_ref()?.foresight();
        let can = cell.endpoint.protocol.capabilities().multipath;
        if !can || !foresight::acts(foresight).is_some_and(|end| acting.contains(&end)) {
            return None;
        }
        let ends = [0, 1].map(|path| path_addresses(path, 0));
        let ends = ends.map(|pair| cell.endpoint.ip.of(pair)).to_vec();
        let follow = foresight::follow(foresight.clone(), self.drive?, ends, (client, server));
        Some(spawn_named("foresight", follow))
    }
}

/// The transport parameters of the ends, with the scheduler settings that the cell's foresight
/// needs.
pub(crate) fn transport(cell: &Cell) -> TransportParameters {
    let mut transport = cell.endpoint.transport.clone();
    if let (Some(multipath), Some(radio)) = (&mut transport.tcp.multipath, &cell.radio) {
        foresight::set(radio.foresight(), multipath);
    }
    transport
}
