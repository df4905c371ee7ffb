//! `about.json`: what made a run directory.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trackbed_measure::results::{SCHEMA, VIRTUAL, first_schema};
use trackbed_outward::files;
use trackbed_scenario::Recipe;

use crate::error::{DirectoryError, Problem};
use crate::files::ABOUT;
use crate::form::read_json;

/// What made a run directory; enough to plan the same runs again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// The version of the form of this file, of `run.json` and of the lines of `runs.jsonl`.
    #[serde(default = "first_schema")]
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of the tool.
    pub trackbed: String,
    /// The command line that made the directory.
    pub command: Vec<String>,
    /// The scenario's built-in name or the absolute path of its file.
    pub scenario: String,
    /// The scenario's text as it was read; a repetition does not depend on the file.
    pub text: String,
    /// The settings that were changed, each as `key=value`.
    pub overrides: Vec<String>,
    /// The root seed.
    pub seed: u64,
    /// Runs of each cell.
    pub runs: u32,
    /// The absolute path of the folder in which the command was given: files that its settings
    /// name are found from there.
    pub folder: PathBuf,
    /// The plan's fingerprint.
    pub plan: String,
    /// What the runs are executed on: `virtual`, `emulated` or `live`.
    #[serde(default = "virtual_substrate")]
    pub substrate: String,
    /// Which share of the runs it is to hold, as `I/N`; `None` if all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
}

impl About {
    /// What its plan was made of.
    pub fn recipe(&self) -> Recipe {
        Recipe {
            scenario: self.scenario.clone(),
            text: self.text.clone(),
            overrides: self.overrides.clone(),
            folder: self.folder.clone(),
            hash: self.plan.clone(),
        }
    }
}

/// Directories from before there was a choice do not say.
fn virtual_substrate() -> String {
    VIRTUAL.to_owned()
}

/// What made the run directory at `path`.
///
/// # Errors
/// If it is no run directory, or its description is damaged.
pub fn read_about(path: &Path) -> Result<About, DirectoryError> {
    let refuse = |problem| DirectoryError::new(path, problem);
    let about = read_json(path, ABOUT, || Problem::Missing);
    about.map_err(|why| match why {
        Problem::Damaged(..) if is_foreign(path) => refuse(Problem::Missing),
        why => refuse(why),
    })
}

/// Whether `about.json` is a document of some other program's.
fn is_foreign(path: &Path) -> bool {
    let text = files::read_to_string(&path.join(ABOUT)).unwrap_or_default();
    let document = serde_json::from_str::<serde_json::Value>(&text);
    document.is_ok_and(|document| document.get("trackbed").is_none())
}
