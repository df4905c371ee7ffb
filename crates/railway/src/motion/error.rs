//! What is wrong with a description of motion.

use std::fmt;

/// Why text or numbers describe no track, speed or position, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MotionError {
    line: Option<u64>,
    message: String,
}

impl MotionError {
    /// An error with this message, which says what is wrong and what to do.
    pub fn new(message: impl Into<String>) -> MotionError {
        MotionError { line: None, message: message.into() }
    }

    /// The same error with the line of the text in which it stands, counted from 1; a line that is
    /// known already stays.
    #[must_use]
    pub fn in_line(mut self, line: u64) -> MotionError {
        self.line.get_or_insert(line);
        self
    }

    /// The line of the text in which it stands, if it has one.
    pub fn line(&self) -> Option<u64> {
        self.line
    }
}

impl fmt::Display for MotionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for MotionError {}
