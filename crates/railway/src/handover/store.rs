//! Reads and writes the files of tables.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use crate::handover::error::HandoverError;
use crate::handover::table::Table;

impl Table {
    /// Reads the table in a file.
    ///
    /// # Errors
    /// If it cannot be read, or does not contain a table.
    pub fn load(path: &Path) -> Result<Table, HandoverError> {
        let text = fs::read_to_string(path).map_err(|why| file_error(path, &why))?;
        Table::parse(&text).map_err(|why| file_error(path, &why))
    }

    /// Writes the table to a file atomically: concurrent readers, and readers after a crash, see the old table
    /// or the new one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), HandoverError> {
        write_whole(path, &self.to_text()).map_err(|why| file_error(path, &why))
    }
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it does not name a file"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(hidden);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        // Without this, after a power cut the new name may exist without its data.
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&beside, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&beside);
    }
    renamed
}

fn file_error(path: &Path, why: &dyn std::fmt::Display) -> HandoverError {
    HandoverError::File { path: path.display().to_string(), why: why.to_string() }
}
