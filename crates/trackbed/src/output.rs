//! Standard output, which may be a pipe that closes early, and standard error, which may be closed.

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;

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
/// As [`print()`].
pub fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    print(&format!("{value:#}\n"))
}

/// Tells the user something on standard error. If nobody reads it, nothing depends on that.
pub fn tell(message: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// True if the error only says that nobody reads our output any more.
pub fn is_closed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A path as a shell reads it.
pub fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) && !text.starts_with('-') {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_a_shell_would_split_or_expand_them() {
        for (path, word) in [
            ("trackbed-out/vru", "trackbed-out/vru"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(Path::new(path)), word);
        }
    }
}
