//! The run directory: what a campaign leaves behind.
//!
//! | file | content |
//! | --- | --- |
//! | `about.json` | what made the directory: version, command line, scenario text, settings |
//! | `runs.jsonl` | the result of each run, one line each, appended as soon as the run is over, and in the end ordered by cell and run |
//! | `run.json` | the document that `run --json` prints |
//! | `samples.csv` | every sample of every metric |
//! | `timelines/` | what the environment does in each run, if anything |
//! | `replay/` | captures of runs that were repeated |
//! | `.lock` | held by the process that writes, so that two do not |
//!
//! `run.json` and `samples.csv` are written when all is done, and meanwhile as often as
//! [`Refresh`](crate::refresh::Refresh) says; `runs.jsonl` alone is enough to make them again.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use trackbed_measure::results::{Document, RunResult};
use trackbed_measure::samples;
use trackbed_outward::files::{Fresh, PARTIAL, append};
use trackbed_scenario::{Plan, RUNS_MAX};

use crate::about::{About, read_about};
use crate::error::{DirectoryError, Problem};
use crate::files::{ABOUT, DOCUMENT, LOCK, PAGE, REPLAY, RUNS, SAMPLES, SHARD_PREFIX, TIMELINES};
use crate::form::{read_json, write_json};
use crate::index::RecordedRuns;
use crate::log::RunLog;
use crate::results::Results;
use crate::timelines;

/// An open run directory.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    log: RunLog,
    /// Held as long as the directory is open.
    _lock: File,
}

impl RunDirectory {
    /// Opens `path` for the runs of `about`. Results that it already holds of these very runs stay.
    ///
    /// # Errors
    /// If it holds other runs, or something that is no run directory, or cannot be written.
    pub fn continue_or_create(path: &Path, about: About) -> Result<RunDirectory, DirectoryError> {
        // Not even a lock is put into what is somebody else's.
        Place::look(path, &about)?;
        let lock = lock(path)?;
        // Another process may have begun it since.
        match Place::look(path, &about)? {
            Place::Free => RunDirectory::begin(path, &about, lock),
            Place::Begun => {
                let log = RunLog::open(path)?;
                write_json(&path.join(ABOUT), &about)
                    .map_err(|why| DirectoryError::new(path, Problem::Io(why)))?;
                Ok(RunDirectory { path: path.to_owned(), log, _lock: lock })
            }
        }
    }

    /// Begins `path` anew; the results of an earlier run directory in its place are removed,
    /// other files are not.
    ///
    /// # Errors
    /// If something else is there, or it cannot be written.
    pub fn create_anew(path: &Path, about: About) -> Result<RunDirectory, DirectoryError> {
        let refuse = |problem| DirectoryError::new(path, problem);
        let is_ours = || read_about(path).map_or_else(|why| !why.is_missing(), |_| true);
        if !is_free(path) && !is_ours() {
            return Err(refuse(Problem::NotARunDirectory));
        }
        RunDirectory::begin(path, &about, lock(path)?)
    }

    fn begin(path: &Path, about: &About, lock: File) -> Result<RunDirectory, DirectoryError> {
        let refuse = |why| DirectoryError::new(path, Problem::Io(why));
        let create = || -> io::Result<RunLog> {
            for old in [DOCUMENT, SAMPLES, PAGE] {
                ignore_missing(fs::remove_file(path.join(old)))?;
            }
            for old in [REPLAY, TIMELINES] {
                ignore_missing(fs::remove_dir_all(path.join(old)))?;
            }
            let log = RunLog::create(path)?;
            write_json(&path.join(ABOUT), about)?;
            Ok(log)
        };
        Ok(RunDirectory { path: path.to_owned(), log: create().map_err(refuse)?, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says anew what made it, as far as that has turned out since.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn describe(&mut self, about: &About) -> Result<(), DirectoryError> {
        write_json(&self.path.join(ABOUT), about).map_err(|why| self.refuse(Problem::Io(why)))
    }

    /// The results that are there.
    pub fn runs(&self) -> &RecordedRuns {
        self.log.runs()
    }

    /// Keeps the result of one run, at once.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, run: &RunResult) -> Result<(), DirectoryError> {
        self.log.append(run).map_err(|why| self.refuse(Problem::Io(why)))
    }

    /// Puts the results in an order that does not depend on which run was done first.
    ///
    /// # Errors
    /// If they cannot be read or written.
    pub fn settle(&mut self) -> Result<(), DirectoryError> {
        self.log.settle().map_err(|problem| self.refuse(problem))
    }

    /// Keeps what the environment does in each run of `plan`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_timelines(&mut self, plan: &Plan) -> Result<(), DirectoryError> {
        let kept = timelines::keep_timelines(plan, &self.path.join(TIMELINES));
        kept.map_err(|why| self.refuse(Problem::Io(why)))
    }

    /// Writes the document and, of each of its cells, the samples of the runs below `plan.runs`. Both
    /// are replaced as a whole.
    ///
    /// # Errors
    /// If results cannot be read, or these cannot be written.
    pub fn sum_up(&mut self, plan: &Plan, document: &Document) -> Result<(), DirectoryError> {
        write_json(&self.path.join(DOCUMENT), document)
            .map_err(|why| self.refuse(Problem::Io(why)))?;
        let refuse = |why| self.refuse(Problem::Io(why));
        let file = Fresh::begin(&self.path.join(SAMPLES)).map_err(refuse)?;
        let mut file = io::BufWriter::new(file);
        let mut sink = samples::Writer::new(&document.cells, &mut file).map_err(refuse)?;
        for cell in 0..document.cells.len() as u32 {
            let runs = self.of(cell)?;
            let mut runs = runs.iter().filter(|run| run.run < plan.runs);
            runs.try_for_each(|run| sink.write(run)).map_err(refuse)?;
        }
        sink.finish().map_err(refuse)?;
        file.into_inner().map_err(|why| refuse(why.into_error()))?.keep().map_err(refuse)
    }

    fn refuse(&self, problem: Problem) -> DirectoryError {
        DirectoryError::new(&self.path, problem)
    }
}

impl Results for RunDirectory {
    fn of(&self, cell: u32) -> Result<Cow<'_, [RunResult]>, DirectoryError> {
        self.log.runs().of(cell)
    }
}

