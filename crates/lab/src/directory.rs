//! The run directory: what a campaign leaves behind.
//!
//! | file | content |
//! | --- | --- |
//! | `about.json` | what made the directory: version, command line, scenario text, settings |
//! | `runs.jsonl` | the result of each run, one line each, appended as soon as the run is over |
//! | `run.json` | the document that `run --json` prints |
//! | `samples.csv` | every sample of every metric |
//! | `timelines/` | what the environment does in each run, if anything |
//! | `replay/` | captures of runs that were repeated |
//! | `.lock` | held by the process that writes, so that two do not |
//!
//! `run.json` and `samples.csv` are written when all is done, and meanwhile as often as
//! [`Refresh`](crate::refresh::Refresh) says; `runs.jsonl` alone is enough to make them again.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trackbed_measure::results::{Document, RunResult};
use trackbed_measure::samples;

use crate::VERSION;
use crate::environment;
use crate::scenario::Plan;

/// What made a run directory; enough to plan the same runs again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version of the tool.
    pub trackbed: String,
    /// The command line that made the directory.
    pub command: Vec<String>,
    /// The scenario's built-in name or the absolute path of its file.
    pub scenario: String,
    /// The scenario's text as it was read; a repetition does not depend on the file.
    pub text: String,
    /// The settings that were changed, each as `key=value`.
    pub overrides: Vec<String>,
    /// The root seed.
    pub seed: u64,
    /// Runs of each cell.
    pub runs: u32,
    /// The absolute path of the folder in which the command was given: files that its settings
    /// name are found from there.
    pub folder: PathBuf,
    /// The plan's fingerprint.
    pub plan: String,
    /// What the runs are executed on.
    #[serde(default = "virtual_substrate")]
    pub substrate: String,
}

/// Directories from before there was a choice do not say.
fn virtual_substrate() -> String {
    "virtual".to_owned()
}

/// An open run directory.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    log: File,
    /// Held as long as the directory is open.
    _lock: File,
}

impl RunDirectory {
    /// Opens `path` for the runs of `about`, and returns the results that it already holds of
    /// these very runs.
    ///
    /// # Errors
    /// If it holds other runs, or something that is no run directory, or cannot be written.
    pub fn continue_or_create(
        path: &Path,
        about: About,
    ) -> Result<(RunDirectory, Vec<RunResult>), DirectoryError> {
        let refuse = |problem| DirectoryError { path: path.to_owned(), problem };
        let existing = match read_about(path) {
            Ok(existing) => existing,
            Err(error) if error.is_missing() && is_free(path) => {
                return RunDirectory::create(path, about).map(|directory| (directory, Vec::new()));
            }
            Err(error) if error.is_missing() => return Err(refuse(Problem::NotARunDirectory)),
            Err(error) => return Err(error),
        };
        if existing.trackbed != about.trackbed {
            return Err(refuse(Problem::OtherVersion(existing.trackbed)));
        }
        if existing.plan != about.plan || existing.substrate != about.substrate {
            return Err(refuse(Problem::OtherPlan(existing.command.join(" "))));
        }
        let lock = lock(path)?;
        let runs = read_runs(path)?;
        let open = || -> io::Result<File> {
            write_json(&path.join(ABOUT), &about)?;
            rewrite_log(&path.join(RUNS), &runs)
        };
        let log = open().map_err(|why| refuse(Problem::Io(why)))?;
        Ok((RunDirectory { path: path.to_owned(), log, _lock: lock }, runs))
    }

    /// Begins `path` anew; the results of an earlier run directory in its place are removed,
    /// other files are not.
    ///
    /// # Errors
    /// If something else is there, or it cannot be written.
    pub fn create_anew(path: &Path, about: About) -> Result<RunDirectory, DirectoryError> {
        let refuse = |problem| DirectoryError { path: path.to_owned(), problem };
        if !is_free(path) && !path.join(ABOUT).is_file() {
            return Err(refuse(Problem::NotARunDirectory));
        }
        RunDirectory::create(path, about)
    }

