//! What is seen of a campaign while it goes on.

use std::path::Path;
use std::time::Duration;

use indicatif::ProgressBar;
use trackbed_lab::campaign::keeping::Progress;
use trackbed_measure::results::Document;
use trackbed_report::summary;

use crate::output::shell_word;
use crate::progress::{self, Stopwatch, Watch};

/// What somebody sees meanwhile.
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

    fn finished(&mut self) {
        self.bar.inc(1);
    }

    fn summed_up(&mut self, document: &Document, directory: &Path) {
        let now = self.clock.elapsed();
        if let Some(watch) = &mut self.watch {
            watch.show(&self.bar, now, &so_far(document, directory));
        }
    }
}

impl View {
    /// Of so many runs, of which some are done.
    pub fn new(total: u64, done: u64, watches: bool) -> View {
        View {
            bar: progress::bar(total, done),
            clock: Stopwatch::start(),
            watch: watches.then(Watch::new),
        }
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
