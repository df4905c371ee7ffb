//! Settings that were tried.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use trackbed_analysis::fit::Given;

use crate::journal::{Journal, JournalError};

/// What settings gave, by their names; kept in a file.
#[derive(Debug)]
pub struct Kept {
    journal: Journal,
    known: HashMap<String, Vec<Option<Given>>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    tried: String,
    /// Value and standard error.
    given: Vec<Option<[f64; 2]>>,
}

impl Kept {
    /// Opens or creates the file of a search.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn open(path: &Path, question: &str) -> Result<Kept, JournalError> {
        let (journal, lines) = Journal::open::<Line>(path, question)?;
        let read = |pair: Option<[f64; 2]>| {
            pair.map(|[value, standard_error]| Given { value, standard_error })
        };
        let known = lines.into_iter();
        let known = known.map(|line| (line.tried, line.given.into_iter().map(read).collect()));
        Ok(Kept { journal, known: known.collect() })
    }

    /// The number of settings.
    #[allow(clippy::len_without_is_empty, reason = "nothing asks whether it is empty")]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn get(&self, name: &str) -> Option<Vec<Option<Given>>> {
        self.known.get(name).cloned()
    }

    pub(super) fn put(
        &mut self,
        name: String,
        given: &[Option<Given>],
    ) -> Result<(), JournalError> {
        let pairs = given.iter().map(|one| one.map(|one| [one.value, one.standard_error]));
        let line = Line { tried: name, given: pairs.collect() };
        self.journal.add(&line)?;
        self.known.insert(line.tried, given.to_vec());
        Ok(())
    }
}
