//! The main loop of a campaign: stores each result at once, and updates the summary from time to
//! time.

use std::path::Path;
use std::time::Duration;

use trackbed_analysis::document;
use trackbed_archive::{DirectoryError, Refresh, RunDirectory, Units};
use trackbed_measure::results::Document;
use trackbed_scenario::Plan;

use super::{Execution, origin, run};
use crate::backend::Backend;

/// How to run a campaign whose results are stored in a run directory.
pub struct Keeping<'a> {
    /// The backend.
    pub backend: &'a dyn Backend,
    /// Whether runs count for which the machine was too slow.
    pub keep_invalid: bool,
    /// The number of workers, and what cancels it.
    pub execution: Execution,
}

/// Receives a campaign's progress, and provides its clock.
pub trait Progress {
    /// The elapsed time.
    fn elapsed(&self) -> Duration;

    /// Sets the total number of runs and how many are done.
    fn set(&mut self, total: u64, done: u64);

    /// Another run has finished, one of this cell.
    fn finished(&mut self, cell: u32);

    /// The results so far were summarised.
    fn summed_up(&mut self, document: &Document, directory: &Path);

    /// Something to tell the user meanwhile.
    fn note(&mut self, text: &str);
}

impl Keeping<'_> {
    /// Executes the missing runs of `plan`, and returns how much was done. Stores each result at
    /// once, and updates the summary as often as `refresh` requires, so that the results stay
    /// usable however the process ends. If no further run can be executed, the rest is skipped.
    ///
    /// # Errors
    /// If results cannot be read or written.
    pub fn run(
        &self,
        plan: &Plan,
        missing: &Units,
        directory: &mut RunDirectory,
        refresh: &mut Refresh,
        progress: &mut dyn Progress,
    ) -> Result<u64, DirectoryError> {
        let (mut kept, mut done) = (Ok(()), 0);
        run(plan, self.backend, missing, &self.execution, |result| {
            if self.backend.lost().is_some() {
                return self.execution.cancel.cancel();
            }
            progress.finished(result.cell);
            if kept.is_ok() {
                kept = directory.append(&result);
                done += 1;
            }
            let began = progress.elapsed();
            if kept.is_ok() && refresh.is_due(began) {
                kept = self.sum_up(plan, directory).map(|document| {
                    progress.summed_up(&document, directory.path());
                });
                refresh.done(began, progress.elapsed());
            }
            if kept.is_err() {
                self.execution.cancel.cancel();
            }
        });
        kept.map(|()| done)
    }

    /// Summarises the results so far, and stores the summary.
    ///
    /// # Errors
    /// If results cannot be read, or the summary cannot be written.
    pub fn sum_up(
        &self,
        plan: &Plan,
        directory: &mut RunDirectory,
    ) -> Result<Document, DirectoryError> {
        let origin = origin(self.backend, plan);
        let document = document(plan, &origin, directory, self.keep_invalid)?;
        directory.sum_up(plan, &document)?;
        Ok(document)
    }
}
