//! Why a text is no need.

use std::fmt;

/// Why a text is no need: what, where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedError {
    text: String,
    /// The place in it, in bytes.
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

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The place, as characters from the beginning of the text, counted from 0.
    pub fn column(&self) -> usize {
        self.text[..self.from].chars().count()
    }
}

/// The text, the place marked below it, and the message.
impl fmt::Display for NeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What moves the cursor would move the mark away from its place.
        let shown: String =
            self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let width = self.text[self.from..self.until].chars().count().max(1);
        writeln!(f, "{shown}")?;
        writeln!(f, "{:>1$}", "^".repeat(width), self.column() + width)?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for NeedError {}
