//! Runs on the real kernel: the server and the clients are separate processes, each in a network
//! namespace, and the scenario's links join them in real time.

mod captures;
mod certified;
mod conversation;
mod endpoint;
mod ground;
mod multipath;
mod play;
mod process;
mod programs;
pub(crate) mod spread;

use std::collections::BTreeMap;

use trackbed_core::event::Record;
use trackbed_core::{Seed, Time};
use trackbed_emulator::namespace::{self, NamespaceError};
use trackbed_emulator::{Certificate, Vigil};
use trackbed_measure::results::{EMULATED, Outcome, RunResult};
use trackbed_substrate::RunError;

use crate::backend::Backend;
use crate::beside::{self, Beside};
use crate::crowd::{self, Member};
use crate::logs::{Log, Logs, link_events};
use crate::run::Onlooker;
use crate::scene::Scene;
use crate::{environment, machine, models};
pub use captures::{CapturedRuns, Captures};
use certified::certified;
use conversation::Job;
use ground::Ground;
use play::play;
use trackbed_archive::About;
use trackbed_scenario::Plan;

pub use endpoint::endpoint;

/// The kernel's sockets, in namespaces joined by emulated links.
#[derive(Debug)]
pub struct Emulated {
    about: About,
    environment: BTreeMap<String, String>,
    captures: Option<Captures>,
}

impl Emulated {
    /// The substrate for the plan described by `about`.
    ///
    /// Call it before the process has a second thread.
    ///
    /// # Errors
    /// If this machine does not allow namespaces; the message says how to allow them.
    pub fn new(about: About) -> Result<Emulated, NamespaceError> {
        namespace::acquire()?;
        Ok(Emulated { about, environment: machine::environment(OFFLOADS), captures: None })
    }

    /// The same, whose runs leave captures.
    pub fn capturing(self, captures: Option<Captures>) -> Emulated {
        Emulated { captures, ..self }
    }

    /// Executes a run of `cells`, which are of one family, and measures each. `onlooker` sees the packets and
    /// the events of the first.
    pub(crate) fn observe(
        &self,
        plan: &Plan,
        (cells, run): (&[u32], u32),
        onlooker: Option<&dyn Onlooker>,
    ) -> Vec<RunResult> {
        let recorded = self.record(plan, (cells[0], run), onlooker);
        let result = |&cell: &u32| {
            let planned = &plan.cells[cell as usize];
            let (logs, certificate) = match &recorded {
                Ok((logs, certificate)) => (Logs::of(logs, planned), certificate),
                Err(why) => return RunResult::new(cell, run, Outcome::Failed(why.clone())),
            };
            let (outcome, answered) = logs.measured();
            let records = logs.merged();
            let certificate = Some(certified(certificate, &records, planned));
            let outcome = programs::judge(planned, &records, outcome);
            if let Some(onlooker) = onlooker.filter(|_| cell == cells[0]) {
                onlooker.keep(&records);
            }
            RunResult { cell, run, outcome, certificate, answered }
        };
        cells.iter().map(result).collect()
    }

    /// The events of all groups of the run that the cell is part of.
    fn record(
        &self,
        plan: &Plan,
        (index, run): (u32, u32),
        onlooker: Option<&dyn Onlooker>,
    ) -> Result<(Vec<Logs>, Certificate), String> {
        let cell = &plan.cells[index as usize];
        let seed = Seed::of_run(plan.seed, u64::from(run));
        // If the machine's load is measured, it must not be kept awake.
        let _vigil = cell.inference.is_none().then(Vigil::keep);
        let beside = Beside::prepare(cell)?;
        let scene = Scene::of(cell, &seed, environment::REAL_LEAD);
        let members = Member::all(cell, &seed);
        let ground = Ground::build(cell, &members, &scene.network)?;
        let is_watched = onlooker.is_some();
        let notes_windows = onlooker.is_some_and(Onlooker::wants_windows);
        let about = &self.about;
        let all = 0..crowd::clients(&members).count();
        let job = |role| {
            let (about, phones) = (about.clone(), all.clone());
            Job { about, cell: index, run, role, phones, is_watched, notes_windows }
        };
        let around = (&seed, beside, onlooker);
        let (records, mut finished) = play(ground, (cell, &scene, &members), around, job)?;
        let now = records.iter().flatten().map(|record| record.at).max().unwrap_or(Time::ZERO);
        let bytes = finished.bytes();
        let log = |(member, mut records): (Member, Vec<Record>)| {
            records.sort_by_key(|record| record.at);
            Log { member, records }
        };
        let all = members.into_iter().zip(records).map(log).collect();
        let events = link_events((&finished.links, &finished.stations), &mut finished.network);
        Ok((Logs::by_group(all, &bytes, (&events, now)), finished.certificate))
    }
}

impl Backend for Emulated {
    fn name(&self) -> &'static str {
        EMULATED
    }

    fn environment(&self, plan: &Plan) -> BTreeMap<String, String> {
        beside::with_runtimes(&self.environment, plan)
    }

    fn check(&self, plan: &Plan) -> Result<(), String> {
        plan.cells.iter().try_for_each(models::refuse_bare_sctp)?;
        plan.cells.iter().try_for_each(models::refuse_multipath_groups)?;
        models::check_here(plan)?;
        multipath::check(plan)?;
        programs::check(plan)
    }

    fn lost(&self) -> Option<String> {
        self.captures.as_ref()?.trouble()
    }

    fn execute(&self, plan: &Plan, cells: &[u32], run: u32) -> Result<Vec<RunResult>, RunError> {
        let execute = |cells: &[u32], onlooker: Option<&dyn Onlooker>| {
            self.observe(plan, (cells, run), onlooker)
        };
        Ok(match &self.captures {
            None => execute(cells, None),
            Some(captures) => captures.during((cells, run), execute),
        })
    }
}

/// What the emulation sets on every interface of the ends.
const OFFLOADS: &str = "checksums and segmentation by the hosts; no TSO, GSO, GRO on the links";
