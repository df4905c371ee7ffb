//! Why a run directory cannot be used, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use trackbed_measure::results::SCHEMA;
use trackbed_scenario::Input;

use crate::VERSION;
use crate::files::{DOCUMENT, RUNS};

/// Why a run directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct DirectoryError {
    path: PathBuf,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("this is not a run directory; `trackbed run SCENARIO --out DIR` creates one")]
    Missing,
    #[error(
        "this is not a directory; give a run directory, or with --out a place where you may write"
    )]
    NoDirectory,
    #[error("contains files but is not a run directory; choose a new or an empty one with --out")]
    NotARunDirectory,
    #[error("it has no summary yet; continue it with the command that created it")]
    NotSummedUp,
    #[error(
        "contains results of version {0}; this is version {VERSION}, and results of different \
         versions cannot be mixed; choose another directory with --out"
    )]
    OtherVersion(String),
    #[error(
        "{0} has format {1}, but version {VERSION} reads formats up to {SCHEMA}; read it with the \
         version that wrote it, or a later one"
    )]
    OtherForm(&'static str, u32),
    #[error(
        "already contains results of a different command (`{0}`); choose another directory with \
         --out, or delete this one"
    )]
    OtherPlan(String),
    #[error("already contains {}; choose another directory with --out", theirs(.0.as_deref()))]
    OtherShard(Option<String>),
    #[error("{0}")]
    Pack(String),
    /// What is recorded of a file that a scenario names, and what was found.
    #[error(
        "already contains results of these runs with another {}; {}; choose another directory with --out, \
         or delete this one", .0.path, difference(.0, Ok(.1))
    )]
    OtherInput(Box<Input>, Box<Input>),
    #[error("{0} is damaged ({1}); {remedy}", remedy = remedy(.0))]
    Damaged(&'static str, String),
    /// Runs of a cell in the log, and in the document.
    #[error(
        "{RUNS} has {1} runs of cell {0}, but {DOCUMENT} was made of {2}; {remedy}",
        remedy = remedy(DOCUMENT)
    )]
    Incomplete(u32, u32, u32),
    #[error("cannot read {0}: {1}; give a run directory that you may read")]
    Unreadable(&'static str, io::Error),
    #[error(
        "another trackbed is writing here; wait until it ends, or choose another directory with --out"
    )]
    InUse,
    #[error("{0}{remedy}", remedy = remedy_of_system(.0))]
    Io(io::Error),
}

impl DirectoryError {
    pub(crate) fn new(path: &Path, problem: Problem) -> DirectoryError {
        DirectoryError { path: path.to_owned(), problem }
    }

    /// The errors of the system at `path`.
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> DirectoryError {
        move |why| DirectoryError::new(path, Problem::Io(why))
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.problem, Problem::Missing)
    }

    /// The same of another path, from which this one was made.
    pub(crate) fn at(self, path: &Path) -> DirectoryError {
        DirectoryError { path: path.to_owned(), ..self }
    }

    /// Whether the only problem is that there is no summary yet.
    pub fn is_not_summed_up(&self) -> bool {
        matches!(self.problem, Problem::NotSummedUp)
    }
}

/// What is recorded of a file, and what was found in its place.
pub(crate) fn difference(recorded: &Input, found: Result<&Input, String>) -> String {
    let in_words = |input: &Input| format!("sha256 {} ({} B)", input.sha256, input.bytes);
    let found = found.map_or_else(|why| format!("none ({why})"), in_words);
    format!("recorded: {}, found: {found}", in_words(recorded))
}

/// What a directory contains that was created for `shard`, or without a shard.
fn theirs(shard: Option<&str>) -> String {
    match shard {
        Some(shard) => {
            format!("shard {shard} of these runs, which `run --shard {shard}` continues")
        }
        None => "results of these runs without --shard".to_owned(),
    }
}

/// The remedy for a system error; our own errors include theirs.
fn remedy_of_system(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::Other => "",
        _ => "; choose a directory on a disk with free space, where you may write",
    }
}

fn remedy(file: &str) -> &'static str {
    match file {
        DOCUMENT => {
            "the command that created the directory rewrites it and keeps the existing runs"
        }
        RUNS => "delete that line; the command that created the directory repeats its run",
        _ => "delete the directory and run the scenario again",
    }
}
