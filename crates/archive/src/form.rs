//! Documents in a run directory: reading them, and replacing them atomically.

use std::io::{self, Write as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use trackbed_measure::results::{SCHEMA, first_schema};
use trackbed_outward::files::{Fresh, read_bounded};

use crate::error::Problem;

/// Reads a file in the run directory at `path`, if its format is known; `absent` is the error if it is
/// missing.
pub(crate) fn read_json<T: DeserializeOwned>(
    path: &Path,
    file: &'static str,
    absent: impl FnOnce() -> Problem,
) -> Result<T, Problem> {
    /// What all formats have in common.
    #[derive(Deserialize)]
    struct Form {
        #[serde(default = "first_schema")]
        schema: u32,
    }
    let text = read_bounded(&path.join(file), BYTES_MAX).map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => absent(),
        io::ErrorKind::NotADirectory => Problem::NoDirectory,
        _ => Problem::Unreadable(file, why),
    })?;
    let damaged = |why: serde_json::Error| Problem::Damaged(file, why.to_string());
    let form: Form = serde_json::from_slice(&text).map_err(damaged)?;
    match form.schema {
        0 => Err(Problem::Damaged(file, "there is no format 0".to_owned())),
        1..=SCHEMA => serde_json::from_slice(&text).map_err(damaged),
        other => Err(Problem::OtherForm(file, other)),
    }
}

/// A crash never leaves half a document.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    let mut file = Fresh::begin(path)?;
    file.write_all(text.as_bytes())?;
    file.keep()
}

/// The length of a document: 10,000 cells take a quarter of it.
pub(crate) const BYTES_MAX: u64 = 256_000_000;
