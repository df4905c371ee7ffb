//! The document that sums the runs of a plan up.

use std::collections::BTreeMap;

use trackbed_archive::{Counted, DirectoryError, Results, VERSION};
use trackbed_measure::results::{Check, Document, LIVE, RESULTS_VERSION, SCHEMA};
use trackbed_scenario::Plan;

use crate::{aggregate, answer, checks};

/// The origin of results, as recorded in their document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The substrate's name.
    pub substrate: String,
    /// The properties of the machine that affect results, by name.
    pub environment: BTreeMap<String, String>,
    /// The results that come from a model instead of a measurement.
    pub model: Option<String>,
}

/// Summarises the runs of a plan, of which some may be missing. Runs for which the machine was too
/// slow are left out of everything but their own number, unless `keep_invalid`.
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
    let mut document = Document {
        schema: SCHEMA,
        trackbed: VERSION.to_owned(),
        results_version: RESULTS_VERSION,
        scenario: plan.name.clone(),
        substrate: origin.substrate.clone(),
        environment: origin.environment.clone(),
        model: origin.model.clone(),
        seed: plan.seed,
        runs: plan.runs,
        plan: plan.hash.clone(),
        answer: Vec::new(),
        cells,
        differences,
        checks: arithmetic.into_iter().chain(accounts).collect(),
    };
    document.answer = answer::of(&document);
    Ok(document)
}
