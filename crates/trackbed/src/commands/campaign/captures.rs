//! `--capture`: packets and keys of runs while they happen.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, bail};
use trackbed_archive::{CAPTURES, RecordedRuns, Shard};
use trackbed_lab::emulated::{CapturedRuns, Captures};
use trackbed_scenario::Plan;

use super::remote;
use crate::chosen;
use crate::options::{RunOptions, SubstrateArgument};
use crate::output::{self, shell_word, tell};

/// The captures that `options` ask for, below `out`. Refused before anything is written, if there could be
/// none.
pub fn wanted(
    (substrate, options): (SubstrateArgument, &RunOptions),
    plan: &Plan,
    (out, shard): (&Path, Option<Shard>),
) -> anyhow::Result<Option<Captures>> {
    let Some(runs) = options.capture else { return Ok(None) };
    if !matches!(substrate, SubstrateArgument::Emulated) {
        bail!(
            "--capture needs --substrate emulated\n  help: a run in virtual time is captured by repeating \
             it: trackbed replay DIR CELL RUN; on a real network use tcpdump"
        );
    }
    if remote::address(out).is_some() {
        bail!("--capture writes to a folder on this machine: give one with --out");
    }
    if let CapturedRuns::One { cell, run } = runs {
        let is_open = options.until.is_some() || options.until_decided;
        let runs_max = if is_open { options.runs_max } else { 0 };
        chosen::check(plan, cell, Some(run), runs_max).context("--capture")?;
        let unit = (plan.cells[cell as usize].family, run);
        if shard.is_some_and(|shard| !shard.has(plan.families().len(), unit)) {
            bail!("--capture: run {run} of cell {cell} is in another shard");
        }
        let is_there = RecordedRuns::read(out).is_ok_and(|runs| runs.has(cell, run));
        if is_there && options.out.is_some() {
            bail!(
                "--capture: run {run} of cell {cell} is already in {} and is not executed again; give a \
                 new folder with --out",
                shell_word(out)
            );
        }
    }
    Ok(Some(Captures::new(runs, out.join(CAPTURES), output::command_line())))
}

/// Prints where the captures in `folder` are, or why there are none.
pub fn tell_where(folder: &Path) {
    match fs::remove_dir(folder) {
        Ok(()) => tell("no captures: no run failed"),
        Err(why) if why.kind() == ErrorKind::NotFound => {
            tell("no captures: no such run was executed")
        }
        Err(_) => tell(format_args!("captures: {}", shell_word(folder))),
    }
}
