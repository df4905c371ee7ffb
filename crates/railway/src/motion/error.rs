//! What is wrong with a description of motion.

/// Why text or numbers describe no track, speed or position, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
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
