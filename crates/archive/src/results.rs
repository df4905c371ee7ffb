//! Results of runs, wherever they are kept.

use std::borrow::Cow;

use trackbed_measure::results::RunResult;

use crate::error::DirectoryError;
use trackbed_scenario::Plan;

/// The results of a plan's runs, of which there may be more than fit memory: they are given cell by
/// cell.
pub trait Results: Sync {
    /// The results of one cell that are there, in the order of their runs, each run once.
    ///
    /// # Errors
    /// If they cannot be read.
    fn of(&self, cell: u32) -> Result<Cow<'_, [RunResult]>, DirectoryError>;
}

impl Results for [RunResult] {
    fn of(&self, cell: u32) -> Result<Cow<'_, [RunResult]>, DirectoryError> {
        let mut runs: Vec<RunResult> =
            self.iter().filter(|run| run.cell == cell).cloned().collect();
        runs.sort_by_key(|run| run.run);
        Ok(Cow::Owned(runs))
    }
}

impl Results for Vec<RunResult> {
    fn of(&self, cell: u32) -> Result<Cow<'_, [RunResult]>, DirectoryError> {
        self.as_slice().of(cell)
    }
}

/// All results of `plan` at once, ordered by cell and run, for what cannot do with less.
///
/// # Errors
/// If they cannot be read.
pub fn all(plan: &Plan, results: &dyn Results) -> Result<Vec<RunResult>, DirectoryError> {
    let mut all = Vec::new();
    for cell in 0..plan.cells.len() as u32 {
        let runs = results.of(cell)?;
        all.extend(runs.iter().filter(|run| run.run < plan.runs).cloned());
    }
    Ok(all)
}

/// Those results of a plan that count: of the runs that it asks for, and if so wished without those
/// that the machine was too slow for.
#[derive(Clone, Copy)]
pub struct Counted<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What its runs gave.
    pub results: &'a dyn Results,
    /// Whether runs count for which the machine was too slow.
    pub keep_invalid: bool,
}

impl Counted<'_> {
    /// All of them at once, ordered by cell and run, for what cannot do with less.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn all(&self) -> Result<Vec<RunResult>, DirectoryError> {
        let mut all = Vec::new();
        for cell in 0..self.plan.cells.len() as u32 {
            all.extend(self.of(cell)?.0);
        }
        Ok(all)
    }

    /// The runs of a cell that count, and how many the machine was too slow for.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn of(&self, cell: u32) -> Result<(Vec<RunResult>, u32), DirectoryError> {
        let mut runs = self.results.of(cell)?.into_owned();
        runs.retain(|run| run.run < self.plan.runs);
        let asked = runs.len();
        runs.retain(|run| self.keep_invalid || !run.is_invalid());
        let invalid = (asked - runs.len()) as u32;
        Ok((runs, invalid))
    }
}
