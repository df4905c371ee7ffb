//! Errors in descriptions of motion.

/// Why a track, speed or position is invalid, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct MotionError {
    line: Option<u64>,
    message: String,
}

impl MotionError {
    /// An error with this message, which names the problem and a remedy.
    pub fn new(message: impl Into<String>) -> MotionError {
        MotionError { line: None, message: message.into() }
    }

    /// The error with its line in the text, counted from 1, unless it already has one.
    #[must_use]
    pub fn in_line(mut self, line: u64) -> MotionError {
        self.line.get_or_insert(line);
        self
    }
}
