//! Display names of cells and metrics.

use std::fmt;

use trackbed_measure::metrics::split_unit;
use trackbed_measure::results::{Document, factor_names};

/// A metric's name above its unit.
pub(crate) fn title(metric: &str) -> String {
    let (name, unit) = split_unit(metric);
    // The full name would be twice as wide as the numbers.
    let name = if name == "retransmission" { "resent" } else { name };
    format!("{}\n{unit}", name.replace('_', " "))
}

/// With a capital letter.
pub(crate) fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}", first.to_uppercase())
}

/// The index of a cell and its factors.
pub(crate) fn numbered(document: &Document, index: u32) -> String {
    match document.cells.get(index as usize) {
        Some(cell) => format!("cell {index}, {}", cell.name(&factor_names(&document.cells))),
        None => format!("cell {index}"),
    }
}

pub(crate) fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut text = String::new();
    write(&mut text).expect("a String takes everything");
    text
}

/// Wraps a text into lines of `width` characters.
pub(crate) fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (number, word) in text.split(' ').enumerate() {
        let line = lines.last_mut().expect("there is one from the beginning");
        if number == 0 || line.chars().count() + 1 + word.chars().count() <= width {
            line.push_str(if number == 0 { "" } else { " " });
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
