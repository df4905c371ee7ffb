//! Small files of the kernel.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The text of a file without white space and NUL at its ends; `None` if it cannot be read, has
/// more than [`BYTES_MAX`] or is not text.
pub(crate) fn text(path: &Path) -> Option<String> {
    let file = fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > BYTES_MAX {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
}

pub(crate) fn number(path: &Path) -> Option<i64> {
    text(path)?.split_whitespace().next()?.parse().ok()
}

/// The bytes on the line of a text that begins with `key` and has kibibytes.
pub(crate) fn bytes_of(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The entries of a folder, sorted by name, numbers in names by their value; empty if the folder
/// does not exist.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort_by_cached_key(|path| {
        let name = name(path);
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        (name[..name.len() - digits.len()].to_owned(), digits.len(), digits.to_owned())
    });
    paths
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// `/proc/stat` of the largest machines has some hundred kilobytes.
const BYTES_MAX: u64 = 4 << 20;
