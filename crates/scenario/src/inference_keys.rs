//! Reads the keys of `[inference]`.

use std::sync::Arc;

use trackbed_core::parameter::{FromValue, Value};

use crate::files::Files;
use crate::problem::Problems;
use crate::spec::Spec;

/// The table's name, and that of the factor for the kind.
pub(crate) const SECTION: &str = "inference";

pub(crate) const KIND: &str = "inference.kind";

/// Reads the keys of a cell, and records them in canonical form.
pub(crate) struct Reader<'a> {
    pub spec: &'a Spec,
    pub selection: &'a [usize],
    pub files: &'a mut Files,
    pub problems: &'a mut Problems,
    /// The canonical text that the results depend on.
    pub line: String,
}

impl<'a> Reader<'a> {
    /// The value of a key, recorded; `None` if there is an error.
    pub fn value(&mut self, name: &str) -> Option<Option<&'a Value>> {
        let path = path(name);
        let Some(value) = self.spec.value(&path, self.selection) else { return Some(None) };
        match self.files.canonical(value) {
            Ok(text) => self.line.push_str(&format!(" {name}={text}")),
            Err(why) => {
                let place = &self.spec.get(&path)?.pick(self.selection).place;
                self.problems.add(place, why);
                return None;
            }
        }
        Some(Some(value))
    }

    /// Records a key in a form other than its value.
    pub fn add(&mut self, text: &str) {
        self.line.push_str(text);
    }

    /// Reports an error at a key, or at the table if the key is not written.
    pub fn refuse<T>(&mut self, name: &str, message: &str, help: &str) -> Option<T> {
        let written = self.spec.get(&path(name)).or_else(|| self.spec.below(SECTION).next());
        if let Some(setting) = written {
            self.problems.add_with_help(&setting.pick(self.selection).place, message, help);
        }
        None
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
        match self.files.with_contents(value) {
            Ok(Value::Contents(text)) => Some(Some((text, path))),
            Ok(_) => Some(None),
            Err(why) => self.refuse(name, &why, "write the path of a text file"),
        }
    }
}

pub(crate) fn path(parameter: &str) -> String {
    format!("{SECTION}.{parameter}")
}
