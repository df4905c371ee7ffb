//! Repeats one run and captures everything.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use trackbed_measure::results::{Outcome, VIRTUAL};
use trackbed_outward::files::create;
use trackbed_substrate::simulated::Cancel;

use crate::capture::Capture;
use crate::run::Runner;
use trackbed_core::Seed;
use trackbed_railway::radio::{signal_to_text, timelines_to_text};
use trackbed_scenario::{Cell, Drive, Plan};

/// The run to repeat.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The cell's index in the plan.
    pub cell: u32,
    /// The run's number.
    pub run: u32,
    /// The command line to record in the captures.
    pub comment: String,
}

/// The result of a replay.
#[derive(Debug)]
pub struct Repeated {
    /// How the run ended; the same as the first time.
    pub outcome: Outcome,
    /// The files written.
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
    let capture = Capture::begin(directory, (&replay.comment, VIRTUAL))?;
    let runner = Runner::new(Cancel::default());
    let mut all = runner
        .simulate(&[cell], (plan.seed, replay.run), Some(&capture))
        .expect("nothing cancels a replay");
    let (outcome, _) = all.remove(0);
    let mut files = capture.finish()?;
    files.extend(trackbed_archive::keep_timeline(cell, plan.seed, replay.run, directory)?);
    files.extend(keep_drive(cell, plan.seed, replay.run, directory)?);
    Ok(Repeated { outcome, files })
}

/// Writes the drive of one run to `directory`: its effect on the links, in the format of
/// `radio.timeline`, and the power a modelled train received along the way. Returns the files; none
/// without a radio.
pub(crate) fn keep_drive(
    cell: &Cell,
    root: u64,
    run: u32,
    directory: &Path,
) -> io::Result<Vec<PathBuf>> {
    let Some(radio) = &cell.radio else { return Ok(Vec::new()) };
    let Drive { timelines, .. } = radio.drive(&Seed::of_run(root, u64::from(run)));
    let mut files = vec![directory.join("radio-timeline.csv")];
    create(&files[0])?.write_all(timelines_to_text(&timelines).as_bytes())?;
    if timelines.iter().any(|timeline| !timeline.signal.is_empty()) {
        files.push(directory.join("radio-signal.csv"));
        create(&files[1])?.write_all(signal_to_text(&timelines).as_bytes())?;
    }
    Ok(files)
}
