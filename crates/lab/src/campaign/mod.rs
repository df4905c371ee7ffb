//! All runs of a plan, on all cores.

pub mod audit;
pub mod decided;
pub mod keeping;
pub mod merge;
pub mod until;

use std::num::NonZeroUsize;

use trackbed_analysis::Origin;
use trackbed_archive::Units;
use trackbed_measure::results::{Outcome, RunResult};
use trackbed_scenario::Plan;
use trackbed_substrate::simulated::parallel;
use trackbed_substrate::{Cancel, RunError};

use crate::backend::Backend;

/// How a campaign is executed.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The number of concurrent runs; `None` leaves it to the backend.
    pub jobs: Option<NonZeroUsize>,
    /// Cancels it.
    pub cancel: Cancel,
}

impl Execution {
    /// The number of workers on `backend`.
    fn jobs_on(&self, backend: &dyn Backend) -> NonZeroUsize {
        self.jobs.unwrap_or_else(|| backend.jobs())
    }
}

/// Executes `units` of `plan` on `backend` until cancelled: those that are groups of one run together.
/// `finished` receives each result on the caller's thread; nothing is stored.
pub fn run(
    plan: &Plan,
    backend: &dyn Backend,
    units: &Units,
    execution: &Execution,
    mut finished: impl FnMut(RunResult),
) {
    let jobs = execution.jobs_on(backend);
    let execute = |(cells, run): &(Vec<u32>, u32)| backend.execute(plan, cells, *run);
    parallel(units.runs(), jobs, &execution.cancel, execute, |(cells, run), results| {
        let failed = |error: RunError| {
            let failed = |cell| RunResult::new(cell, run, Outcome::Failed(error.to_string()));
            cells.into_iter().map(failed).collect()
        };
        results.unwrap_or_else(failed).into_iter().for_each(&mut finished);
    });
}

/// All results of `plan`, ordered by cell and run, for plans whose results fit memory.
pub fn run_all(plan: &Plan, backend: &dyn Backend, execution: &Execution) -> Vec<RunResult> {
    let mut results = Vec::new();
    run(plan, backend, &Units::of(plan, |_, _| true), execution, |result| results.push(result));
    results.sort_by_key(|run| (run.cell, run.run));
    results
}

/// The origin of results of `plan` on `backend` on this machine.
pub fn origin(backend: &dyn Backend, plan: &Plan) -> Origin {
    Origin {
        substrate: backend.name().to_owned(),
        environment: backend.environment(plan),
        model: backend.model(plan),
    }
}
