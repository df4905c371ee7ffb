//! Progress on a terminal; silence in a pipe.

use std::io::IsTerminal as _;

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
