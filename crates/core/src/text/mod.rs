//! Text files as tools and people write them.

mod table;
mod time;

pub use table::{Column, Row, Table, decimal};
pub use time::seconds;

/// Why a text is invalid, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct TextError {
    line: Option<u64>,
    message: String,
}

impl TextError {
    /// An error with this message, which names the problem and a remedy.
    pub fn new(message: impl Into<String>) -> TextError {
        TextError { line: None, message: message.into() }
    }

    /// The error with its line in the text, counted from 1, unless it already has one.
    #[must_use]
    pub fn in_line(mut self, line: u64) -> TextError {
        self.line.get_or_insert(line);
        self
    }

    /// The error of a piece of a text, below this number of lines.
    #[must_use]
    pub fn below(mut self, lines: u64) -> TextError {
        self.line = self.line.map(|line| line + lines);
        self
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A count with its noun: `1 cell`, `3 cells`.
pub fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The lines with content, trimmed and numbered as an editor does, after any byte order mark. Empty lines
/// have none, nor have comments, which begin with `#`.
pub fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// As [`lines`], below the first one, which must be `heading`.
///
/// # Errors
/// If it is not; the message names the line.
pub fn lines_below<'a>(
    text: &'a str,
    heading: &str,
) -> Result<impl Iterator<Item = (u64, &'a str)>, TextError> {
    let mut lines = lines(text);
    match lines.next() {
        Some((_, line)) if line == heading => Ok(lines),
        found => {
            let (number, line) = found.unwrap_or((1, ""));
            let why = format!("\"{line}\" is not the heading; write {heading} and lines below it");
            Err(TextError::new(why).in_line(number))
        }
    }
}

/// The text of a value, unless it is one that means "unavailable".
pub fn known(text: &str) -> Option<&str> {
    // The last two are Android's largest numbers of 32 and 64 bits.
    let unknown =
        ["", "-", "--", "na", "n/a", "nan", "null", "none", "2147483647", "9223372036854775807"];
    let text = text.trim();
    (!unknown.iter().any(|none| text.eq_ignore_ascii_case(none))).then_some(text)
}
