//! Progress on a terminal; silence in a pipe.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over `total` runs, of which `done` are there already. It draws on standard error, and
/// only if that is a terminal.
pub fn bar(total: u64, done: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {eta} left")
        .expect("the template is valid");
    bar.set_style(style);
    bar.set_position(done);
    bar.reset_eta();
    bar
}

/// Real time since the start of the campaign, by which results in the making are summed up.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "how often files are written needs real time")]
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
