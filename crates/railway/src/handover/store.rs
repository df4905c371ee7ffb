//! Reads and writes the files of tables.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use trackbed_outward::files::Fresh;

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
        let whole = Fresh::begin(path).and_then(|mut file| {
            file.write_all(self.to_text().as_bytes())?;
            file.keep()
        });
        whole.map_err(|why| file_error(path, &why))
    }
}

fn file_error(path: &Path, why: &dyn std::fmt::Display) -> HandoverError {
    HandoverError::File { path: path.display().to_string(), why: why.to_string() }
}
