//! One run of one cell: build the track, start the server, execute the workload, collect events.

use std::sync::Arc;

use trackbed_analysis::computing::Computing;
use trackbed_connection::Error;
use trackbed_core::event::Record;
use trackbed_core::{Seed, Time};
use trackbed_measure::results::Outcome;
use trackbed_net::{LinkId, NodeId, Tap};
use trackbed_protocols::{Observer, PathControl, Side};
use trackbed_substrate::simulated::{Cancel, Hosts, RunError, Simulation};
use trackbed_substrate::spawn_named;

use crate::actor::{Actor, Place};
use crate::crowd::{self, Member};
use crate::device::Device;
use crate::foresight::WhoActs;
use crate::logs::{Logs, Measured, bytes_of_phones, link_events};
use crate::scene::Scene;
use crate::topology::{Ends, Track};
use crate::windows::Connection;
use crate::{computing, environment, tick};
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
        let simulation = Simulation::default().with_time_limit(TIME_LIMIT).with_cancel(cancel);
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
        self.simulate(&[cell], (root, run), None).map(|mut all| all.remove(0).0)
    }

    /// The events of the same run, oldest first, whatever its outcome.
    ///
    /// # Errors
    /// If the run does not reach its end.
    pub fn events(&self, cell: &Cell, root: u64, run: u32) -> Result<Vec<Record>, Unfinished> {
        self.record(cell, (root, run), None)
    }

    /// What is measured in a run of `cells`, which are of one family, for each of them. `onlooker` observes it,
    /// and receives the events of the first.
    pub(crate) fn simulate(
        &self,
        cells: &[&Cell],
        unit: (u64, u32),
        onlooker: Option<&dyn Onlooker>,
    ) -> Result<Vec<Measured>, RunError> {
        match self.play(cells[0], unit, onlooker) {
            Ok(logs) => {
                let measured = cells.iter().map(|cell| Logs::of(&logs, cell).measured()).collect();
                if let Some(onlooker) = onlooker {
                    onlooker.keep(&Logs::of(&logs, cells[0]).merged());
                }
                Ok(measured)
            }
            Err(Unfinished::Run(error @ RunError::Cancelled { .. })) => Err(error),
            Err(error) => {
                let failed = |_: &&Cell| (Outcome::Failed(error.to_string()), None);
                Ok(cells.iter().map(failed).collect())
            }
        }
    }

    /// The events of a run under a root seed, observed by `onlooker`.
    pub(crate) fn record(
        &self,
        cell: &Cell,
        unit: (u64, u32),
        onlooker: Option<&dyn Onlooker>,
    ) -> Result<Vec<Record>, Unfinished> {
        self.play(cell, unit, onlooker).map(|logs| Logs::of(&logs, cell).merged())
    }

    /// The events of all groups of the run that `cell` is part of.
    fn play(
        &self,
        cell: &Cell,
        (root, run): (u64, u32),
        onlooker: Option<&dyn Onlooker>,
    ) -> Result<Vec<Logs>, Unfinished> {
        let seed = Seed::of_run(root, u64::from(run));
        let scene = Scene::of(cell, &seed, environment::VIRTUAL_LEAD);
        let members = Member::all(cell, &seed);
        let mut track = crowd::track(&scene.network, &members, &seed, Ends::Hosts);
        track.network.set_tap(onlooker.map(|one| one.tap(&track)));
        let device = self.computing.map_or_else(|| Device::of(cell, &seed), |_| None);
        if let Some(device) = &device {
            track.network.add_processor(track.phones().to_vec(), device.processor());
        }
        let mut simulation = self.simulation.clone();
        if let Some(computing) = self.computing {
            computing::attach(&mut track, cell, computing);
            simulation = simulation.with_tick(tick::of_run(&seed));
        }
        let phones = track.phones().to_vec();
        let Track { network, links, stations, .. } = track;
        let layout = Layout { phones, links, stations, scene, device };
        let observer = onlooker.map(Onlooker::observer);
        let main = |hosts| play(cell, members, hosts, layout, observer);
        let finished = simulation.run(seed, network, main).map_err(Unfinished::Run)?;
        finished.map_err(Unfinished::Protocol)
    }
}

/// Observes a run without changing it.
pub(crate) trait Onlooker {
    /// Receives the packets of [`Track::links`].
    fn tap(&self, track: &Track) -> Box<dyn Tap>;

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
    stations: Vec<LinkId>,
    scene: Scene,
    /// The device that the phones compute on, if that takes time.
    device: Option<Device>,
}

/// Inside the run: everything from the servers' start to the last event.
async fn play(
    cell: &Cell,
    members: Vec<Member>,
    hosts: Hosts,
    layout: Layout,
    observer: Option<Arc<dyn Observer>>,
) -> Result<Vec<Logs>, Error> {
    let Layout { phones, links, stations, scene, device } = layout;
    let (paths, server_paths) = (PathControl::default(), PathControl::default());
    let place = Place {
        hosts: &hosts,
        phones: &phones,
        scene: &scene,
        device: &device,
        observer: &observer,
    };
    let actor = |member| Actor::begin(member, &place, (&paths, &server_paths));
    let mut actors: Vec<Actor> = members.into_iter().map(actor).collect::<Result<_, _>>()?;
    let _following = scene.follow(cell, &WhoActs::BOTH, (paths, server_paths));
    match &mut actors[..] {
        [only] => only.act().await,
        many => {
            let tasks = many.iter_mut().map(|actor| spawn_named("member", actor.act()));
            for task in tasks.collect::<Vec<_>>() {
                task.await;
            }
        }
    }
    let logs = Actor::end(actors).await;
    let counted = hosts.with_network(|network| {
        let events = link_events((&links, &stations), network);
        (events, bytes_of_phones((&links, &stations), network))
    });
    let (events, bytes) = counted.unwrap_or_default();
    let now = trackbed_substrate::now();
    let mut logs = Logs::by_group(logs, &bytes, (&events, now));
    if let (Some(device), Some(first)) = (device, logs.first_mut()) {
        first.add_records(device.end(now));
    }
    Ok(logs)
}

/// Two simulated days: longer than any sensible transfer and than the longest telemetry, short
/// enough to end a run that only keeps itself alive.
const TIME_LIMIT: Time = Time::from_millis(2 * 86_400_000);
