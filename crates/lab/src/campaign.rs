//! All runs of a plan, on all cores, and the document that sums them up.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use trackbed_measure::results::{Check, Document, Outcome, RunResult, SCHEMA};
use trackbed_substrate::simulated::parallel;
use trackbed_substrate::{Cancel, RunError};

use crate::live::LIVE;
use crate::substrate::Substrate;
use crate::{aggregate, checks};
use trackbed_archive::DirectoryError;
use trackbed_archive::Units;
use trackbed_archive::VERSION;
use trackbed_archive::{Counted, Results};
use trackbed_scenario::Plan;

/// How a campaign is executed.
#[derive(Clone, Debug)]
pub struct Execution {
    /// How many runs at once; `None` leaves it to the substrate.
    pub jobs: Option<NonZeroUsize>,
    /// Stops it early.
    pub cancel: Cancel,
}

/// Executes `units` of `plan` on `substrate`, until it is stopped. `finished` is told the result of
/// each as soon as it is there, on the caller's thread; nothing is kept.
pub fn run(
    plan: &Plan,
    substrate: &dyn Substrate,
    units: &Units,
    execution: &Execution,
    mut finished: impl FnMut(RunResult),
) {
    let jobs = execution.jobs.unwrap_or_else(|| substrate.jobs());
    let execute = |&(cell, run): &(u32, u32)| substrate.execute(plan, cell, run);
    parallel(units.iter(), jobs, &execution.cancel, execute, |(cell, run), result| {
        finished(settle(cell, run, result));
    });
}

/// All results of `plan`, ordered by cell and run, for plans whose results fit memory.
pub fn run_all(plan: &Plan, substrate: &dyn Substrate, execution: &Execution) -> Vec<RunResult> {
    let mut results = Vec::new();
    run(plan, substrate, &Units::of(plan, |_, _| true), execution, |result| results.push(result));
    results.sort_by_key(|run| (run.cell, run.run));
    results
}

fn settle(cell: u32, run: u32, result: Result<RunResult, RunError>) -> RunResult {
    result.unwrap_or_else(|error| {
        let outcome = Outcome::Failed(error.to_string());
        RunResult { cell, run, outcome, certificate: None }
    })
}

/// Where results come from, as their document says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The substrate's name.
    pub substrate: String,
    /// What of the machine bears on results, by name.
    pub environment: BTreeMap<String, String>,
    /// What of the results is a model's and no measurement.
    pub model: Option<String>,
}

impl Origin {
    /// Runs of `plan` on `substrate`, here.
    pub fn of(substrate: &dyn Substrate, plan: &Plan) -> Origin {
        Origin {
            substrate: substrate.name().to_owned(),
            environment: substrate.environment(),
            model: substrate.model(plan),
        }
    }
}

/// What the runs of a plan say together, of which some may be missing. Runs for which the machine was
/// too slow are left out of everything but their own number, unless `keep_invalid`.
///
/// # Errors
/// If the results cannot be read.
pub fn document(
    plan: &Plan,
    origin: &Origin,
    results: &dyn Results,
    keep_invalid: bool,
) -> Result<Document, DirectoryError> {
    let counted = Counted { plan, results, keep_invalid };
    let mut arithmetic = Vec::new();
    let mut accounts: Vec<Check> = Vec::new();
    let mut cells = Vec::new();
    for (cell, summed) in plan.cells.iter().zip(aggregate::cells(counted, checks::accounts)?) {
        arithmetic.extend(checks::arithmetic(&origin.substrate, cell, &summed.cell));
        accounts.extend(summed.checks);
        let mut cell = summed.cell;
        if origin.substrate == LIVE {
            // There the round trip is the network's own, and not the scenario's.
            cell.expected_completion_ms = None;
        }
        cells.push(cell);
    }
    let differences = aggregate::differences(counted, &cells)?;
    Ok(Document {
        schema: SCHEMA,
        trackbed: VERSION.to_owned(),
        scenario: plan.name.clone(),
        substrate: origin.substrate.clone(),
        environment: origin.environment.clone(),
        model: origin.model.clone(),
        seed: plan.seed,
        runs: plan.runs,
        plan: plan.hash.clone(),
        cells,
        differences,
        checks: arithmetic.into_iter().chain(accounts).collect(),
    })
}
