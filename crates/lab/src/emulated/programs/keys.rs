//! The TLS secrets of a third-party client.

use std::fs::File;
use std::io::Read as _;

use trackbed_programs::Folder;

use crate::run::Onlooker;

/// Passes on what the client has written to its key log, or its beginning if that is long.
pub(super) fn show(folder: &Folder, onlooker: &dyn Onlooker) -> Result<(), String> {
    let mut bytes = Vec::new();
    let read = File::open(folder.keys())
        .and_then(|file| file.take(KEYS_MAX).read_to_end(&mut bytes).map(drop));
    read.map_err(|why| {
        format!("the client's TLS keys cannot be read: {why}\n  help: leave out --capture")
    })?;
    let text = String::from_utf8_lossy(&bytes);
    // The limit, or the end of a client that was killed, may have cut a line.
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    let observer = onlooker.observer();
    // Whatever else it wrote there does not belong in a capture.
    let is_text = |line: &&str| line.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    complete.lines().filter(is_text).for_each(|line| observer.tls_key(line));
    Ok(())
}

/// In bytes; a connection takes about a kilobyte.
const KEYS_MAX: u64 = 10_000_000;
