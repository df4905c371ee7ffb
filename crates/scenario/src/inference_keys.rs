//! Reads the keys of `[inference]`.

use std::sync::Arc;

use trackbed_core::parameter::{FromValue, Value};

use crate::cell::CellReader;
use crate::field::path;

/// The table's name, and that of the factor for the kind.
pub(crate) const SECTION: &str = "inference";

pub(crate) const KIND: &str = "inference.kind";

/// Reads the keys of a cell, and records them in canonical form.
pub(crate) struct Reader<'a, 'c> {
    pub cell: &'c mut CellReader<'a>,
    /// The canonical text that the results depend on; keys are added in the form that matters.
    pub line: String,
}

impl<'a> Reader<'a, '_> {
    /// The value of a key, recorded; `None` if there is an error.
    pub fn value(&mut self, name: &str) -> Option<Option<&'a Value>> {
        let Some(setting) = self.cell.at.spec.get(&path(SECTION, name)) else { return Some(None) };
        let choice = self.cell.at.pick(setting);
        let Some(value) = choice.chosen.value() else { return Some(None) };
        let text = self.cell.files.canonical(value);
        let text = text.map_err(|why| self.cell.problems.add(&choice.place, why)).ok()?;
        self.line.push_str(&format!(" {name}={text}"));
        Some(Some(value))
    }

    /// Reports an error at a key, or at the table if the key is not written.
    pub fn refuse<T>(&mut self, name: &str, message: &str, help: &str) -> Option<T> {
        let first = self.cell.at.spec.below(SECTION).next()?;
        let place = self.cell.at.place(&path(SECTION, name), first);
        self.cell.problems.refuse(place, message, help)
    }

    /// A value of this type; `None` if there is an error.
    pub fn read<T: FromValue>(&mut self, name: &str) -> Option<Option<T>> {
        Some(self.value(name)?.and_then(T::from_value))
    }

    /// The text of a file, and its name without its folder, so that results do not depend on the folder.
    pub fn contents(&mut self, name: &str) -> Option<Option<(Arc<str>, String)>> {
        let Some(value) = self.value(name)? else { return Some(None) };
        let path = match value {
            Value::File(path) => {
                path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
            }
            other => other.to_string(),
        };
        match self.cell.files.with_contents(value) {
            Ok(Value::Contents(text)) => Some(Some((text, path))),
            Ok(_) => Some(None),
            Err(why) => self.refuse(name, &why, "write the path of a text file"),
        }
    }
}
