//! What runs beside the communication of a real-time run: the scenario's inference, and readings of
//! resource usage.

mod inference;
mod watch;

use std::collections::BTreeMap;

use trackbed_core::event::Record;
use trackbed_inference::runtime::{Runtime, RuntimeError, RuntimeKind, Search};
use trackbed_measure::results::RUNTIME;

use inference::Inference;
use trackbed_scenario::{Cell, Plan, Work};
use watch::Watch;

pub(crate) use watch::Roles;

/// The distinct runtimes of the object detectors of `plan` on this machine; empty if it has none.
/// They are opened, which may start threads.
///
/// # Errors
/// If a runtime is missing; the text says how to get it.
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

/// The properties of a machine, and the runtimes of the object detectors of `plan` if all are
/// installed.
pub(crate) fn with_runtimes(
    environment: &BTreeMap<String, String>,
    plan: &Plan,
) -> BTreeMap<String, String> {
    let runtimes = runtimes(plan).ok().filter(|runtimes| !runtimes.is_empty());
    let runtimes = runtimes.map(|runtimes| (RUNTIME.to_owned(), runtimes.join(" and ")));
    environment.clone().into_iter().chain(runtimes).collect()
}

/// Whether `plan` has object detectors without a fixed runtime, and this machine has no runtime.
/// Nothing is opened.
pub fn lacks_runtime(plan: &Plan) -> bool {
    kinds(plan).contains(&None) && Runtime::is_missing(&Search::of_environment(None))
}

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

pub(crate) struct Beside {
    /// Whether the cell asks for readings.
    is_watched: bool,
    inference: Option<Inference>,
    watch: Option<Watch>,
}

impl Beside {
    /// Starts the inference of `cell`, if it has one.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn prepare(cell: &Cell) -> Result<Beside, String> {
        let work = cell.inference.as_ref().and_then(|inference| inference.work.as_ref());
        let inference = work.map(Inference::start).transpose()?;
        Ok(Beside { is_watched: cell.inference.is_some(), inference, watch: None })
    }

    /// Waits until the inference is ready, and starts to monitor `roles`.
    ///
    /// # Errors
    /// If it fails before that; its error message.
    pub fn begin(&mut self, roles: Roles) -> Result<(), String> {
        let inference = self.inference.as_mut().map(Inference::wait_until_ready).transpose()?;
        if self.is_watched {
            self.watch = Some(Watch::begin(Roles { inference, ..roles })?);
        }
        Ok(())
    }

    /// Checks that the inference is still running.
    ///
    /// # Errors
    /// If it has ended; its error message.
    pub fn check(&mut self) -> Result<(), String> {
        self.inference.as_mut().map_or(Ok(()), Inference::check)
    }

    /// Ends everything; returns frames and readings as events of a run that began at `origin` of
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
