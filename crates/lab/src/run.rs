//! One run of one cell: build the track, start the server, execute the workload, collect events.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use trackbed_analysis::computing::Computing;
use trackbed_connection::Error;
use trackbed_core::event::{Record, Role};
use trackbed_core::{Event, EventLog, Seed, Time};
use trackbed_measure::answered::Answered;
use trackbed_measure::metrics;
use trackbed_measure::results::Outcome;
use trackbed_net::{Counters, Direction, DropReason, LinkId, Network, NodeId, Tap};
use trackbed_protocols::{
    Ledger, LedgerTotals, Observer, PathControl, ServerHandle, Side, TransportParameters,
};
use trackbed_substrate::simulated::{Cancel, Hosts, RunError, Simulation};
use trackbed_workloads::Patience;

use crate::computing;
use crate::device::Device;
use crate::environment;
use crate::foresight::WhoActs;
use crate::scene::{Scene, transport};
use crate::tick;
use crate::topology::{Ends, SERVER_NAME, Track};
use crate::windows::Connection;
use crate::wiring::{self, Connecting, Phones};
use trackbed_scenario::Cell;

/// Executes runs of any cell.
#[derive(Clone, Debug)]
pub struct Runner {
    simulation: Simulation,
    computing: Option<Computing>,
}

impl Runner {
    /// A runner whose runs end early when `cancel` fires.
    pub fn new(cancel: Cancel) -> Runner {
        let simulation = Simulation::new().with_time_limit(TIME_LIMIT).with_cancel(cancel);
        Runner { simulation, computing: None }
    }

    /// The same with another limit of simulated time, beyond which a run counts as stalled; the
    /// default is two days.
    #[must_use]
    pub fn with_time_limit(self, limit: Time) -> Runner {
        Runner { simulation: self.simulation.with_time_limit(limit), ..self }
    }

    /// The same whose ends take this processor time, if any, in place of the scenario's model of a device. If
    /// so, TCP also rounds timers to the tick of this machine's kernel.
    #[must_use]
    pub fn with_computing(self, computing: impl Into<Option<Computing>>) -> Runner {
        Runner { computing: computing.into(), ..self }
    }

    /// Executes run `run` of `cell` under the root seed `root`.
    ///
    /// # Errors
    /// [`RunError::Cancelled`]. Any other failure of a run is its outcome.
    pub fn execute(&self, cell: &Cell, root: u64, run: u32) -> Result<Outcome, RunError> {
        self.simulate(cell, (root, run), None).map(|(outcome, _)| outcome)
    }

    /// The events of the same run, oldest first, whatever its outcome.
    ///
    /// # Errors
    /// If the run does not reach its end.
    pub fn events(&self, cell: &Cell, root: u64, run: u32) -> Result<Vec<Record>, Unfinished> {
        self.record(cell, (root, run), None)
    }

    /// What is measured in a run observed by `onlooker`, which also receives the events.
    pub(crate) fn simulate(
        &self,
        cell: &Cell,
        unit: (u64, u32),
        onlooker: Option<&dyn Onlooker>,
    ) -> Result<Measured, RunError> {
        match self.record(cell, unit, onlooker) {
            Ok(records) => {
                if let Some(onlooker) = onlooker {
                    onlooker.keep(&records);
                }
                Ok(measured(&records))
            }
            Err(Unfinished::Run(error @ RunError::Cancelled { .. })) => Err(error),
            Err(error) => Ok((Outcome::Failed(error.to_string()), None)),
        }
    }

    /// The events of a run under a root seed, observed by `onlooker`.
    pub(crate) fn record(
        &self,
        cell: &Cell,
        (root, run): (u64, u32),
        onlooker: Option<&dyn Onlooker>,
    ) -> Result<Vec<Record>, Unfinished> {
        let seed = Seed::of_run(root, u64::from(run));
        let scene = Scene::of(cell, &seed, environment::VIRTUAL_LEAD);
        let who = (cell.workload.phones(), cell.networks());
        let mut track = Track::build(&scene.network, who, &seed, Ends::Hosts);
        track.network.set_tap(onlooker.map(|one| one.tap(&track.links)));
        let device = self.computing.map_or_else(|| Device::of(cell, &seed), |_| None);
        if let Some(device) = &device {
            track.network.add_processor(track.phones.clone(), device.processor());
        }
        let mut simulation = self.simulation.clone();
        if let Some(computing) = self.computing {
            computing::attach(&mut track, cell, computing);
            simulation = simulation.with_tick(tick::of_run(&seed));
        }
        let Track { phones, links, .. } = track;
        let layout = Layout { phones, links, scene, device };
        let observer = onlooker.map(Onlooker::observer);
        let main = |hosts| play(cell, seed, hosts, layout, observer);
        let finished = simulation.run(seed, track.network, main).map_err(Unfinished::Run)?;
        finished.map_err(Unfinished::Protocol)
    }
}

/// Observes a run without changing it.
pub(crate) trait Onlooker {
    /// Receives the packets of [`Track::links`].
    fn tap(&self, links: &[LinkId]) -> Box<dyn Tap>;

    /// Receives keys and traces of protocols.
    fn observer(&self) -> Arc<dyn Observer>;

    /// Whether ends in other processes should note congestion windows. That takes time of the run.
    fn wants_windows(&self) -> bool {
        false
    }

    /// Receives the congestion windows of a TCP connection whose end is another process.
    fn windows(&self, _side: Side, _of: Connection) {}

    /// Receives the events of the whole run after its end.
    fn keep(&self, _records: &[Record]) {}
}

