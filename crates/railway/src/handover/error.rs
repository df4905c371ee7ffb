//! Errors of handover tables.

/// Why a handover table is invalid or cannot be used, with the place and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum HandoverError {
    #[error("{place}: {advice}")]
    Invalid {
        /// Where: `features[3]`, `line 7 column 2`.
        place: String,
        advice: String,
    },
    #[error(
        "no operator \"{name}\"; the table has {}{}", .known.join(", "), guess(.name, .known)
    )]
    UnknownOperator { name: String, known: Vec<String> },
    #[error("{path}: {why}")]
    File { path: String, why: String },
}

impl HandoverError {
    pub(crate) fn invalid(place: impl Into<String>, advice: impl Into<String>) -> HandoverError {
        HandoverError::Invalid { place: place.into(), advice: advice.into() }
    }
}

/// Suggests a similar known name, if there is one.
fn guess(name: &str, known: &[String]) -> String {
    let likeness = |known: &&String| strsim::jaro_winkler(name, known);
    let similar = known.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let similar = similar.filter(|known| likeness(known) > 0.8);
    similar.map(|similar| format!(", did you mean {similar}?")).unwrap_or_default()
}
