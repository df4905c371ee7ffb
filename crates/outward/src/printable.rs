//! Text for a terminal or a log, without control characters.

use std::borrow::Cow;
use std::io::{self, Write};

/// Escapes control characters, and characters that change the direction of text, as JSON does (`\u001b`), so
/// that JSON documents stay valid. Line feeds and tabs are kept.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |character| character == '\n' || !is_control(character))
}

/// As [`printable()`], for a single line: line feeds are escaped too.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    escaped(text, |character| !is_control(character))
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(&stays) {
        return Cow::Borrowed(text);
    }
    let escape = |character| match character {
        _ if stays(character) => character.to_string(),
        '\n' => "\\n".to_owned(),
        _ => format!("\\u{:04x}", u32::from(character)),
    };
    Cow::Owned(text.chars().map(escape).collect())
}

/// C0 except tabs, DEL and C1; directional marks, embeddings, overrides and isolates; line separators.
fn is_control(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    ) || (character.is_control() && character != '\t')
}

/// Writes whole lines to a sink, each made [`printable()`].
#[derive(Debug)]
pub struct Printer<W> {
    sink: W,
    /// An incomplete line.
    begun: Vec<u8>,
}

impl<W: Write> Printer<W> {
    /// A printer in front of `sink`.
    pub fn new(sink: W) -> Printer<W> {
        Printer { sink, begun: Vec::new() }
    }
}

impl<W: Write> Write for Printer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = self.begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let lines: Vec<u8> = self.begun.drain(..whole).collect();
        self.sink.write_all(printable(&String::from_utf8_lossy(&lines)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_shown_and_not_done() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7}\r\u{7f}\u{202e}b\u{2028}\u{61c}c";
        let shown = "a\\u001b[2J\\u009b31m\\u0007\\u000d\\u007f\\u202eb\\u2028\\u061cc";
        assert_eq!(printable(hostile), shown);
        assert_eq!(printable("zwölf\t12 µs\nnext"), "zwölf\t12 µs\nnext");
        assert_eq!(printable_line("zwölf\t12 µs\nnext"), "zwölf\t12 µs\\nnext");
        assert!(matches!(printable("as it is\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn lines_are_passed_on_however_they_come() {
        let mut printer = Printer::new(Vec::new());
        for byte in "1,\u{9b}ü\n2,\u{202e}\n".as_bytes() {
            printer.write_all(&[*byte]).unwrap();
        }
        assert_eq!(String::from_utf8(printer.sink).unwrap(), "1,\\u009bü\n2,\\u202e\n");
    }
}
