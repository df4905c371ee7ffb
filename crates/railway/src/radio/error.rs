//! Errors in descriptions of the radio.

use crate::motion::MotionError;

/// Why values or text are invalid, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {advice}")]
pub struct RadioError {
    /// The invalid parameter, or the name of the text.
    pub place: &'static str,
    /// The problem, and what to write instead.
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
