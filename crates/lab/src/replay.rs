//! One run again, with everything captured.

use std::io;
use std::path::{Path, PathBuf};

use trackbed_measure::results::Outcome;
use trackbed_substrate::simulated::Cancel;

use crate::capture::Capture;
use crate::environment;
use crate::radio;
use crate::run::Runner;
use crate::scenario::Plan;

/// Which run to repeat.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The cell's place in the plan.
    pub cell: u32,
    /// The run's number.
    pub run: u32,
    /// The command line to note in the captures.
    pub comment: String,
}

/// What a replay gave.
#[derive(Debug)]
pub struct Repeated {
    /// How the run ended; the same as the first time.
    pub outcome: Outcome,
    /// The files that were written.
    pub files: Vec<PathBuf>,
}

/// Repeats a run of `plan` and writes its captures to `directory`.
///
/// # Errors
/// If a file cannot be written.
///
/// # Panics
/// If the plan has no such cell.
pub fn execute(plan: &Plan, replay: &Replay, directory: &Path) -> io::Result<Repeated> {
    let cell = &plan.cells[replay.cell as usize];
    let capture = Capture::begin(directory, &replay.comment)?;
    let runner = Runner::new(Cancel::new());
    let outcome = runner
        .execute_captured(cell, plan.seed, replay.run, &capture)
        .expect("nothing cancels a replay");
    let mut files = capture.finish()?;
    files.extend(environment::keep_timeline(cell, plan.seed, replay.run, directory)?);
    files.extend(radio::keep_drive(cell, plan.seed, replay.run, directory)?);
    Ok(Repeated { outcome, files })
}
