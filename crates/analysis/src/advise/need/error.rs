//! Why a text is not a valid need.

use std::fmt;

/// Why a text is not a valid need: what, where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedError {
    text: String,
    /// Its position, in bytes.
    from: usize,
    until: usize,
    message: String,
}

impl NeedError {
    pub(super) fn new(
        text: &str,
        (from, until): (usize, usize),
        message: impl Into<String>,
    ) -> NeedError {
        NeedError { text: text.to_owned(), from, until, message: message.into() }
    }

    /// What is wrong, without the position.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The position, in characters from the beginning of the text, counted from 0.
    pub fn column(&self) -> usize {
        self.text[..self.from].chars().count()
    }
}

/// The text, a mark below the position, and the message.
impl fmt::Display for NeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Control characters would misplace the mark.
        let shown: String =
            self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let width = self.text[self.from..self.until].chars().count().max(1);
        writeln!(f, "{shown}")?;
        writeln!(f, "{:>1$}", "^".repeat(width), self.column() + width)?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for NeedError {}