    fn create(path: &Path, about: About) -> Result<RunDirectory, DirectoryError> {
        let refuse = |why| DirectoryError { path: path.to_owned(), problem: Problem::Io(why) };
        fs::create_dir_all(path).map_err(refuse)?;
        let lock = lock(path)?;
        let create = || -> io::Result<File> {
            for old in [RUNS, DOCUMENT, SAMPLES] {
                ignore_missing(fs::remove_file(path.join(old)))?;
            }
            for old in [REPLAY, TIMELINES] {
                ignore_missing(fs::remove_dir_all(path.join(old)))?;
            }
            write_json(&path.join(ABOUT), &about)?;
            rewrite_log(&path.join(RUNS), &[])
        };
        Ok(RunDirectory { path: path.to_owned(), log: create().map_err(refuse)?, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the result of one run, at once.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, run: &RunResult) -> Result<(), DirectoryError> {
        let written = serde_json::to_string(run).map_err(io::Error::from).and_then(|mut line| {
            line.push('\n');
            self.log.write_all(line.as_bytes())
        });
        written.map_err(|why| self.refuse(why))
    }

    /// Keeps what the environment does in each run of `plan`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_timelines(&mut self, plan: &Plan) -> Result<(), DirectoryError> {
        let kept = environment::keep_timelines(plan, &self.path.join(TIMELINES));
        kept.map_err(|why| self.refuse(why))
    }

    /// Writes the document and the samples; both are replaced as a whole. `runs` is written in its
    /// order.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn sum_up(
        &mut self,
        document: &Document,
        runs: &[RunResult],
    ) -> Result<(), DirectoryError> {
        let write = || -> io::Result<()> {
            write_json(&self.path.join(DOCUMENT), document)?;
            let target = self.path.join(SAMPLES);
            let partial = target.with_extension("partial");
            let mut sink = io::BufWriter::new(File::create(&partial)?);
            samples::write(&document.cells, runs, &mut sink)?;
            sink.flush()?;
            fs::rename(partial, target)
        };
        write().map_err(|why| self.refuse(why))
    }

    fn refuse(&self, why: io::Error) -> DirectoryError {
        DirectoryError { path: self.path.clone(), problem: Problem::Io(why) }
    }
}

/// What made the run directory at `path`.
///
/// # Errors
/// If it is no run directory, or its description is damaged.
pub fn read_about(path: &Path) -> Result<About, DirectoryError> {
    let refuse = |problem| DirectoryError { path: path.to_owned(), problem };
    let text = read_text(path, ABOUT, || Problem::Missing).map_err(refuse)?;
    serde_json::from_str(&text).map_err(|why| refuse(Problem::Damaged(ABOUT, why.to_string())))
}

/// The document that sums up the run directory at `path`.
///
/// # Errors
/// If it is no run directory, nothing was summed up yet, or the file is damaged.
pub fn read_document(path: &Path) -> Result<Document, DirectoryError> {
    let refuse = |problem| DirectoryError { path: path.to_owned(), problem };
    read_about(path)?;
    let text = read_text(path, DOCUMENT, || Problem::NotSummedUp).map_err(refuse)?;
    serde_json::from_str(&text).map_err(|why| refuse(Problem::Damaged(DOCUMENT, why.to_string())))
}

/// The text of a file in the run directory at `path`; `absent` says what it means that there is none.
fn read_text(
    path: &Path,
    file: &'static str,
    absent: impl FnOnce() -> Problem,
) -> Result<String, Problem> {
    fs::read_to_string(path.join(file)).map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => absent(),
        io::ErrorKind::InvalidData => Problem::Damaged(file, why.to_string()),
        _ => Problem::Io(why),
    })
}

