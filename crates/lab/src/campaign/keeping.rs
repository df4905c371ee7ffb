//! The loop of a campaign: each result is kept as soon as it is there, and now and then all of them are
//! summed up.

use std::path::Path;
use std::time::Duration;

use trackbed_analysis::document;
use trackbed_archive::{DirectoryError, Refresh, RunDirectory, Units};
use trackbed_measure::results::Document;
use trackbed_scenario::Plan;

use super::{Execution, origin, run};
use crate::backend::Backend;

/// How a campaign is run whose results are kept in a run directory.
pub struct Keeping<'a> {
    /// Where it is run.
    pub backend: &'a dyn Backend,
    /// Whether runs count for which the machine was too slow.
    pub keep_invalid: bool,
    /// With how many workers, and what cancels it.
    pub execution: Execution,
}

/// Is told of the progress of a campaign, and has its clock.
pub trait Progress {
    /// How long it has gone on.
    fn elapsed(&self) -> Duration;

    /// It is now of so many runs, of which some are done.
    fn set(&mut self, total: u64, done: u64);

    /// One more run is over.
    fn finished(&mut self);

    /// What is there so far has been summed up.
    fn summed_up(&mut self, document: &Document, directory: &Path);
}

impl Keeping<'_> {
    /// Runs what of `plan` is missing, and says how much of it was done. Each result is kept as soon as it is
    /// there, and as often as `refresh` says all of them are summed up, so that whatever ends this process
    /// leaves results that can be used. If nothing more can be executed, the rest is not done.
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
            progress.finished();
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

    /// Sums up what is there, and keeps that too.
    ///
    /// # Errors
    /// If results cannot be read, or this cannot be written.
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
