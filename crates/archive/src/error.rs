//! Why a run directory cannot be used, and what helps.

use std::io;
use std::path::{Path, PathBuf};

use trackbed_measure::results::SCHEMA;

use crate::files::{DOCUMENT, RUNS};
use crate::version::VERSION;

/// Why a run directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct DirectoryError {
    path: PathBuf,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("this is no run directory; `trackbed run SCENARIO --out DIR` makes one")]
    Missing,
    #[error(
        "this is no directory; give a run directory, or with --out a place where you may write"
    )]
    NoDirectory,
    #[error("holds files but is no run directory; give --out a new or an empty directory")]
    NotARunDirectory,
    #[error("no run of it was summed up yet; continue it with the command that made it")]
    NotSummedUp,
    #[error(
        "holds results of version {0}, this is {VERSION}, and results of different versions do \
         not mix; give --out another directory"
    )]
    OtherVersion(String),
    #[error(
        "{0} has form {1}, and version {VERSION} reads forms up to {SCHEMA}; read it with the \
         version that wrote it, or a later one"
    )]
    OtherForm(&'static str, u32),
    #[error(
        "holds the results of other runs, made by `{0}`; give --out another directory, or remove \
         this one"
    )]
    OtherPlan(String),
    #[error("holds {}; give --out another directory", theirs(.0.as_deref()))]
    OtherShard(Option<String>),
    #[error("{0} is damaged ({1}); {remedy}", remedy = remedy(.0))]
    Damaged(&'static str, String),
    /// Runs of a cell that are in the log, and that the document was made of.
    #[error(
        "{RUNS} has {1} runs of cell {0}, and {DOCUMENT} was made of {2}; {remedy}",
        remedy = remedy(DOCUMENT)
    )]
    Incomplete(u32, u32, u32),
    #[error("cannot read {0}: {1}; give a run directory that you may read")]
    Unreadable(&'static str, io::Error),
    #[error("another trackbed is writing here; wait for its end, or give --out another directory")]
    InUse,
    #[error("{0}{remedy}", remedy = remedy_of_system(.0))]
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

/// What a directory holds whose runs are those of `shard`, or of no shard.
fn theirs(shard: Option<&str>) -> String {
    match shard {
        Some(shard) => {
            format!("shard {shard} of these runs, which `run --shard {shard}` continues")
        }
        None => "results of these runs without --shard".to_owned(),
    }
}

/// What helps against an error of the system's; ours say so themselves.
fn remedy_of_system(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::Other => "",
        _ => "; give a directory on a disk with room, where you may write",
    }
}

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
