//! TLS secrets in the NSS key log format, collected during a run.
//!
//! One line per secret: `LABEL <client random> <secret>`, in hexadecimal ("The SSLKEYLOGFILE Format
//! for TLS", RFC 9850 section 2). Wireshark reads them from a file or from a capture.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle on one collection of key log lines; clones share it.
///
/// Both endpoints of a connection may report the same secret: a duplicate line is dropped.
#[derive(Clone, Default)]
pub struct KeyLog {
    lines: Arc<Mutex<Lines>>,
}

#[derive(Default)]
struct Lines {
    in_order: Vec<Arc<str>>,
    seen: BTreeSet<Arc<str>>,
}

impl KeyLog {
    /// Adds one secret. The arguments are those of a TLS library's key log callback: the label
    /// (such as `CLIENT_TRAFFIC_SECRET_0`), the random of the client's hello, and the secret.
    pub fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        self.push(&format!("{label} {} {}", Hex(client_random), Hex(secret)));
    }

    /// Adds one or more lines already formatted by a library. Empty lines and comments (`#`) are
    /// left out.
    pub fn push(&self, text: &str) {
        let mut lines = self.lock();
        let wanted = text.lines().map(str::trim);
        for line in wanted.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let line: Arc<str> = line.into();
            if lines.seen.insert(Arc::clone(&line)) {
                lines.in_order.push(line);
            }
        }
    }

    /// The number of lines so far.
    pub fn len(&self) -> usize {
        self.lock().in_order.len()
    }

    /// Whether there is no line yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A reader that begins at the first line, even of those added earlier.
    pub fn cursor(&self) -> KeyLogCursor {
        KeyLogCursor { log: self.clone(), next: 0 }
    }

    /// Writes all lines, each with its newline, to the key log file `path`, replacing an older one. A new
    /// file is readable only by its owner, because on a real network the secrets decrypt real
    /// connections.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = trackbed_outward::files::create_private(path)?;
        file.write_all(self.cursor().take_new().as_bytes())
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        // A line is added completely or not at all, so a panic elsewhere leaves no partial line.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows the number of lines, never the secrets.
impl fmt::Debug for KeyLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyLog({} lines)", self.len())
    }
}

/// A position in a [`KeyLog`], from which a reader takes new lines.
#[derive(Clone, Debug)]
pub struct KeyLogCursor {
    log: KeyLog,
    next: usize,
}

impl KeyLogCursor {
    /// The lines added since the last call, each with its newline; empty if there are none.
    pub fn take_new(&mut self) -> String {
        let lines = self.log.lock();
        let new = &lines.in_order[self.next..];
        self.next = lines.in_order.len();
        new.iter().flat_map(|line| [&**line, "\n"]).collect()
    }
}

/// Bytes displayed as lower-case hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_becomes_a_line_of_the_format() {
        let log = KeyLog::default();
        log.log("CLIENT_TRAFFIC_SECRET_0", &[0x01, 0xab], &[0xff, 0x00, 0x10]);
        assert_eq!(log.cursor().take_new(), "CLIENT_TRAFFIC_SECRET_0 01ab ff0010\n");
    }

    #[test]
    fn cursors_give_each_line_once_and_do_not_share_their_place() {
        let log = KeyLog::default();
        let (mut early, mut late) = (log.cursor(), log.cursor());
        log.push("A 01 02\n\n# a comment\nB 03 04\n");
        assert_eq!(early.take_new(), "A 01 02\nB 03 04\n");
        assert_eq!(early.take_new(), "");
        log.clone().push("A 01 02\r\nC 05 06");
        assert_eq!(early.take_new(), "C 05 06\n");
        assert_eq!(late.take_new(), "A 01 02\nB 03 04\nC 05 06\n");
        assert_eq!(log.len(), 3);
    }

    #[test]
    fn threads_may_share_it_and_its_secrets_are_not_printed() {
        let log = KeyLog::default();
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let log = log.clone();
                scope.spawn(move || (0..100).for_each(|i| log.log("L", &[thread], &[i])));
            }
        });
        assert_eq!(format!("{log:?}"), "KeyLog(400 lines)");
    }
}
