//! The run directory: the results of a campaign.
//!
//! | file | content |
//! | --- | --- |
//! | `about.json` | how it was created: version, command line, scenario text, settings |
//! | `runs.jsonl` | the result of each run, one line each, appended as soon as the run is over, and in the end ordered by cell and run |
//! | `run.json` | the document that `run --json` prints |
//! | `samples.csv` | every sample of every metric |
//! | `timelines/` | the environment's changes in each run, if any |
//! | `replay/` | captures of repeated runs |
//! | `captures/` | captures of emulated runs while they happened |
//! | `.lock` | locked by the writing process, so that there is only one |
//!
//! `run.json` and `samples.csv` are written at the end, and before that as often as
//! [`Refresh`](crate::refresh::Refresh) says; they can be recreated from `runs.jsonl` alone.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use trackbed_measure::results::{Document, RunResult};
use trackbed_measure::samples;
use trackbed_outward::files::{Fresh, PARTIAL, append, folder};
use trackbed_scenario::{Input, Plan, RUNS_MAX};

use crate::about::{About, read_about};
use crate::error::{DirectoryError, Problem};
use crate::files::{
    ABOUT, CAPTURES, DOCUMENT, LOCK, PAGE, REPLAY, RUNS, SAMPLES, SHARD_PREFIX, TIMELINES,
};
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
    /// Locked as long as the directory is open.
    _lock: File,
}

/// What stores something fails if it cannot be written.
impl RunDirectory {
    /// Opens `path` for the runs of `about`. Existing results of these runs are kept.
    ///
    /// # Errors
    /// If it contains other runs, or is not a run directory, or cannot be written.
    pub fn continue_or_create(path: &Path, about: About) -> Result<RunDirectory, DirectoryError> {
        // Do not create even a lock in a directory from elsewhere.
        is_begun(path, &about)?;
        let lock = lock(path, &about)?;
        // Another process may have created it meanwhile.
        if !is_begun(path, &about)? {
            return RunDirectory::begin(path, &about, lock);
        }
        let log = RunLog::open(path)?;
        let mut directory = RunDirectory { path: path.to_owned(), log, _lock: lock };
        directory.describe(&about)?;
        Ok(directory)
    }

    /// Starts `path` from scratch: removes the results of an earlier run directory there, but no
    /// other files.
    ///
    /// # Errors
    /// If it contains something else, or cannot be written.
    pub fn create_anew(path: &Path, about: About) -> Result<RunDirectory, DirectoryError> {
        let is_ours = || read_about(path).map_or_else(|why| !why.is_missing(), |_| true);
        if !is_free(path) && !is_ours() {
            return Err(DirectoryError::new(path, Problem::NotARunDirectory));
        }
        RunDirectory::begin(path, &about, lock(path, &about)?)
    }

