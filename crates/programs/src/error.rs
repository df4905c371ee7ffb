//! What can go wrong with a program.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use trackbed_emulator::namespace::NamespaceError;

use crate::executable::Missing;

/// Why a program did not do what it was started for.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProgramError {
    /// This machine does not have it.
    Missing(Missing),
    /// A file that it needs could not be written.
    File(PathBuf, io::Error),
    /// Its certificate could not be made.
    Certificate(String),
    /// It could not be started.
    Start(NamespaceError),
    /// It ended when it should not have.
    Ended {
        /// Its name.
        name: String,
        /// How.
        status: ExitStatus,
        /// The last lines of what it said.
        last_words: String,
    },
    /// It did not listen in time.
    NotReady {
        /// Its name.
        name: String,
        /// What it did not do, and how long it was waited for.
        what: String,
        /// The last lines of what it said.
        last_words: String,
    },
    /// It has said more than anybody reads, and was ended.
    Talkative {
        /// Its name.
        name: String,
        /// How much is too much, in bytes.
        limit: u64,
        /// The last lines of what it said.
        last_words: String,
    },
    /// The kernel does not tell how it is.
    Lost(io::Error),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::Missing(missing) => missing.fmt(f),
            ProgramError::File(path, why) => write!(f, "cannot write {}: {why}", path.display()),
            ProgramError::Certificate(why) => write!(f, "no certificate could be made: {why}"),
            ProgramError::Start(why) => why.fmt(f),
            ProgramError::Ended { name, status, last_words } => {
                write!(f, "{name} ended ({status}){}", said(last_words))
            }
            ProgramError::NotReady { name, what, last_words } => {
                write!(f, "{name} {what}{}", said(last_words))
            }
            ProgramError::Talkative { name, limit, last_words } => {
                let megabytes = limit / 1_000_000;
                write!(
                    f,
                    "{name} has written more than {megabytes} MB of output{}",
                    said(last_words)
                )
            }
            ProgramError::Lost(why) => write!(f, "a program cannot be waited for: {why}"),
        }
    }
}

impl std::error::Error for ProgramError {}

fn said(last_words: &str) -> String {
    match last_words.trim() {
        "" => String::new(),
        words => format!(": {words}"),
    }
}
