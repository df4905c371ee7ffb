//! Standard output, which may be a pipe that closes early.

use std::io::{self, Write as _};

/// Prints `text` to standard output.
///
/// # Errors
/// If it cannot be written. A reader that has gone away (`trackbed ... | head`) is such an error;
/// see [`is_closed`].
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// Prints `value` as one indented JSON document.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    print(&format!("{value:#}\n"))
}

/// True if the error only says that nobody reads our output any more.
pub fn is_closed(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
