//! The sources of scenarios: built in, or files.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::files::read_bounded;
use crate::problem::{Origin, ScenarioError};
use crate::suggest;
use crate::tree::{Content, parse_document};

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

impl BuiltIn {
    /// The one-line description of its comparison.
    pub fn summary(&self) -> String {
        let name = self.name.to_owned();
        let origin = Origin { name, text: self.text.to_owned(), is_file: true };
        let table = parse_document(&origin).ok();
        match table.as_ref().and_then(|table| table.get("summary")).map(|entry| &entry.node.content)
        {
            Some(Content::Scalar(summary)) => summary.clone(),
            _ => String::new(),
        }
    }
}

/// The built-in scenarios.
pub fn built_in() -> &'static [BuiltIn] {
    BUILT_IN
}

const BUILT_IN: &[BuiltIn] = &[
    BuiltIn { name: "vru", text: include_str!("../../../scenarios/vru.toml") },
    BuiltIn { name: "crowd", text: include_str!("../../../scenarios/crowd.toml") },
    BuiltIn { name: "lte", text: include_str!("../../../scenarios/lte.toml") },
    BuiltIn { name: "loaded", text: include_str!("../../../scenarios/loaded.toml") },
    BuiltIn { name: "fairness", text: include_str!("../../../scenarios/fairness.toml") },
    BuiltIn { name: "web", text: include_str!("../../../scenarios/web.toml") },
    BuiltIn { name: "streaming", text: include_str!("../../../scenarios/streaming.toml") },
    BuiltIn { name: "migration", text: include_str!("../../../scenarios/migration.toml") },
    BuiltIn { name: "train", text: include_str!("../../../scenarios/train.toml") },
    BuiltIn { name: "hsr", text: include_str!("../../../scenarios/hsr.toml") },
    BuiltIn { name: "edge", text: include_str!("../../../scenarios/edge.toml") },
    BuiltIn { name: "v2x", text: include_str!("../../../scenarios/v2x.toml") },
    BuiltIn { name: "quantum", text: include_str!("../../../scenarios/quantum.toml") },
    BuiltIn { name: "costs", text: include_str!("../../../scenarios/costs.toml") },
    BuiltIn { name: "bulk", text: include_str!("../../../scenarios/bulk.toml") },
];

/// Where to find a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A built-in scenario, by its name.
    BuiltIn(String),
    /// A file.
    File(PathBuf),
    /// A text in memory, such as the copy in a run directory.
    Text {
        /// Its source, as [`Source`] displays itself. Files that the scenario names are relative to
        /// it.
        name: String,
        /// The scenario.
        text: String,
    },
}

pub(crate) struct Text {
    /// Its name in messages.
    pub name: String,
    /// The default name of the scenario.
    pub stem: String,
    pub text: String,
    /// The folder that files in the scenario are relative to.
    pub folder: PathBuf,
}

impl Text {
    fn at(path: &Path, text: String) -> Text {
        let stem = path.file_stem().unwrap_or("scenario".as_ref());
        Text {
            name: path.display().to_string(),
            stem: stem.to_string_lossy().into_owned(),
            text,
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
        }
    }
}

impl Source {
    /// The meaning of an argument on the command line: the name of a built-in scenario, or else a
    /// file. `./vru` is always a file.
    pub fn named(argument: &str) -> Source {
        let is_path = argument.contains(['/', '\\', '.']);
        let known = built_in().iter().any(|scenario| scenario.name == argument);
        match known || !(is_path || Path::new(argument).exists()) {
            true => Source::BuiltIn(argument.to_owned()),
            false => Source::File(PathBuf::from(argument)),
        }
    }

    /// A scenario from its stored text, and what [`Source`] displayed when it was first read.
    pub fn recorded(name: &str, text: &str) -> Source {
        Source::Text { name: name.to_owned(), text: text.to_owned() }
    }

    /// The same scenario with an absolute path.
    ///
    /// # Errors
    /// If there is no current folder.
    pub fn absolute(&self) -> std::io::Result<Source> {
        Ok(match self {
            Source::File(path) => Source::File(std::path::absolute(path)?),
            Source::BuiltIn(_) | Source::Text { .. } => self.clone(),
        })
    }

    pub(crate) fn read(&self) -> Result<Text, ScenarioError> {
        match self {
            Source::BuiltIn(name) => find(name),
            Source::File(path) => Ok(Text::at(path, read_file(path)?)),
            Source::Text { name, text } => Ok(Text::at(Path::new(name), text.clone())),
        }
    }
}

/// As [`Source::named`] reads it.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::BuiltIn(name) | Source::Text { name, .. } => f.write_str(name),
            Source::File(path) => path.display().fmt(f),
        }
    }
}

fn find(name: &str) -> Result<Text, ScenarioError> {
    let found = built_in().iter().find(|scenario| scenario.name == name);
    let found = found.map(|scenario| Text {
        name: format!("{name} (built in)"),
        stem: name.to_owned(),
        text: scenario.text.to_owned(),
        folder: PathBuf::new(),
    });
    found.ok_or_else(|| {
        let help = suggest::question(suggest::nearest(name, &names())) + &what_to_write();
        ScenarioError::about_file(format!("unknown scenario \"{name}\""), Some(help))
    })
}

fn names() -> Vec<&'static str> {
    built_in().iter().map(|scenario| scenario.name).collect()
}

fn what_to_write() -> String {
    let names = names().join(", ");
    format!("write the path of a file, or the name of a built-in scenario: {names}")
}

fn read_file(path: &Path) -> Result<String, ScenarioError> {
    let bytes = read_bounded(path, SCENARIO_BYTES_MAX)
        .map_err(|why| ScenarioError::about_file(why, Some(what_to_write())))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("{} is not valid UTF-8, see line {line}", path.display());
        ScenarioError::about_file(message, Some("save the file as UTF-8".to_owned()))
    })
}

/// A scenario is written by hand.
const SCENARIO_BYTES_MAX: u64 = 1_000_000;
