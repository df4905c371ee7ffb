//! The measured values behind a document, cell by cell and run by run.

use std::collections::{BTreeMap, BTreeSet};

use trackbed_measure::results::{CellResult, Document, RunResult, factor_names};

pub(crate) struct Cells<'a> {
    pub(crate) document: &'a Document,
    /// The factors, in the order of the document.
    pub(crate) factors: Vec<String>,
    /// For each cell and run, the samples of its metrics; `None` if the run is missing, has failed,
    /// or the machine was too slow.
    runs: Vec<Vec<Option<&'a Samples>>>,
}

/// The samples of a run by metric.
type Samples = BTreeMap<String, Vec<f64>>;

impl<'a> Cells<'a> {
    pub(crate) fn new(document: &'a Document, runs: &'a [RunResult]) -> Cells<'a> {
        let most = runs.iter().map(|run| run.run as usize + 1).max().unwrap_or(0);
        let count = most.min(document.runs as usize);
        let mut by_cell = vec![vec![None; count]; document.cells.len()];
        for run in runs.iter().filter(|run| !run.is_invalid()) {
            let slot = by_cell.get_mut(run.cell as usize).and_then(|c| c.get_mut(run.run as usize));
            if let Some(slot) = slot {
                *slot = run.outcome.samples();
            }
        }
        Cells { document, factors: factor_names(&document.cells), runs: by_cell }
    }

    /// Whether any of its runs succeeded.
    pub(crate) fn ran(&self, cell: usize) -> bool {
        self.runs[cell].iter().any(Option::is_some)
    }

    pub(crate) fn len(&self) -> usize {
        self.document.cells.len()
    }

    pub(crate) fn get(&self, cell: usize) -> &'a CellResult {
        &self.document.cells[cell]
    }

    pub(crate) fn values(&self, cell: usize, metric: &str) -> Vec<Option<&'a [f64]>> {
        let of = |run: &Option<&'a Samples>| {
            run.and_then(|samples| samples.get(metric)).map(Vec::as_slice)
        };
        self.runs[cell].iter().map(of).collect()
    }

    pub(crate) fn has(&self, cell: usize, metric: &str) -> bool {
        self.values(cell, metric).iter().flatten().any(|values| !values.is_empty())
    }

    pub(crate) fn metrics(&self) -> BTreeSet<&'a str> {
        let maps = self.runs.iter().flatten().flatten();
        maps.flat_map(|samples| samples.keys().map(String::as_str)).collect()
    }

    /// The name of a cell: the values of its factors.
    pub(crate) fn name(&self, cell: usize) -> String {
        let name = self.get(cell).name(&self.factors);
        if name.is_empty() { format!("cell {cell}") } else { name }
    }
}
