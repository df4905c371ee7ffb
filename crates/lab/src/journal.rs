//! Results of a long question, kept line by line in a file, so that it can be continued.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use trackbed_outward::files;

/// A file of JSON lines; the first one is the question.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// Why results cannot be kept.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say it")]
pub enum JournalError {
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: std::io::Error },
    #[error(
        "{} belongs to another question: {was}\n  help: repeat that command to continue it, or choose another \
         folder with --out", path.display()
    )]
    Other { path: PathBuf, was: String },
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    question: String,
}

impl Journal {
    /// Opens the file of a question, with the results that it has, or creates it. A last line that was cut off, and
    /// lines that are damaged, are left out: what they had is asked again.
    ///
    /// # Errors
    /// If it cannot be read or written, or belongs to another question.
    pub fn open<T: DeserializeOwned>(
        path: &Path,
        question: &str,
    ) -> Result<(Journal, Vec<T>), JournalError> {
        let failed = |why| JournalError::File { path: path.to_owned(), why };
        let (mut results, mut whole) = (Vec::new(), 0);
        if path.exists() {
            let mut lines = BufReader::new(files::open(path).map_err(failed)?.take(BYTES_MAX));
            let mut text = String::new();
            while lines.read_line(&mut text).map_err(failed)? > 0 && text.ends_with('\n') {
                if whole == 0 {
                    let head: Option<Head> = serde_json::from_str(&text).ok();
                    let was = head.map_or_else(|| "none of ours".to_owned(), |head| head.question);
                    if was != question {
                        return Err(JournalError::Other { path: path.to_owned(), was });
                    }
                } else {
                    results.extend(serde_json::from_str::<T>(&text));
                }
                whole += text.len() as u64;
                text.clear();
            }
        }
        let file = files::append(path).map_err(failed)?;
        file.set_len(whole).map_err(failed)?;
        let mut journal = Journal { path: path.to_owned(), file };
        if whole == 0 {
            journal.add(&Head { question: question.to_owned() })?;
        }
        Ok((journal, results))
    }

    /// Adds a result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, result: &impl Serialize) -> Result<(), JournalError> {
        let text = serde_json::to_string(result).unwrap_or_default();
        writeln!(self.file, "{text}")
            .map_err(|why| JournalError::File { path: self.path.clone(), why })
    }
}

/// More is none of ours.
const BYTES_MAX: u64 = 4 << 30;
