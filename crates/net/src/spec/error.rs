//! Errors in descriptions.

use std::fmt;

/// Why a description of a link cannot be used, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);

impl SpecError {
    /// An error with this message, which names the problem and the remedy.
    pub fn new(message: impl Into<String>) -> SpecError {
        SpecError(message.into())
    }

    /// The error of the model or queue called `owner`.
    pub(crate) fn of(owner: &str, message: impl fmt::Display) -> SpecError {
        SpecError(format!("{owner}: {message}"))
    }
}