/// The results that the run directory at `path` holds, each run once. A last line that was cut off in writing,
/// as a crash leaves it, is passed over: that run is done again.
///
/// # Errors
/// If a line before the last is damaged, or the file cannot be read.
pub fn read_runs(path: &Path) -> Result<Vec<RunResult>, DirectoryError> {
    let refuse = |problem| DirectoryError { path: path.to_owned(), problem };
    let file = match File::open(path.join(RUNS)) {
        Ok(file) => file,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(refuse(Problem::Io(why))),
    };
    let mut reader = BufReader::new(file);
    let mut there = BTreeSet::new();
    let (mut runs, mut line, mut number) = (Vec::new(), Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        let length = reader.read_until(b'\n', &mut line).map_err(|why| refuse(Problem::Io(why)))?;
        if length == 0 {
            return Ok(runs);
        }
        match serde_json::from_slice::<RunResult>(&line) {
            Ok(run) if there.insert((run.cell, run.run)) => runs.push(run),
            Ok(_) => {}
            Err(_) if line.last() != Some(&b'\n') => return Ok(runs),
            Err(why) => {
                return Err(refuse(Problem::Damaged(RUNS, format!("line {number}: {why}"))));
            }
        }
    }
}

/// Why a run directory cannot be used.
#[derive(Debug)]
pub struct DirectoryError {
    path: PathBuf,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Missing,
    NotARunDirectory,
    NotSummedUp,
    OtherVersion(String),
    OtherPlan(String),
    Damaged(&'static str, String),
    InUse,
    Io(io::Error),
}

impl DirectoryError {
    fn is_missing(&self) -> bool {
        matches!(self.problem, Problem::Missing)
    }
}

impl fmt::Display for DirectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.problem {
            Problem::Missing => {
                f.write_str("this is no run directory; `trackbed run SCENARIO --out DIR` makes one")
            }
            Problem::NotARunDirectory => f.write_str(
                "holds files but is no run directory; give --out a new or an empty directory",
            ),
            Problem::NotSummedUp => f.write_str(
                "no run of it was summed up yet; continue it with the command that made it",
            ),
            Problem::OtherVersion(version) => write!(
                f,
                "holds results of version {version}, this is {VERSION}, and results of different \
                 versions do not mix; give --out another directory"
            ),
            Problem::OtherPlan(command) => write!(
                f,
                "holds the results of other runs, made by `{command}`; give --out another \
                 directory, or remove this one"
            ),
            Problem::Damaged(file, why) => write!(
                f,
                "{file} is damaged ({why}); remove the directory and run the scenario again"
            ),
            Problem::InUse => f.write_str(
                "another trackbed is writing here; wait for its end, or give --out another \
                 directory",
            ),
            Problem::Io(why) => {
                write!(f, "{why}; give a directory on a disk with room, where you may write")
            }
        }
    }
}

impl std::error::Error for DirectoryError {}

const ABOUT: &str = "about.json";
const RUNS: &str = "runs.jsonl";
const DOCUMENT: &str = "run.json";
const SAMPLES: &str = "samples.csv";
const REPLAY: &str = "replay";
const TIMELINES: &str = "timelines";
const LOCK: &str = ".lock";

/// True if nothing is there, or only what an attempt that came to nothing left behind.
fn is_free(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == LOCK)),
        Err(why) => why.kind() == io::ErrorKind::NotFound,
    }
}

/// The lock is the process's: it ends with it, however it ends.
fn lock(path: &Path) -> Result<File, DirectoryError> {
    let refuse = |problem| DirectoryError { path: path.to_owned(), problem };
    let file = OpenOptions::new().create(true).append(true).open(path.join(LOCK));
    let file = file.map_err(|why| refuse(Problem::Io(why)))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(refuse(Problem::InUse)),
        // A file system without locks must do without.
        Err(TryLockError::Error(why)) if why.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(why)) => Err(refuse(Problem::Io(why))),
    }
}

fn ignore_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Writes the whole log again, so that a line that was cut off is gone, and leaves it open.
fn rewrite_log(path: &Path, runs: &[RunResult]) -> io::Result<File> {
    let partial = path.with_extension("partial");
    let mut writer = io::BufWriter::new(File::create(&partial)?);
    for run in runs {
        serde_json::to_writer(&mut writer, run)?;
        writer.write_all(b"\n")?;
    }
    writer.into_inner()?.sync_all()?;
    fs::rename(&partial, path)?;
    OpenOptions::new().append(true).open(path)
}

/// Writes to a file beside it first, so that a crash never leaves half a document.
fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let partial = path.with_extension("partial");
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    fs::write(&partial, text)?;
    fs::rename(partial, path)
}

#[cfg(test)]
mod tests;
