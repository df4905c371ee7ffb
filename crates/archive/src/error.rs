//! Why a run directory cannot be used, and what helps.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use trackbed_measure::results::SCHEMA;

use crate::files::{DOCUMENT, RUNS};
use crate::version::VERSION;

/// Why a run directory cannot be used.
#[derive(Debug)]
pub struct DirectoryError {
    path: PathBuf,
    problem: Problem,
}

#[derive(Debug)]
pub(crate) enum Problem {
    Missing,
    NoDirectory,
    NotARunDirectory,
    NotSummedUp,
    OtherVersion(String),
    OtherForm(&'static str, u32),
    OtherPlan(String),
    OtherShard(Option<String>),
    Damaged(&'static str, String),
    /// Runs of a cell that are in the log, and that the document was made of.
    Incomplete(u32, u32, u32),
    Unreadable(&'static str, io::Error),
    InUse,
    Io(io::Error),
}

impl DirectoryError {
    pub(crate) fn new(path: &Path, problem: Problem) -> DirectoryError {
        DirectoryError { path: path.to_owned(), problem }
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.problem, Problem::Missing)
    }
}

impl DirectoryError {
    /// Whether all that is wrong is that nothing was summed up yet.
    pub fn is_not_summed_up(&self) -> bool {
        matches!(self.problem, Problem::NotSummedUp)
    }
}

impl fmt::Display for DirectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.problem {
            Problem::Missing => {
                f.write_str("this is no run directory; `trackbed run SCENARIO --out DIR` makes one")
            }
            Problem::NoDirectory => f.write_str(
                "this is no directory; give a run directory, or with --out a place where you may write",
            ),
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
            Problem::OtherForm(file, form) => write!(
                f,
                "{file} has form {form}, and version {VERSION} reads forms up to {SCHEMA}; read it \
                 with the version that wrote it, or a later one"
            ),
            Problem::OtherPlan(command) => write!(
                f,
                "holds the results of other runs, made by `{command}`; give --out another \
                 directory, or remove this one"
            ),
            Problem::OtherShard(Some(shard)) => write!(
                f,
                "holds shard {shard} of these runs, which `run --shard {shard}` continues; give --out \
                 another directory"
            ),
            Problem::OtherShard(None) => f.write_str(
                "holds results of these runs without --shard; give --out another directory",
            ),
            Problem::Damaged(file, why) => {
                write!(f, "{file} is damaged ({why}); {}", remedy(file))
            }
            Problem::Incomplete(cell, there, counted) => write!(
                f,
                "{RUNS} has {there} runs of cell {cell}, and {DOCUMENT} was made of {counted}; {}",
                remedy(DOCUMENT)
            ),
            Problem::Unreadable(file, why) => {
                write!(f, "cannot read {file}: {why}; give a run directory that you may read")
            }
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

/// What helps where a file is damaged.
fn remedy(file: &str) -> &'static str {
    match file {
        DOCUMENT => {
            "the command that made the directory writes it anew and keeps the runs that are there"
        }
        RUNS => "take that line out; the command that made the directory does its run again",
        _ => "remove the directory and run the scenario again",
    }
}
