//! Settings that were tried, kept in a file so that a search can be continued.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trackbed_analysis::fit::Given;
use trackbed_outward::files;

/// What settings gave, by their names.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    file: File,
    known: HashMap<String, Vec<Option<Given>>>,
}

/// Why settings cannot be kept.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say it")]
pub enum KeptError {
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: std::io::Error },
    #[error(
        "{} belongs to another search: {was}\n  help: repeat that command to continue it, or choose another folder \
         with --out", path.display()
    )]
    Other { path: PathBuf, was: String },
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    question: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    tried: String,
    /// Value and standard error.
    given: Vec<Option<[f64; 2]>>,
}

impl Kept {
    /// Opens or creates the file of a search. A last line that was cut off is left out.
    ///
    /// # Errors
    /// If it cannot be read or written, or belongs to another question.
    pub fn open(path: &Path, question: &str) -> Result<Kept, KeptError> {
        let failed = |why| KeptError::File { path: path.to_owned(), why };
        let mut known = HashMap::new();
        let mut whole = 0;
        if path.exists() {
            let file = files::open(path).map_err(failed)?;
            let mut lines = BufReader::new(file.take(BYTES_MAX));
            let mut text = String::new();
            while lines.read_line(&mut text).map_err(failed)? > 0 && text.ends_with('\n') {
                if whole == 0 {
                    let head: Option<Head> = serde_json::from_str(&text).ok();
                    let was = head.map_or_else(|| "no search".to_owned(), |head| head.question);
                    if was != question {
                        return Err(KeptError::Other { path: path.to_owned(), was });
                    }
                } else if let Ok(line) = serde_json::from_str::<Line>(&text) {
                    known.insert(line.tried, line.given.into_iter().map(read).collect());
                }
                whole += text.len() as u64;
                text.clear();
            }
        }
        let file = match whole {
            0 => {
                let mut file = files::create(path).map_err(failed)?;
                let head = serde_json::to_string(&Head { question: question.to_owned() });
                writeln!(file, "{}", head.unwrap_or_default()).map_err(failed)?;
                file
            }
            _ => {
                let file = files::append(path).map_err(failed)?;
                file.set_len(whole).map_err(failed)?;
                file
            }
        };
        Ok(Kept { path: path.to_owned(), file, known })
    }

    /// The number of settings.
    #[allow(clippy::len_without_is_empty, reason = "nothing asks whether it is empty")]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn get(&self, name: &str) -> Option<Vec<Option<Given>>> {
        self.known.get(name).cloned()
    }

    pub(super) fn put(&mut self, name: String, given: &[Option<Given>]) -> Result<(), KeptError> {
        let pairs = given.iter().map(|one| one.map(|one| [one.value, one.standard_error]));
        let line = Line { tried: name, given: pairs.collect() };
        let text = serde_json::to_string(&line).unwrap_or_default();
        writeln!(self.file, "{text}")
            .map_err(|why| KeptError::File { path: self.path.clone(), why })?;
        self.known.insert(line.tried, given.to_vec());
        Ok(())
    }
}

fn read(pair: Option<[f64; 2]>) -> Option<Given> {
    pair.map(|[value, standard_error]| Given { value, standard_error })
}

/// More is no search of ours: ten million settings.
const BYTES_MAX: u64 = 4 << 30;
