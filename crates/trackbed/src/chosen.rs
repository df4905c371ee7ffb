//! Run directories, cells and runs that the user chooses.

use std::path::Path;

use anyhow::bail;
use trackbed_archive::Recorded;
use trackbed_measure::results::VIRTUAL;
use trackbed_scenario::Plan;

/// Reads a run directory whose runs can be repeated.
pub fn repeatable(directory: &Path) -> anyhow::Result<Recorded> {
    let recorded = Recorded::read(directory)?;
    let substrate = &recorded.about.substrate;
    if substrate != VIRTUAL {
        bail!(
            "{}: these runs were {substrate}, in real time; only runs in virtual time can be repeated",
            directory.display()
        );
    }
    Ok(recorded)
}

/// Checks that there is such a cell, and such a run of it; there may be `runs_max` runs where the plan has
/// fewer.
pub fn check(plan: &Plan, cell: u32, run: Option<u32>, runs_max: u32) -> anyhow::Result<()> {
    let Some(planned) = plan.cells.get(cell as usize) else {
        let last = plan.cells.len() - 1;
        bail!("there is no cell {cell}; write a cell from 0 to {last}");
    };
    let most = planned.runs.max(runs_max);
    match run {
        Some(run) if run >= most => {
            bail!("there is no run {run}; write a run from 0 to {}", most - 1)
        }
        _ => Ok(()),
    }
}
