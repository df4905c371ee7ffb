//! The run directory: what a campaign leaves behind, written after every run.
//!
//! | file | content |
//! | --- | --- |
//! | `about.json` | what made the directory: version, command line, scenario text, settings |
//! | `runs.jsonl` | the result of each run, one line each, appended as soon as the run is over |
//! | `run.json` | the document that `run --json` prints |
//! | `samples.csv` | every sample of every metric |
//! | `replay/` | captures of runs that were repeated |

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trackbed_measure::results::{Document, RunResult};
use trackbed_measure::samples;

use crate::VERSION;

/// What made a run directory; enough to plan the same runs again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version of the tool.
    pub trackbed: String,
    /// The command line that made the directory.
    pub command: Vec<String>,
    /// The scenario's built-in name or the absolute path of its file.
    pub scenario: String,
    /// The scenario's text as it was read.
    pub text: String,
    /// The settings that were changed, each as `key=value`.
    pub overrides: Vec<String>,
    /// The root seed.
    pub seed: u64,
    /// Runs of each cell.
    pub runs: u32,
    /// The plan's fingerprint.
    pub plan: String,
}

/// An open run directory.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    about: About,
    log: File,
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
            Err(error) if error.is_missing() && is_empty_or_missing(path) => {
                return RunDirectory::create(path, about).map(|directory| (directory, Vec::new()));
            }
            Err(error) if error.is_missing() => return Err(refuse(Problem::NotARunDirectory)),
            Err(error) => return Err(error),
        };
        if existing.trackbed != about.trackbed {
            return Err(refuse(Problem::OtherVersion(existing.trackbed)));
        }
        if existing.plan != about.plan {
            return Err(refuse(Problem::OtherPlan(existing.command.join(" "))));
        }
        let runs = read_runs(path)?;
        let log = rewrite_log(&path.join(RUNS), &runs).map_err(|why| refuse(Problem::Io(why)))?;
        Ok((RunDirectory { path: path.to_owned(), about, log }, runs))
    }

    /// Begins `path` anew; an earlier run directory in its place is removed.
    ///
    /// # Errors
    /// If something else is there, or it cannot be written.
    pub fn create_anew(path: &Path, about: About) -> Result<RunDirectory, DirectoryError> {
        let refuse = |problem| DirectoryError { path: path.to_owned(), problem };
        if !is_empty_or_missing(path) {
            if !path.join(ABOUT).is_file() {
                return Err(refuse(Problem::NotARunDirectory));
            }
            fs::remove_dir_all(path).map_err(|why| refuse(Problem::Io(why)))?;
        }
        RunDirectory::create(path, about)
    }

    fn create(path: &Path, about: About) -> Result<RunDirectory, DirectoryError> {
        let refuse = |why| DirectoryError { path: path.to_owned(), problem: Problem::Io(why) };
        fs::create_dir_all(path).map_err(refuse)?;
        write_json(&path.join(ABOUT), &about).map_err(refuse)?;
        let log = rewrite_log(&path.join(RUNS), &[]).map_err(refuse)?;
        Ok(RunDirectory { path: path.to_owned(), about, log })
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

    /// Writes the document and the samples. `runs` is written in its order.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn conclude(
        &mut self,
        document: &Document,
        runs: &[RunResult],
    ) -> Result<(), DirectoryError> {
        let write = || -> io::Result<()> {
            write_json(&self.path.join(DOCUMENT), document)?;
            let target = self.path.join(SAMPLES);
            let partial = target.with_extension("partial");
            samples::write(&document.cells, runs, io::BufWriter::new(File::create(&partial)?))?;
            fs::rename(partial, target)
        };
        write().map_err(|why| self.refuse(why))
    }

    /// What made it.
    pub fn about(&self) -> &About {
        &self.about
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
    let text = fs::read_to_string(path.join(ABOUT)).map_err(|why| {
        refuse(match why.kind() {
            io::ErrorKind::NotFound => Problem::Missing,
            _ => Problem::Io(why),
        })
    })?;
    serde_json::from_str(&text).map_err(|why| refuse(Problem::Damaged(ABOUT, why.to_string())))
}

/// The results that the run directory at `path` holds. A last line that was cut off in writing,
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
    let (mut runs, mut line, mut number) = (Vec::new(), Vec::new(), 0);
    loop {
        line.clear();
        number += 1;
        let length = reader.read_until(b'\n', &mut line).map_err(|why| refuse(Problem::Io(why)))?;
        if length == 0 {
            return Ok(runs);
        }
        match serde_json::from_slice(&line) {
            Ok(run) => runs.push(run),
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
    OtherVersion(String),
    OtherPlan(String),
    Damaged(&'static str, String),
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
            Problem::Missing => f.write_str(
                "there is no run directory; `trackbed run SCENARIO --out DIR` makes one",
            ),
            Problem::NotARunDirectory => f.write_str(
                "holds files but is no run directory; give --out a new or an empty directory",
            ),
            Problem::OtherVersion(version) => write!(
                f,
                "holds results of version {version}, this is {VERSION}, and results of different \
                 versions do not mix; give --out another directory"
            ),
            Problem::OtherPlan(command) => write!(
                f,
                "holds the results of other runs (`{command}`); give --out another directory, or \
                 remove this one"
            ),
            Problem::Damaged(file, why) => write!(
                f,
                "{file} is damaged ({why}); remove the directory and run the scenario again"
            ),
            Problem::Io(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for DirectoryError {}

const ABOUT: &str = "about.json";
const RUNS: &str = "runs.jsonl";
const DOCUMENT: &str = "run.json";
const SAMPLES: &str = "samples.csv";

fn is_empty_or_missing(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(why) => why.kind() == io::ErrorKind::NotFound,
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
