//! What can go wrong with a program.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use trackbed_emulator::namespace::NamespaceError;

use crate::executable::Missing;

/// Why a program did not do what it was started for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// This machine does not have it.
    #[error("{0}")]
    Missing(Missing),
    /// A file that it needs could not be written.
    #[error("cannot write {0}: {1}")]
    File(PathBuf, io::Error),
    /// Its certificate could not be made.
    #[error("no certificate could be made: {0}")]
    Certificate(String),
    /// It could not be started.
    #[error("{0}")]
    Start(NamespaceError),
    /// It ended when it should not have.
    #[error("{name} ended ({status}){}", said(.last_words))]
    Ended {
        /// Its name.
        name: String,
        /// How.
        status: ExitStatus,
        /// The last lines of what it said.
        last_words: String,
    },
    /// It did not listen in time.
    #[error("{name} {what}{}", said(.last_words))]
    NotReady {
        /// Its name.
        name: String,
        /// What it did not do, and how long it was waited for.
        what: String,
        /// The last lines of what it said.
        last_words: String,
    },
    /// It has said more than anybody reads, and was ended.
    #[error(
        "{name} has written more than {} MB of output{}", .limit / 1_000_000, said(.last_words)
    )]
    Talkative {
        /// Its name.
        name: String,
        /// How much is too much, in bytes.
        limit: u64,
        /// The last lines of what it said.
        last_words: String,
    },
    /// The kernel does not tell how it is.
    #[error("a program cannot be waited for: {0}")]
    Lost(io::Error),
}

fn said(last_words: &str) -> String {
    match last_words.trim() {
        "" => String::new(),
        words => format!(": {words}"),
    }
}
