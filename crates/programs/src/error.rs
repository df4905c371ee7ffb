//! Errors of programs.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use trackbed_emulator::namespace::NamespaceError;

use crate::executable::Missing;

/// Why a program failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum ProgramError {
    #[error("{0}")]
    Missing(Missing),
    #[error("cannot write {0}: {1}")]
    File(PathBuf, io::Error),
    #[error("no certificate could be created: {0}")]
    Certificate(String),
    #[error("{0}")]
    Start(NamespaceError),
    #[error("{name} ended ({status}){}", said(.last_words))]
    Ended { name: String, status: ExitStatus, last_words: String },
    #[error("{name} {what}{}", said(.last_words))]
    NotReady { name: String, what: String, last_words: String },
    #[error(
        "{name} has written more than {} MB of output{}", .limit / 1_000_000, said(.last_words)
    )]
    Talkative {
        name: String,
        /// The limit in bytes.
        limit: u64,
        last_words: String,
    },
    #[error("a program cannot be waited for: {0}")]
    Lost(io::Error),
}

fn said(last_words: &str) -> String {
    match last_words.trim() {
        "" => String::new(),
        words => format!(": {words}"),
    }
}
