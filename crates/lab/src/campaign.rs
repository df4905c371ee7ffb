//! All runs of a plan, on all cores, and the document that sums them up.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use trackbed_measure::results::{Document, Outcome, RunResult};
use trackbed_substrate::simulated::parallel;
use trackbed_substrate::{Cancel, RunError};

use crate::scenario::Plan;
use crate::substrate::Substrate;
use crate::{VERSION, aggregate, checks};

/// How a campaign is executed.
#[derive(Clone, Debug)]
pub struct Execution {
    /// How many runs at once; `None` leaves it to the substrate.
    pub jobs: Option<NonZeroUsize>,
    /// Stops it early.
    pub cancel: Cancel,
}

/// Executes the runs of `plan` on `substrate` that are not in `done`, until it is stopped, and
/// returns the results that are there then, ordered by cell and run.
///
/// Run 0 of every cell comes first, then run 1: what is there after an interruption compares all
/// cells. `finished` is told after each run, on the caller's thread: it gets all results so far,
/// those of `done` first and the latest last.
pub fn run(
    plan: &Plan,
    substrate: &dyn Substrate,
    done: Vec<RunResult>,
    execution: &Execution,
    mut finished: impl FnMut(&[RunResult]),
) -> Vec<RunResult> {
    let there: BTreeSet<(u32, u32)> = done.iter().map(|run| (run.run, run.cell)).collect();
    let all = (0..plan.runs).flat_map(|run| (0..plan.cells.len() as u32).map(move |c| (run, c)));
    let missing: Vec<(u32, u32)> = all.filter(|place| !there.contains(place)).collect();
    let jobs = execution.jobs.unwrap_or_else(|| substrate.jobs());

    let mut results = done;
    // The result is taken out of its cell as soon as it is there: a run of many phones is large,
    // and `parallel` keeps what jobs return until the last has ended.
    let execute =
        |&(run, cell): &(u32, u32)| substrate.execute(plan, cell, run).map(|r| Cell::new(Some(r)));
    parallel(&missing, jobs, &execution.cancel, execute, |index, outcome| {
        let (run, cell) = missing[index];
        results.push(settle(cell, run, outcome));
        finished(&results);
    });
    results.sort_by_key(|run| (run.cell, run.run));
    results
}

fn settle(cell: u32, run: u32, result: &Result<Cell<Option<RunResult>>, RunError>) -> RunResult {
    match result {
        Ok(result) => result.take().expect("each result is taken once"),
        Err(error) => {
            let outcome = Outcome::Failed(error.to_string());
            RunResult { cell, run, outcome, certificate: None }
        }
    }
}

/// What the runs of a plan say together. `runs` may be in any order and incomplete. Runs for which
/// the machine was too slow are left out of everything but their own number, unless `keep_invalid`.
pub fn document(
    plan: &Plan,
    substrate: &dyn Substrate,
    runs: &[RunResult],
    keep_invalid: bool,
) -> Document {
    let left_out = |run: &RunResult| !keep_invalid && run.is_invalid();
    let invalid: Vec<u32> = runs.iter().filter(|run| left_out(run)).map(|run| run.cell).collect();
    let counted: Vec<RunResult>;
    let runs = match invalid.is_empty() {
        true => runs,
        false => {
            counted = runs.iter().filter(|run| !left_out(run)).cloned().collect();
            &counted
        }
    };
    let mut cells = aggregate::cells(plan, runs);
    invalid.into_iter().for_each(|cell| cells[cell as usize].invalid += 1);
    let differences = aggregate::differences(plan, &cells, runs);
    let checks = checks::all(plan, substrate, &cells, runs);
    Document {
        trackbed: VERSION.to_owned(),
        scenario: plan.name.clone(),
        substrate: substrate.name().to_owned(),
        environment: substrate.environment(),
        model: substrate.model(plan),
        seed: plan.seed,
        runs: plan.runs,
        plan: plan.hash.clone(),
        cells,
        differences,
        checks,
    }
}
