//! The timelines of environments, as files.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use trackbed_core::Seed;
use trackbed_outward::files;
use trackbed_scenario::{Cell, Plan};

/// Writes the timelines of all runs of `plan` to `directory`, one table each, in the format of
/// `environment.timeline`: `cell-C-run-R.csv`, where C is the first of the cells that share the
/// environment. Writes nothing if nothing changes.
///
/// # Errors
/// If a file cannot be written.
pub fn keep_timelines(plan: &Plan, directory: &Path) -> io::Result<()> {
    for (index, cell) in plan.cells.iter().enumerate() {
        let same = |other: &Cell| other.environment == cell.environment;
        if cell.environment.is_still() || plan.cells[..index].iter().any(same) {
            continue;
        }
        files::folder(directory)?;
        for run in 0..plan.runs {
            let path = directory.join(format!("cell-{index}-run-{run}.csv"));
            files::create(&path)?.write_all(table(cell, plan.seed, run).as_bytes())?;
        }
    }
    Ok(())
}

/// Writes the timeline of one run to `directory`, and returns the file; `None` if nothing changes.
///
/// # Errors
/// If the file cannot be written.
pub fn keep_timeline(
    cell: &Cell,
    root: u64,
    run: u32,
    directory: &Path,
) -> io::Result<Option<PathBuf>> {
    if cell.environment.is_still() {
        return Ok(None);
    }
    let path = directory.join("timeline.csv");
    files::create(&path)?.write_all(table(cell, root, run).as_bytes())?;
    Ok(Some(path))
}

fn table(cell: &Cell, root: u64, run: u32) -> String {
    cell.environment.timeline(&Seed::of_run(root, u64::from(run))).to_string()
}
