//! Progress. On a terminal: a bar, and with `--watch` the results so far. In a pipe: nothing, or with
//! `--watch` a line every ten seconds and at the end.

use std::fmt;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use trackbed_outward::printable;

use crate::output;

/// A progress bar for `total` runs, of which `done` already exist. It is drawn on standard error, and only
/// if that is a terminal.
pub fn bar(total: u64, done: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    if !std::io::stderr().is_terminal() || output::is_quiet() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let style =
        ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {rate}, {eta} left, {msg}")
            .expect("the template is valid")
            .with_key("rate", |state: &ProgressState, text: &mut dyn fmt::Write| {
                // Writing to this buffer does not fail.
                let _ = write!(text, "{:.1}/s", state.per_sec());
            });
    bar.set_style(style);
    bar.set_position(done);
    bar.reset_eta();
    bar
}

/// Counts the settings of a search, whose number is not known beforehand.
pub fn settings() -> ProgressBar {
    let bar = bar(0, 0);
    let style = ProgressStyle::with_template("{spinner} {pos} settings in {elapsed}, {msg}");
    bar.set_style(style.expect("the template is valid"));
    bar
}

/// Shows the results of a campaign as they arrive.
#[derive(Debug)]
pub struct Watch {
    term: Term,
    /// Lines above the bar that the next update overwrites.
    lines: usize,
    last_line: Option<Duration>,
}

impl Watch {
    /// Shows nothing yet.
    pub fn new() -> Watch {
        Watch { term: Term::stderr(), lines: 0, last_line: None }
    }

    /// Replaces the results shown by `text`. In a pipe, prints the progress of `bar` every ten seconds
    /// instead. `now` counts from the start of the campaign.
    pub fn show(&mut self, bar: &ProgressBar, now: Duration, text: &str) {
        if !self.term.is_term() {
            if self.last_line.is_none_or(|last| now - last >= LINE_EVERY) {
                self.last_line = Some(now);
                output::tell(line(bar));
            }
            return;
        }
        let (height, width) = self.term.size();
        let most = usize::from(height).saturating_sub(3).max(1);
        let text = printable(text);
        let lines: Vec<String> = text.lines().take(most).map(|line| cut(line, width)).collect();
        bar.suspend(|| {
            self.clear();
            self.lines = lines.len();
            lines.iter().for_each(|line| drop(self.term.write_line(line)));
        });
    }

    /// Clears the results shown, before the final ones are printed in full. In a pipe, prints the last
    /// progress of `bar` instead: short campaigns have no other.
    pub fn end(&mut self, bar: &ProgressBar) {
        if self.term.is_term() {
            bar.suspend(|| self.clear());
        } else {
            output::tell(line(bar));
        }
    }

    fn clear(&mut self) {
        // A closed terminal does not matter.
        let _ = self.term.clear_last_lines(std::mem::take(&mut self.lines));
    }
}

fn line(bar: &ProgressBar) -> String {
    let (done, total) = (bar.position(), bar.length().unwrap_or(0));
    let (rate, left) = (bar.per_sec(), HumanDuration(bar.eta()));
    let line = format!("{done} of {total} runs, {rate:.1} runs/s, {left} left, {}", bar.message());
    line.trim_end_matches(", ").to_owned()
}

fn cut(line: &str, width: u16) -> String {
    line.chars().take(usize::from(width)).collect()
}

const LINE_EVERY: Duration = Duration::from_secs(10);

/// Real time since the start of the campaign, which decides when results so far are written.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the stopwatch.
    #[expect(clippy::disallowed_methods, reason = "how often files are written needs real time")]
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// The time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
