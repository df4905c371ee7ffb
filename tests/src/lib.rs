//! Shared code of the tests that span crates: scenarios from text, run to the end.

pub mod programs;
pub mod random;

use std::num::NonZeroUsize;

use trackbed_lab::backend::Virtual;
use trackbed_lab::campaign::{self, Execution};
use trackbed_measure::results::{CellResult, Document, RunResult};
use trackbed_scenario::{self as scenario, Override, Plan, Source};
use trackbed_substrate::Cancel;

/// The plan of a built-in scenario with settings changed, each as `key=value`.
///
/// # Panics
/// If it cannot be planned.
pub fn plan(name: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<Override> =
        overrides.iter().map(|text| text.parse().expect("a setting")).collect();
    scenario::load(&Source::named(name), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// All runs of a plan, in the plan's order, `jobs` at a time.
pub fn run(plan: &Plan, jobs: usize) -> Vec<RunResult> {
    let execution = Execution { jobs: NonZeroUsize::new(jobs), cancel: Cancel::default() };
    campaign::run_all(plan, &Virtual::default(), &execution)
}

/// The document of a built-in scenario with settings changed.
pub fn document(name: &str, overrides: &[&str]) -> Document {
    let plan = plan(name, overrides);
    document_of(&plan, &run(&plan, 2))
}

/// The combined results of a plan's runs.
pub fn document_of(plan: &Plan, runs: &[RunResult]) -> Document {
    let results = runs.to_vec();
    trackbed_analysis::document(plan, &campaign::origin(&Virtual::default(), plan), &results, false)
        .expect("they are in memory")
}

/// The cell with these factors.
///
/// # Panics
/// If there is none.
pub fn cell<'a>(document: &'a Document, factors: &[(&str, &str)]) -> &'a CellResult {
    let fits =
        |cell: &&CellResult| factors.iter().all(|(name, text)| cell.factor_text(name) == *text);
    document.cells.iter().find(fits).unwrap_or_else(|| panic!("no cell {factors:?}"))
}