/// Why a run has not reached its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum Unfinished {
    #[error("{0}")]
    Run(RunError),
    #[error("{0}")]
    Protocol(Error),
}

/// The parts of a [`Track`] that a run needs while its network is in use, and its surroundings.
struct Layout {
    phones: Vec<NodeId>,
    links: Vec<LinkId>,
    scene: Scene,
    /// The device that the phones compute on, if that takes time.
    device: Option<Device>,
}

/// Inside the run: everything from the server's start to the last event.
async fn play(
    cell: &Cell,
    seed: Seed,
    hosts: Hosts,
    layout: Layout,
    observer: Option<Arc<dyn Observer>>,
) -> Result<Vec<Record>, Error> {
    let log = EventLog::default();
    let Layout { phones, links, scene, device } = layout;
    scene.record_handovers(cell, &log);
    let ledgers = [(Role::Client, Ledger::default()), (Role::Server, Ledger::default())];
    let [client_side, server_side] = ledgers.each_ref().map(|(_, ledger)| TransportParameters {
        observer: observer.clone(),
        ledger: Some(ledger.clone()),
        ..transport(cell)
    });
    let (paths, server_paths) = (PathControl::default(), PathControl::default());
    let protocol = cell.endpoint.protocol;
    let host = hosts.get(SERVER_NAME).expect("every track has a server");
    let config = wiring::server(cell, server_side, server_paths.clone());
    let listen = cell.endpoint.ip.server();
    let server = protocol.serve(host, listen, &config, cell.workload.service(log.clone()))?;
    let host = |(number, node)| hosts.roaming(node, scene.addresses(cell, number));
    let phones = Phones {
        first: 0,
        hosts: (0..).zip(phones).map(host).collect(),
        server: listen,
        trust: server.trust().cloned(),
    };
    let connecting = Connecting {
        transport: client_side,
        paths: paths.clone(),
        binds: false,
        patience: Patience::VIRTUAL,
    };
    let stage = phones.stage(cell, &scene, connecting, (&seed, &log), |dialer| match &device {
        Some(device) => device.charge(dialer),
        None => dialer,
    })?;
    let _following = scene.follow(cell, &WhoActs::BOTH, (paths, server_paths));
    cell.workload.drive(stage).await;
    close(server).await;
    for (role, ledger) in ledgers {
        log.record(trackbed_substrate::now(), sent(role, ledger.totals()));
    }
    let events = hosts.with_network(|network| link_events(&links, network));
    for event in events.into_iter().flatten() {
        log.record(trackbed_substrate::now(), event);
    }
    let mut records = log.take();
    if let Some(device) = device {
        records.extend(device.end(trackbed_substrate::now()));
        records.sort_by_key(|record| record.at);
    }
    Ok(records)
}

/// What the connections of an end sent.
pub(crate) fn sent(role: Role, totals: LedgerTotals) -> Event {
    Event::Transport {
        role,
        packets_sent: totals.packets_sent,
        packets_lost: totals.packets_lost,
        bytes_sent: totals.bytes_sent,
        filler_bytes: totals.filler_bytes,
        address_validation: totals.address_validation,
    }
}

/// Stops the server and its tasks, so that its connections are recorded in their accounts.
async fn close(server: ServerHandle) {
    drop(server);
    trackbed_substrate::sleep(Duration::from_micros(1)).await;
}

/// The final counters of [`Track::links`]. Ends the network's work.
pub(crate) fn link_events(links: &[LinkId], network: &mut Network) -> Vec<Event> {
    network.drain(DRAIN_LIMIT);
    let mut events = Vec::new();
    for (name, &link) in ["link", "second-link"].into_iter().zip(links) {
        for (way, direction) in [("up", Direction::Forward), ("down", Direction::Backward)] {
            let undecided = network.held(link, direction) as u64;
            let counters = network.counters(link, direction);
            events.push(link_event(format!("{name}/{way}"), counters, undecided));
        }
    }
    events
}

/// `undecided` packets are still inside.
fn link_event(name: String, counters: &Counters, undecided: u64) -> Event {
    let queue: u64 = [DropReason::QueueFull, DropReason::QueueManagement]
        .into_iter()
        .map(|why| counters.dropped(why).packets)
        .sum();
    Event::Link {
        name,
        offered_packets: counters.offered.packets.saturating_sub(undecided),
        offered_bytes: counters.offered.bytes,
        lost_packets: counters.dropped_in_all().packets - queue,
        queue_dropped_packets: queue,
    }
}

/// The samples of every metric, or why the run does not count; and which messages were answered.
pub(crate) type Measured = (Outcome, Option<Answered>);

/// What is measured by a run's events.
pub(crate) fn measured(records: &[Record]) -> Measured {
    if let Err(reason) = metrics::outcome(records) {
        return (Outcome::Failed(reason), None);
    }
    let samples = metrics::registry()
        .iter()
        .map(|metric| (metric.name.to_owned(), (metric.compute)(records)));
    let samples: BTreeMap<String, Vec<f64>> =
        samples.filter(|(_, values)| !values.is_empty()).collect();
    (Outcome::Samples(samples), Answered::of(records))
}

/// How long links may finish after a run: longer than full queues and long delays last, short for one that
/// is down for good.
const DRAIN_LIMIT: Duration = Duration::from_secs(60);

/// Two simulated days: longer than any sensible transfer and than the longest telemetry, short
/// enough to end a run that only keeps itself alive.
const TIME_LIMIT: Time = Time::from_millis(2 * 86_400_000);
