//! Which runs on the kernel leave captures, and where: such a run cannot be repeated.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use trackbed_measure::results::{EMULATED, Outcome, RunResult};
use trackbed_outward::files;

use crate::capture::Capture;
use crate::run::Onlooker;

/// Captures of runs while they happen.
#[derive(Debug)]
pub struct Captures {
    which: CapturedRuns,
    directory: PathBuf,
    command: String,
    /// Why a capture could not be written.
    trouble: Mutex<Option<String>>,
}

/// The runs that leave captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturedRuns {
    /// All of them.
    All,
    /// Those that fail. The others are captured too, until they have ended.
    Failed,
    /// One.
    One {
        /// Its cell.
        cell: u32,
        /// Its number.
        run: u32,
    },
}

impl Captures {
    /// Captures of these runs, each in a folder of its own in `directory`. `command` is the command line
    /// that they were executed with.
    pub fn new(which: CapturedRuns, directory: PathBuf, command: String) -> Captures {
        Captures { which, directory, command, trouble: Mutex::default() }
    }

    /// Executes a run of cells, with an onlooker if it may leave captures. They are named after the first
    /// cell, or after the one that is asked for.
    pub(super) fn during(
        &self,
        (cells, run): (&[u32], u32),
        execute: impl FnOnce(&[u32], Option<&dyn Onlooker>) -> Vec<RunResult>,
    ) -> Vec<RunResult> {
        let mut cells = cells.to_vec();
        if let CapturedRuns::One { cell, run: wanted } = self.which {
            if run != wanted || !cells.contains(&cell) {
                return execute(&cells, None);
            }
            cells.sort_by_key(|other| *other != cell);
        }
        let folder = self.directory.join(format!("cell-{}-run-{run}", cells[0]));
        let capture = match self.begin(&folder) {
            Ok(capture) => capture,
            Err(why) => {
                self.fail(&folder, &why);
                return execute(&cells, None);
            }
        };
        let results = execute(&cells, Some(&capture));
        let has_failed = |result: &RunResult| matches!(result.outcome, Outcome::Failed(_));
        let is_wanted = self.which != CapturedRuns::Failed || results.iter().any(has_failed);
        let written = capture.finish().and_then(|_| match is_wanted {
            true => Ok(()),
            false => fs::remove_dir_all(&folder),
        });
        written.unwrap_or_else(|why| self.fail(&folder, &why));
        results
    }

    /// Nothing is written or removed through a link in a run directory that comes from elsewhere.
    fn begin(&self, folder: &Path) -> io::Result<Capture> {
        files::folder(&self.directory)?;
        match fs::remove_dir_all(folder) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
            _ => files::folder(folder)?,
        }
        Capture::begin(folder, (&self.command, EMULATED))
    }

    /// Why no further run should be executed: a capture could not be written.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, folder: &Path, why: &io::Error) {
        let message = format!(
            "{}: captures cannot be written: {why}\n  help: give another folder with --out, or leave \
             out --capture",
            folder.display()
        );
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
    }
}
