//! The document that sums the runs of a plan up.

use std::collections::BTreeMap;
use std::path::Path;

use trackbed_archive::{
    Counted, DirectoryError, RecordedRuns, Results, VERSION, check_complete, read_document,
};
use trackbed_measure::results::{
    CellResult, Check, Document, LIVE, RESULTS_VERSION, SCHEMA, TEST, VIRTUAL, VerifyingUnit,
};
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

/// Reads the run directory at `path`: its document and its runs. Those of tests have no summary; they
/// get one here.
///
/// # Errors
/// If it is not a run directory, or is damaged.
pub fn open(path: &Path) -> Result<(Document, RecordedRuns), DirectoryError> {
    let (mut document, runs) = (read_document(path)?, RecordedRuns::read(path)?);
    if document.substrate == TEST {
        let of = |cell| Ok(runs.of(cell)?.into_owned());
        for (cell, result) in (0..).zip(&mut document.cells) {
            let factors = std::mem::take(&mut result.factors);
            *result = CellResult { factors, ..aggregate::summary(&of(cell)?) };
        }
        let (runs, useful) = (document.runs, document.useful_difference);
        document.differences = aggregate::differences_of(&of, &[], runs, &document.cells, useful)?;
        document.answer = answer::of(&document);
    }
    check_complete(&document, &runs)?;
    Ok((document, runs))
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
        let planned = cell;
        let mut cell = summed.cell;
        cell.is_extrapolated = origin.model.is_some() && planned.workload.is_extrapolated();
        let unit = planned.workload.unit().filter(|_| origin.substrate == VIRTUAL);
        cell.unit = unit.map(|[vehicles, cores]| VerifyingUnit { vehicles, cores });
        if origin.substrate == LIVE {
            // There the round trip is the network's own, and not the scenario's.
            cell.expected_completion_ms = None;
        }
        cells.push(cell);
    }
    let differences = aggregate::differences(counted, &cells, plan.useful_difference)?;
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
        factors: plan.factors.clone(),
        useful_difference: plan.useful_difference,
        cells,
        differences,
        checks: arithmetic.into_iter().chain(accounts).collect(),
    };
    document.answer = answer::of(&document);
    Ok(document)
}
