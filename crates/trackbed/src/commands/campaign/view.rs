//! The display of a campaign in progress.

use std::path::Path;
use std::time::Duration;

use indicatif::ProgressBar;
use trackbed_lab::campaign::keeping::Progress;
use trackbed_measure::results::Document;
use trackbed_report::summary;

use crate::output::{shell_word, tell};
use crate::progress::{self, Stopwatch, Watch};

/// The progress bar, and with `--watch` the results so far.
pub struct View {
    bar: ProgressBar,
    clock: Stopwatch,
    watch: Option<Watch>,
}

impl Progress for View {
    fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    fn set(&mut self, total: u64, done: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    fn finished(&mut self, cell: u32) {
        self.bar.set_message(format!("cell {cell}"));
        self.bar.inc(1);
    }

    fn summed_up(&mut self, document: &Document, directory: &Path) {
        let now = self.clock.elapsed();
        if let Some(watch) = &mut self.watch {
            watch.show(&self.bar, now, &so_far(document, directory));
        }
    }

    fn note(&mut self, text: &str) {
        self.bar.suspend(|| tell(text));
    }
}

impl View {
    /// A view of `total` runs, of which `done` have finished.
    pub fn new(total: u64, done: u64, watches: bool) -> View {
        View {
            bar: progress::bar(total, done),
            clock: Stopwatch::start(),
            watch: watches.then(Watch::new),
        }
    }

    /// Clears it, or prints the last progress.
    pub fn end(mut self) {
        if let Some(watch) = &mut self.watch {
            watch.end(&self.bar);
        }
        self.bar.finish_and_clear();
    }
}

/// The results so far.
fn so_far(document: &Document, directory: &Path) -> String {
    let replay = replay_command(directory);
    let width = console::Term::stderr().size_checked().map(|(_, width)| usize::from(width));
    summary::render(document, summary::Options { replay: &replay, verbose: false, width })
}

/// The command that replays a run, without the numbers of the cell and the run.
pub fn replay_command(directory: &Path) -> String {
    format!("trackbed replay {}", shell_word(directory))
}
