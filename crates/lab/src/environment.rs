//! The environment of a cell at work in a run: the course that it takes, and the links under it.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use trackbed_core::{Seed, Time};
use trackbed_net::models::Delay;
use trackbed_net::models::delay::Timetable;
use trackbed_protocols::Handshake;
use trackbed_workloads::environment::Course;

use trackbed_scenario::{Cell, NetworkPlan, Plan};

/// How long the environment waits for the warm-up of resumed sessions, in virtual time, where
/// waiting costs nothing.
pub(crate) const VIRTUAL_LEAD: Duration = Duration::from_secs(600);

/// The same where somebody waits: enough for a handshake, an exchange and tickets with round trips
/// of a second.
pub(crate) const REAL_LEAD: Duration = Duration::from_secs(15);

/// What the environment does in the run of `cell` with this seed. It begins with the run, or
/// `lead` later where sessions are warmed up first: the measured part then begins at a time that
/// does not depend on how long that takes.
pub(crate) fn course(cell: &Cell, seed: &Seed, lead: Duration) -> Course {
    if cell.environment.is_still() {
        return Course::default();
    }
    let begin = match cell.endpoint.handshake {
        Handshake::New => Time::ZERO,
        Handshake::Resumed | Handshake::Early => Time::ZERO + lead,
    };
    Course::new(begin, cell.environment.timeline(seed))
}

/// The network with the delays of `course` on its shared link, in both directions. Packets keep
/// their order when the delay shrinks.
pub(crate) fn under(plan: &NetworkPlan, course: &Course) -> NetworkPlan {
    let mut plan = plan.clone();
    let delays: Vec<(Time, Duration)> = course.delays().collect();
    if !delays.is_empty() {
        let law = Timetable::new(delays).expect("a timeline's delays hold from the start on");
        let delay = Delay::new(law);
        plan.link.up = plan.link.up.with(delay.clone());
        plan.link.down = plan.link.down.with(delay);
    }
    plan
}

/// Writes the timelines of all runs of `plan` to `directory`, a table each, as
/// `environment.timeline` takes them: `cell-C-run-R.csv`, where C is the first of the cells that
/// have the same environment. Nothing is written where nothing changes.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn keep_timelines(plan: &Plan, directory: &Path) -> io::Result<()> {
    for (index, cell) in plan.cells.iter().enumerate() {
        let same = |other: &Cell| other.environment == cell.environment;
        if cell.environment.is_still() || plan.cells[..index].iter().any(same) {
            continue;
        }
        fs::create_dir_all(directory)?;
        for run in 0..plan.runs {
            let path = directory.join(format!("cell-{index}-run-{run}.csv"));
            fs::write(path, table(cell, plan.seed, run))?;
        }
    }
    Ok(())
}

/// Writes the timeline of one run to `directory`, and returns the file; `None` where nothing
/// changes.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn keep_timeline(
    cell: &Cell,
    root: u64,
    run: u32,
    directory: &Path,
) -> io::Result<Option<PathBuf>> {
    if cell.environment.is_still() {
        return Ok(None);
    }
    let path = directory.join("timeline.csv");
    fs::write(&path, table(cell, root, run))?;
    Ok(Some(path))
}

fn table(cell: &Cell, root: u64, run: u32) -> String {
    cell.environment.timeline(&Seed::of_run(root, u64::from(run))).to_string()
}

#[cfg(test)]
mod tests;
