//! Results of runs, wherever they are stored.

use std::borrow::Cow;

use trackbed_measure::results::RunResult;

use crate::error::DirectoryError;
use trackbed_scenario::Plan;

/// The results of a plan's runs, provided cell by cell because they may not fit in memory.
pub trait Results: Sync {
    /// The existing results of one cell, in the order of their runs, each run once.
    ///
    /// # Errors
    /// If they cannot be read.
    fn of(&self, cell: u32) -> Result<Cow<'_, [RunResult]>, DirectoryError>;
}

impl Results for Vec<RunResult> {
    fn of(&self, cell: u32) -> Result<Cow<'_, [RunResult]>, DirectoryError> {
        let mut runs: Vec<RunResult> =
            self.iter().filter(|run| run.cell == cell).cloned().collect();
        runs.sort_by_key(|run| run.run);
        Ok(Cow::Owned(runs))
    }
}

/// The results of a plan that count: those of the runs it asks for, optionally without those for
/// which the machine was too slow.
#[derive(Clone, Copy)]
pub struct Counted<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The results of its runs.
    pub results: &'a dyn Results,
    /// Whether runs count for which the machine was too slow.
    pub keep_invalid: bool,
}

impl Counted<'_> {
    /// All of them at once, ordered by cell and run, for callers that need them in memory.
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

    /// The runs of a cell that count, and those for which the machine was too slow.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn of(&self, cell: u32) -> Result<(Vec<RunResult>, Vec<RunResult>), DirectoryError> {
        let mut runs = self.results.of(cell)?.into_owned();
        runs.retain(|run| run.run < self.plan.runs);
        Ok(runs.into_iter().partition(|run| self.keep_invalid || !run.is_invalid()))
    }
}
