//! What is wrong with a description of radio.

use crate::motion::MotionError;

/// Why values or text describe no radio, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {advice}")]
pub struct RadioError {
    /// The parameter to change, or the name of the text.
    pub place: &'static str,
    /// What is wrong with it, and what to write instead.
    pub advice: String,
}

impl RadioError {
    pub(crate) fn new(place: &'static str, advice: impl Into<String>) -> RadioError {
        RadioError { place, advice: advice.into() }
    }

    /// For [`Result::map_err`].
    pub(crate) fn of(place: &'static str) -> impl Fn(MotionError) -> RadioError {
        move |why| RadioError::new(place, why.to_string())
    }
}
