//! The runs of a campaign: executed, kept, summed up and shown.

use std::path::Path;

use indicatif::ProgressBar;
use trackbed_archive::Refresh;
use trackbed_archive::RunDirectory;
use trackbed_archive::Units;
use trackbed_lab::campaign::{self, Execution};
use trackbed_lab::substrate::Substrate;
use trackbed_measure::results::Document;
use trackbed_report::summary;
use trackbed_scenario::Plan;

use crate::output::shell_word;
use crate::progress::{self, Stopwatch, Watch};

/// Everything that is to be run, and how.
pub struct Whole<'a> {
    pub plan: &'a Plan,
    pub substrate: &'a dyn Substrate,
    pub keep_invalid: bool,
    pub execution: Execution,
    /// Somebody looks on.
    pub watches: bool,
}

impl Whole<'_> {
    /// Runs what is missing of so many runs, and says whether all of it was done.
    ///
    /// # Errors
    /// If results cannot be written.
    pub fn run(
        &self,
        total: u64,
        missing: &Units,
        directory: &mut RunDirectory,
    ) -> anyhow::Result<bool> {
        let mut view = View::new(total, total - missing.len(), self.watches);
        let done = self.run_and_keep(missing, directory, &mut view)?;
        view.end();
        Ok(done == missing.len())
    }

    /// Runs what is missing, and says how much of it was done. Each result is kept as soon as it is
    /// there, and now and then all of them are summed up, so that whatever ends this process leaves
    /// results that can be used. If nothing more can be executed, the rest is not done.
    ///
    /// # Errors
    /// If results cannot be read or written.
    pub fn run_and_keep(
        &self,
        missing: &Units,
        directory: &mut RunDirectory,
        view: &mut View,
    ) -> anyhow::Result<u64> {
        let (mut kept, mut done) = (Ok(()), 0);
        campaign::run(self.plan, self.substrate, missing, &self.execution, |result| {
            if self.substrate.lost().is_some() {
                return self.execution.cancel.cancel();
            }
            view.bar.inc(1);
            if kept.is_ok() {
                kept = directory.append(&result).map_err(anyhow::Error::new);
                done += 1;
            }
            let began = view.clock.elapsed();
            if kept.is_ok() && view.refresh.is_due(began) {
                kept = self.sum_up(directory).map(|document| {
                    view.show(&document, directory.path());
                });
                view.refresh.done(began, view.clock.elapsed());
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
    pub fn sum_up(&self, directory: &mut RunDirectory) -> anyhow::Result<Document> {
        let origin = campaign::origin(self.substrate, self.plan);
        let document =
            trackbed_analysis::document(self.plan, &origin, directory, self.keep_invalid)?;
        directory.sum_up(self.plan, &document)?;
        Ok(document)
    }
}

/// What somebody sees meanwhile.
pub struct View {
    bar: ProgressBar,
    clock: Stopwatch,
    refresh: Refresh,
    watch: Option<Watch>,
}

impl View {
    /// Of so many runs, of which some are done.
    pub fn new(total: u64, done: u64, watches: bool) -> View {
        View {
            bar: progress::bar(total, done),
            clock: Stopwatch::start(),
            refresh: Refresh::new(),
            watch: watches.then(Watch::new),
        }
    }

    fn show(&mut self, document: &Document, directory: &Path) {
        let now = self.clock.elapsed();
        if let Some(watch) = &mut self.watch {
            watch.show(&self.bar, now, &so_far(document, directory));
        }
    }

    /// So many runs it has turned out to be.
    pub fn set(&mut self, total: u64, done: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Takes it away.
    pub fn end(mut self) {
        self.bar.finish_and_clear();
        self.watch.iter_mut().for_each(Watch::clear);
    }
}

/// Results while more are coming in.
fn so_far(document: &Document, directory: &Path) -> String {
    let replay = replay_command(directory);
    let width = console::Term::stderr().size_checked().map(|(_, width)| usize::from(width));
    summary::render(document, summary::Options { replay: &replay, verbose: false, width })
}

/// The command that replays a run, without the numbers of its cell and of itself.
pub fn replay_command(directory: &Path) -> String {
    format!("trackbed replay {}", shell_word(directory))
}