    fn begin(path: &Path, about: &About, lock: File) -> Result<RunDirectory, DirectoryError> {
        let create = || -> io::Result<RunLog> {
            for old in [DOCUMENT, SAMPLES, PAGE] {
                ignore_missing(fs::remove_file(path.join(old)))?;
            }
            for old in [REPLAY, CAPTURES, TIMELINES] {
                ignore_missing(fs::remove_dir_all(path.join(old)))?;
            }
            let log = RunLog::create(path)?;
            write_json(&path.join(ABOUT), about)?;
            Ok(log)
        };
        let log = create().map_err(DirectoryError::io(path))?;
        Ok(RunDirectory { path: path.to_owned(), log, _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Rewrites its description, which may have become more precise.
    pub fn describe(&mut self, about: &About) -> Result<(), DirectoryError> {
        write_json(&self.path.join(ABOUT), about).map_err(DirectoryError::io(&self.path))
    }

    /// The results so far.
    pub fn runs(&self) -> &RecordedRuns {
        self.log.runs()
    }

    /// Stores the result of one run immediately.
    pub fn append(&mut self, run: &RunResult) -> Result<(), DirectoryError> {
        self.log.append(run).map_err(DirectoryError::io(&self.path))
    }

    /// Sorts the results, so that their order does not depend on timing.
    ///
    /// # Errors
    /// If they cannot be read or written.
    pub fn settle(&mut self) -> Result<(), DirectoryError> {
        self.log.settle().map_err(|problem| DirectoryError::new(&self.path, problem))
    }

    /// Stores the environment's changes in each run of `plan`.
    pub fn keep_timelines(&mut self, plan: &Plan) -> Result<(), DirectoryError> {
        let kept = timelines::keep_timelines(plan, &self.path.join(TIMELINES));
        kept.map_err(DirectoryError::io(&self.path))
    }

    /// Writes the document and, for each of its cells, the samples of the runs below `plan.runs`.
    /// Both files are replaced atomically.
    ///
    /// # Errors
    /// If results cannot be read, or the files cannot be written.
    pub fn sum_up(&mut self, plan: &Plan, document: &Document) -> Result<(), DirectoryError> {
        let refuse = &DirectoryError::io(&self.path);
        write_json(&self.path.join(DOCUMENT), document).map_err(refuse)?;
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
}

impl Results for RunDirectory {
    fn of(&self, cell: u32) -> Result<Cow<'_, [RunResult]>, DirectoryError> {
        self.log.runs().of(cell)
    }
}

/// Whether the runs of `about` have begun at `path`; otherwise there is nothing that could be lost.
/// An error if they may not be stored there.
fn is_begun(path: &Path, about: &About) -> Result<bool, DirectoryError> {
    let refuse = |problem| Err(DirectoryError::new(path, problem));
    let existing = match read_about(path) {
        Err(error) if error.is_missing() && is_free(path) => return Ok(false),
        // Another process may have created it between the two checks.
        Err(error) if error.is_missing() => match read_about(path) {
            Err(error) if error.is_missing() => return refuse(Problem::NotARunDirectory),
            begun => begun?,
        },
        existing => existing?,
    };
    if existing.trackbed != about.trackbed {
        return refuse(Problem::OtherVersion(existing.trackbed));
    }
    let other = |input: &&Input| {
        about.files.iter().find(|new| new.path == input.path && new.sha256 != input.sha256)
    };
    if let Some((old, new)) = existing.files.iter().find_map(|input| Some((input, other(&input)?)))
    {
        return refuse(Problem::OtherInput(Box::new(old.clone()), Box::new(new.clone())));
    }
    if existing.plan != about.plan || existing.substrate != about.substrate {
        return refuse(Problem::OtherPlan(existing.command.join(" ")));
    }
    if existing.shard != about.shard {
        return refuse(Problem::OtherShard(existing.shard));
    }
    Ok(true)
}

/// The summary document of the run directory at `path`. Cells of older versions get the ranking that this
/// version declares, if the plan can still be made.
///
/// # Errors
/// If it is not a run directory, has no summary yet, or the file is damaged.
pub fn read_document(path: &Path) -> Result<Document, DirectoryError> {
    let refuse = |problem| DirectoryError::new(path, problem);
    let about = read_about(path)?;
    let mut document: Document =
        read_json(path, DOCUMENT, || Problem::NotSummedUp).map_err(refuse)?;
    if document.cells.iter().all(|cell| cell.ranking.is_empty())
        && let Ok(plan) = about.recipe().plan()
    {
        for (cell, planned) in document.cells.iter_mut().zip(&plan.cells) {
            cell.ranking = planned.ranking.iter().map(ToString::to_string).collect();
        }
        document.factors = plan.factors;
    }
    match u64::from(document.runs) {
        // A comparison allocates memory for each run.
        runs if runs > RUNS_MAX => {
            Err(refuse(Problem::Damaged(DOCUMENT, format!("{runs} runs per cell are too many"))))
        }
        _ => Ok(document),
    }
}

/// Refuses runs that lack some of the results behind `document`.
///
/// # Errors
/// If results are missing.
pub fn check_complete(document: &Document, runs: &RecordedRuns) -> Result<(), DirectoryError> {
    for (cell, summed) in (0..).zip(&document.cells) {
        let there = runs.runs_of(cell).filter(|run| *run < document.runs).count() as u32;
        // There may be more: for example runs for which the machine was too slow.
        let through = summed.metrics.values().map(|summary| summary.n).max().unwrap_or(0);
        let counted = through.saturating_add(summed.failed);
        if there < counted {
            return Err(runs.refuse(Problem::Incomplete(cell, there, counted)));
        }
    }
    Ok(())
}

/// Whether there is a run directory at `path`.
pub fn is_run_directory(path: &Path) -> bool {
    path.join(ABOUT).exists()
}

/// Whether `path` is a file of a run directory, or a link to one, which no other output may
/// overwrite.
pub fn is_part(path: &Path) -> bool {
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let own = [ABOUT, DOCUMENT, SAMPLES, RUNS, LOCK];
    let is_own = path.file_name().is_some_and(|name| own.iter().any(|own| name == *own));
    is_own && path.parent().is_some_and(is_run_directory)
}

/// Whether `path` is empty, or contains only the remains of a failed attempt, or the folders of
/// shards, next to which the merged results belong.
fn is_free(path: &Path) -> bool {
    let is_no_matter = |entry: fs::DirEntry| {
        let name = entry.file_name();
        // Left over from a full disk or a killed process, before the description was written.
        let is_begun = name == RUNS && entry.metadata().is_ok_and(|file| file.len() == 0);
        let is_shard = name.to_string_lossy().starts_with(SHARD_PREFIX);
        name == LOCK || is_begun || is_partial(&name) || is_shard
    };
    match fs::read_dir(path) {
        Ok(mut entries) => entries.all(|entry| entry.is_ok_and(is_no_matter)),
        Err(why) => why.kind() == io::ErrorKind::NotFound,
    }
}

/// Whether a file of this name is a document partly written by a killed process.
fn is_partial(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let own = [ABOUT, DOCUMENT, SAMPLES, RUNS];
    name.ends_with(PARTIAL) && own.iter().any(|own| name.starts_with(&format!(".{own}.")))
}

/// The lock belongs to the process and ends with it, however it ends. Creates a missing folder, and
/// removes partly written files of an earlier process.
fn lock(path: &Path, about: &About) -> Result<File, DirectoryError> {
    let refuse = DirectoryError::io(path);
    // The user names the folder around a shard's, but not that of the shard.
    let made = match path.parent().filter(|_| about.shard.is_some()) {
        Some(around) => fs::create_dir_all(around).and_then(|()| folder(path)),
        None => fs::create_dir_all(path),
    };
    made.map_err(&refuse)?;
    let file = append(&path.join(LOCK)).map_err(&refuse)?;
    match file.try_lock() {
        Ok(()) => {
            let left = fs::read_dir(path).into_iter().flatten().flatten();
            left.filter(|entry| is_partial(&entry.file_name()))
                .for_each(|entry| drop(fs::remove_file(entry.path())));
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => Err(DirectoryError::new(path, Problem::InUse)),
        // A file system without locks is used without one.
        Err(TryLockError::Error(why)) if why.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(why)) => Err(refuse(why)),
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
