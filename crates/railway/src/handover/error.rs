//! What is wrong with a handover table.

use std::fmt;

/// Why text is no handover table, or a table does not serve; with its place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandoverError {
    /// The text or the values are no table.
    Invalid {
        /// Where: `features[3]`, `line 7 column 2`.
        place: String,
        /// What is wrong, and what to do.
        advice: String,
    },
    /// The table has no operator of this name.
    UnknownOperator {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A file could not be read or written.
    File {
        /// Its path.
        path: String,
        /// Why.
        why: String,
    },
}

impl HandoverError {
    pub(crate) fn invalid(place: impl Into<String>, advice: impl Into<String>) -> HandoverError {
        HandoverError::Invalid { place: place.into(), advice: advice.into() }
    }
}

impl fmt::Display for HandoverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HandoverError::Invalid { place, advice } => write!(f, "{place}: {advice}"),
            HandoverError::UnknownOperator { name, known } => {
                let similar = known.iter().max_by(|one, other| {
                    let likeness = |known: &str| strsim::jaro_winkler(name, known);
                    likeness(one).total_cmp(&likeness(other))
                });
                write!(f, "no operator \"{name}\"; the table has {}", known.join(", "))?;
                match similar.filter(|known| strsim::jaro_winkler(name, known) > 0.8) {
                    Some(similar) => write!(f, ", did you mean {similar}?"),
                    None => Ok(()),
                }
            }
            HandoverError::File { path, why } => write!(f, "{path}: {why}"),
        }
    }
}

impl std::error::Error for HandoverError {}
