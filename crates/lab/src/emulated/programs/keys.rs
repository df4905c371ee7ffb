//! The TLS secrets of a third-party client.

use trackbed_outward::files::read_bounded;
use trackbed_programs::Folder;

use crate::run::Onlooker;

/// Passes on what the client has written to its key log.
pub(super) fn show(folder: &Folder, onlooker: &dyn Onlooker) -> Result<(), String> {
    let bytes = read_bounded(&folder.keys(), KEYS_MAX).map_err(|why| {
        format!("the client's TLS keys cannot be read: {why}\n  help: leave out --capture")
    })?;
    let text = String::from_utf8_lossy(&bytes);
    // A client that was killed may have left part of a line.
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    let observer = onlooker.observer();
    complete.lines().for_each(|line| observer.tls_key(line));
    Ok(())
}

/// In bytes; a connection takes about a kilobyte.
const KEYS_MAX: u64 = 10_000_000;
