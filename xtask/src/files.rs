//! Files, and the errors that name them.

use std::fmt::Display;
use std::path::Path;
use std::{fs, io};

/// Turns an error into a message that begins with its place.
pub fn told<E: Display>(place: impl Display) -> impl Fn(E) -> String {
    move |why| format!("{place}: {why}")
}

/// The text of a file.
pub fn read(path: impl AsRef<Path>) -> Result<String, String> {
    let path = path.as_ref();
    fs::read_to_string(path).map_err(told(path.display()))
}

/// Writes a file, and the folders above it that do not exist.
pub fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), String> {
    let path = path.as_ref();
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes)).map_err(told(path.display()))
}

/// An empty folder in place of whatever is there.
pub fn fresh(folder: &Path) -> Result<(), String> {
    let removed = match fs::remove_dir_all(folder) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    };
    removed.and_then(|()| fs::create_dir_all(folder)).map_err(told(folder.display()))
}
