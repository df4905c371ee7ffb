//! `--capture`: packets and keys of runs while they happen.

use std::fs;
use std::path::Path;

use anyhow::bail;
use trackbed_archive::RunDirectory;
use trackbed_lab::emulated::{CapturedRuns, Captures};
use trackbed_scenario::Plan;

use super::remote;
use crate::options::{RunOptions, SubstrateArgument};
use crate::output::{self, shell_word, tell};

/// The captures that `options` ask for, below `out`. Refused before anything is written, if there could be
/// none.
pub fn wanted(
    (substrate, options): (SubstrateArgument, &RunOptions),
    plan: &Plan,
    out: &Path,
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
        let Some(planned) = plan.cells.get(cell as usize) else {
            let last = plan.cells.len() - 1;
            bail!("--capture: there is no cell {cell}; write a cell from 0 to {last}");
        };
        if run >= planned.runs {
            bail!("--capture: there is no run {run}; write a run from 0 to {}", planned.runs - 1);
        }
    }
    Ok(Some(Captures::new(runs, out.join(FOLDER), output::command_line())))
}

/// Refuses the capture of a run that is in the directory already.
pub fn check_missing(options: &RunOptions, directory: &RunDirectory) -> anyhow::Result<()> {
    if let Some(CapturedRuns::One { cell, run }) = options.capture
        && directory.runs().has(cell, run)
    {
        bail!(
            "--capture: run {run} of cell {cell} is already in {} and is not executed again; give a new \
             folder with --out",
            shell_word(directory.path())
        );
    }
    Ok(())
}

/// Prints where the captures are.
pub fn tell_where(options: &RunOptions, directory: &RunDirectory) {
    if options.capture.is_none() {
        return;
    }
    let folder = directory.path().join(FOLDER);
    // It is empty if no run failed.
    match fs::remove_dir(&folder) {
        Ok(()) => tell("no captures: no run failed"),
        Err(_) => tell(format_args!("captures: {}", shell_word(&folder))),
    }
}

/// The folder of a run directory for captures.
const FOLDER: &str = "captures";
