//! The tables of one cell, as their readers need them.

use trackbed_core::parameter::{Parameter, Value};

use crate::field::path;
use crate::files::Files;
use crate::problem::Problems;
use crate::spec::Selected;

/// The settings of a cell, the files that they name, and where errors go.
pub(crate) struct CellReader<'a> {
    pub at: Selected<'a>,
    pub files: &'a mut Files,
    pub problems: &'a mut Problems,
    /// What the results depend on, as text.
    pub lines: Vec<String>,
}

impl CellReader<'_> {
    /// The values of the keys that the table `section` sets, and its line; `None` if there is an
    /// error.
    pub fn table(
        &mut self,
        section: &str,
        parameters: &[Parameter],
    ) -> Option<(Vec<(&'static str, Value)>, String)> {
        let (mut given, mut line) = (Vec::new(), format!("{section}:"));
        for parameter in parameters {
            let path = path(section, parameter.name);
            let Some(setting) = self.at.spec.get(&path) else { continue };
            let choice = self.at.pick(setting);
            let value = choice.chosen.value()?;
            let contents = self.files.canonical(value).and_then(|text| {
                line.push_str(&format!(" {}={text}", parameter.name));
                self.files.with_contents(value)
            });
            let contents = contents.map_err(|why| self.problems.add(&choice.place, why)).ok()?;
            given.push((parameter.name, contents));
        }
        Some((given, line))
    }
}
