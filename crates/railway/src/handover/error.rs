//! What is wrong with a handover table.

/// Why text is no handover table, or a table does not serve; with its place and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandoverError {
    /// The text or the values are no table.
    #[error("{place}: {advice}")]
    Invalid {
        /// Where: `features[3]`, `line 7 column 2`.
        place: String,
        /// What is wrong, and what to do.
        advice: String,
    },
    /// The table has no operator of this name.
    #[error(
        "no operator \"{name}\"; the table has {}{}", .known.join(", "), guess(.name, .known)
    )]
    UnknownOperator {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A file could not be read or written.
    #[error("{path}: {why}")]
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

/// Asks for the name that is like `name`, if there is one.
fn guess(name: &str, known: &[String]) -> String {
    let likeness = |known: &&String| strsim::jaro_winkler(name, known);
    let similar = known.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let similar = similar.filter(|known| likeness(known) > 0.8);
    similar.map(|similar| format!(", did you mean {similar}?")).unwrap_or_default()
}
