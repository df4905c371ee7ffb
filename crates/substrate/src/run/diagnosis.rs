//! The diagnosis of a stalled run.

use std::fmt::{self, Display, Write as _};

use trackbed_core::Time;

/// The first lines of a text, and the number of the others.
#[derive(Default)]
pub(crate) struct Lines {
    text: String,
    count: usize,
}

impl Lines {
    pub(crate) fn add(&mut self, line: &dyn Display) {
        self.count += 1;
        if self.count <= LINES_MAX {
            let _ = writeln!(self.text, "  {line}");
        }
    }
}

impl Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match self.count.saturating_sub(LINES_MAX) {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more"),
        }
    }
}

pub(crate) fn when(at: Option<Time>) -> String {
    at.map_or_else(|| "never".to_owned(), |at| format!("at {at}"))
}

/// A socket's kind and addresses: its description up to the first comma.
pub(crate) fn name_of(socket: Option<&impl Display>) -> String {
    let text = socket.map_or_else(|| "a closed socket".to_owned(), ToString::to_string);
    text.split(',').next().unwrap_or_default().to_owned()
}

/// Enough to see the pattern.
const LINES_MAX: usize = 40;
