//! What goes on beside the communication of a run in real time: the inference that the scenario asks
//! for, and readings of what both use.

mod inference;
mod watch;

use trackbed_core::event::Record;
use trackbed_inference::runtime::{Runtime, RuntimeError, RuntimeKind, Search};

use inference::Inference;
use trackbed_scenario::{Cell, Plan, Work};
use watch::Watch;

pub(crate) use watch::Roles;

/// What runs the models of the object detectors of `plan` on this machine, each once; nothing if it has
/// none. It is opened, which may start threads.
///
/// # Errors
/// If there is no such runtime; the text says how to get one.
pub fn runtimes(plan: &Plan) -> Result<Vec<String>, RuntimeError> {
    let mut found = Vec::new();
    for kind in kinds(plan) {
        let runtime = Runtime::open(&Search::of_environment(None), kind)?.to_string();
        if !found.contains(&runtime) {
            found.push(runtime);
        }
    }
    Ok(found)
}

/// Whether `plan` has object detectors that leave the choice of the runtime to the machine, and the
/// machine has none. Nothing is opened.
pub fn lacks_runtime(plan: &Plan) -> bool {
    kinds(plan).contains(&None) && Runtime::is_missing(&Search::of_environment(None))
}

/// What the detectors of `plan` ask for, each once.
fn kinds(plan: &Plan) -> Vec<Option<RuntimeKind>> {
    let work = |cell: &Cell| cell.inference.as_ref().and_then(|inference| inference.work.clone());
    let mut kinds = Vec::new();
    for work in plan.cells.iter().filter_map(work) {
        let Work::Detector { runtime, .. } = work else { continue };
        let kind = runtime.as_deref().and_then(RuntimeKind::from_name);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The inference of a run and whoever reads what is used. Both end when this is dropped.
pub(crate) struct Beside {
    /// Whether the cell wants readings.
    is_watched: bool,
    inference: Option<Inference>,
    watch: Option<Watch>,
}

impl Beside {
    /// Lets the inference of `cell` make itself ready, where it has one.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn prepare(cell: &Cell) -> Result<Beside, String> {
        let work = cell.inference.as_ref().and_then(|inference| inference.work.as_ref());
        let inference = work.map(Inference::start).transpose()?;
        Ok(Beside { is_watched: cell.inference.is_some(), inference, watch: None })
    }

    /// Waits until the inference is ready, and begins to read what `roles` use.
    ///
    /// # Errors
    /// If it fails before; its own words.
    pub fn begin(&mut self, roles: Roles) -> Result<(), String> {
        let inference = self.inference.as_mut().map(Inference::wait_until_ready).transpose()?;
        if self.is_watched {
            self.watch = Some(Watch::begin(Roles { inference, ..roles })?);
        }
        Ok(())
    }

    /// Whether the inference goes on.
    ///
    /// # Errors
    /// If it has come to its end; its own words.
    pub fn check(&mut self) -> Result<(), String> {
        self.inference.as_mut().map_or(Ok(()), Inference::check)
    }

    /// Ends everything; returns what was done and used, as events of a run that began at `origin` of
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    ///
    /// # Errors
    /// As [`Beside::check`].
    pub fn end(self, origin: u64) -> Result<Vec<Record>, String> {
        let mut records = match self.inference {
            Some(inference) => inference.end(origin)?,
            None => Vec::new(),
        };
        records.extend(self.watch.into_iter().flat_map(|watch| watch.end(origin)));
        Ok(records)
    }
}