/// What is where a run directory is to be.
enum Place {
    /// Nothing that would be lost.
    Free,
    /// The same runs, of which some may be done.
    Begun,
}

impl Place {
    /// Looks whether the runs of `about` may be kept at `path`.
    ///
    /// # Errors
    /// If it holds other runs, or something that is no run directory.
    fn look(path: &Path, about: &About) -> Result<Place, DirectoryError> {
        let refuse = |problem| DirectoryError::new(path, problem);
        let existing = match read_about(path) {
            Ok(existing) => existing,
            Err(error) if error.is_missing() && is_free(path) => return Ok(Place::Free),
            // Another process may have begun it between the two looks.
            Err(error) if error.is_missing() => match read_about(path) {
                Err(error) if error.is_missing() => return Err(refuse(Problem::NotARunDirectory)),
                begun => begun?,
            },
            Err(error) => return Err(error),
        };
        if existing.trackbed != about.trackbed {
            return Err(refuse(Problem::OtherVersion(existing.trackbed)));
        }
        if existing.plan != about.plan || existing.substrate != about.substrate {
            return Err(refuse(Problem::OtherPlan(existing.command.join(" "))));
        }
        if existing.shard != about.shard {
            return Err(refuse(Problem::OtherShard(existing.shard)));
        }
        Ok(Place::Begun)
    }
}

/// The document that sums up the run directory at `path`.
///
/// # Errors
/// If it is no run directory, nothing was summed up yet, or the file is damaged.
pub fn read_document(path: &Path) -> Result<Document, DirectoryError> {
    let refuse = |problem| DirectoryError::new(path, problem);
    read_about(path)?;
    let document: Document = read_json(path, DOCUMENT, || Problem::NotSummedUp).map_err(refuse)?;
    match u64::from(document.runs) {
        // A comparison makes room for each run.
        runs if runs > RUNS_MAX => {
            Err(refuse(Problem::Damaged(DOCUMENT, format!("no plan has {runs} runs of a cell"))))
        }
        _ => Ok(document),
    }
}

/// Refuses results of which some are gone that `document` was made of.
///
/// # Errors
/// If there are.
pub fn check_complete(document: &Document, runs: &RecordedRuns) -> Result<(), DirectoryError> {
    for (cell, summed) in (0..).zip(&document.cells) {
        let there = runs.runs_of(cell).filter(|run| *run < document.runs).count() as u32;
        // There may be more of them: those in which the machine did not keep up, for example.
        let through = summed.metrics.values().map(|summary| summary.n).max().unwrap_or(0);
        let counted = through.saturating_add(summed.failed);
        if there < counted {
            return Err(runs.refuse(Problem::Incomplete(cell, there, counted)));
        }
    }
    Ok(())
}

/// True if somebody has begun a run directory at `path`.
pub fn is_run_directory(path: &Path) -> bool {
    path.join(ABOUT).exists()
}

/// True if `path` is a file that a run directory consists of, or a link to one, which nothing else may be
/// written over.
pub fn is_part(path: &Path) -> bool {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let own = [ABOUT, DOCUMENT, SAMPLES, RUNS, LOCK];
    let is_own = path.file_name().is_some_and(|name| own.iter().any(|own| name == *own));
    is_own && path.parent().is_some_and(is_run_directory)
}

/// True if nothing is there, or only what an attempt that came to nothing left behind, or the folders
/// of shards, beside which the merged results belong.
fn is_free(path: &Path) -> bool {
    let is_no_matter = |entry: fs::DirEntry| {
        let name = entry.file_name();
        // Of a disk that was full, or a process that was killed, before it was said what made it.
        let is_begun = name == RUNS && entry.metadata().is_ok_and(|file| file.len() == 0);
        let is_shard = name.to_string_lossy().starts_with(SHARD_PREFIX);
        name == LOCK || is_begun || is_partial(&name) || is_shard
    };
    match fs::read_dir(path) {
        Ok(mut entries) => entries.all(|entry| entry.is_ok_and(is_no_matter)),
        Err(why) => why.kind() == io::ErrorKind::NotFound,
    }
}

/// Whether a file of this name is a document of which a process that was killed wrote a part.
fn is_partial(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let own = [ABOUT, DOCUMENT, SAMPLES, RUNS];
    name.ends_with(PARTIAL) && own.iter().any(|own| name.starts_with(&format!(".{own}.")))
}

/// The lock is the process's: it ends with it, however it ends. A folder that is not there is made; what
/// an earlier process left half written goes.
fn lock(path: &Path) -> Result<File, DirectoryError> {
    let refuse = |problem| DirectoryError::new(path, problem);
    fs::create_dir_all(path).map_err(|why| refuse(Problem::Io(why)))?;
    let file = append(&path.join(LOCK)).map_err(|why| refuse(Problem::Io(why)))?;
    match file.try_lock() {
        Ok(()) => {
            let left = fs::read_dir(path).into_iter().flatten().flatten();
            left.filter(|entry| is_partial(&entry.file_name()))
                .for_each(|entry| drop(fs::remove_file(entry.path())));
            Ok(file)
        }
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

#[cfg(test)]
mod tests;
