//! All runs of a plan, on all cores, and the document that sums them up.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::thread;

use trackbed_measure::results::{Document, Outcome, RunResult};
use trackbed_substrate::simulated::{Cancel, RunError, parallel};

use crate::run::Runner;
use crate::scenario::Plan;
use crate::{VERSION, aggregate, checks};

/// Executes the runs of `plan` that are not in `done`, at most `jobs` at once (all cores unless
/// said otherwise), until `cancel` stops it, and returns the results that are there then, ordered
/// by cell and run.
///
/// Run 0 of every cell comes first, then run 1: what is there after an interruption compares all
/// cells. `finished` is told after each run, on the caller's thread: it gets all results so far,
/// those of `done` first and the latest last.
pub fn run(
    plan: &Plan,
    done: Vec<RunResult>,
    jobs: Option<NonZeroUsize>,
    cancel: &Cancel,
    mut finished: impl FnMut(&[RunResult]),
) -> Vec<RunResult> {
    let there: BTreeSet<(u32, u32)> = done.iter().map(|run| (run.run, run.cell)).collect();
    let all = (0..plan.runs).flat_map(|run| (0..plan.cells.len() as u32).map(move |c| (run, c)));
    let missing: Vec<(u32, u32)> = all.filter(|place| !there.contains(place)).collect();
    let jobs = jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);

    // A run that has begun is finished after an interruption, so it is not told of `cancel`.
    let runner = Runner::new(Cancel::new());
    let mut results = done;
    // The outcome is taken out of its cell as soon as it is there: a run of many phones is large,
    // and `parallel` keeps what jobs return until the last has ended.
    let execute = |&(run, cell): &(u32, u32)| {
        runner.execute(&plan.cells[cell as usize], plan.seed, run).map(|o| Cell::new(Some(o)))
    };
    parallel(&missing, jobs, cancel, execute, |index, outcome| {
        let (run, cell) = missing[index];
        results.push(RunResult { cell, run, outcome: settle(outcome) });
        finished(&results);
    });
    results.sort_by_key(|run| (run.cell, run.run));
    results
}

fn settle(outcome: &Result<Cell<Option<Outcome>>, RunError>) -> Outcome {
    match outcome {
        Ok(outcome) => outcome.take().expect("each outcome is taken once"),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// What the runs of a plan say together. `runs` may be in any order and incomplete.
pub fn document(plan: &Plan, runs: &[RunResult]) -> Document {
    let cells = aggregate::cells(plan, runs);
    let differences = aggregate::differences(plan, &cells, runs);
    let checks = checks::all(plan, &cells);
    Document {
        trackbed: VERSION.to_owned(),
        scenario: plan.name.clone(),
        substrate: "virtual".to_owned(),
        seed: plan.seed,
        runs: plan.runs,
        plan: plan.hash.clone(),
        cells,
        differences,
        checks,
    }
}
