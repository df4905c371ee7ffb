//! `about.json`: how a run directory was created.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trackbed_core::text::hex;
use trackbed_measure::results::{SCHEMA, VIRTUAL, first_schema};
use trackbed_outward::files;
use trackbed_scenario::{Copies, Input, Recipe};

use crate::error::{DirectoryError, Problem};
use crate::files::ABOUT;
use crate::form::{BYTES_MAX, read_json};

/// How a run directory was created; enough to plan the same runs again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// The version of the format of this file, of `run.json` and of the lines of `runs.jsonl`.
    #[serde(default = "first_schema")]
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of the tool.
    pub trackbed: String,
    /// The build ID of the program, by which `readelf -n` and `file` know it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The command line that created the directory.
    pub command: Vec<String>,
    /// The scenario's built-in name or the absolute path of its file.
    pub scenario: String,
    /// The scenario's text as it was read; a repetition does not depend on the file.
    pub text: String,
    /// The changed settings, each as `key=value`.
    pub overrides: Vec<String>,
    /// The root seed.
    pub seed: u64,
    /// Runs per cell.
    pub runs: u32,
    /// The runs of cells, by their numbers, that have more than the scenario gives them: statements of a
    /// study need them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub more_runs: BTreeMap<u32, u32>,
    /// The absolute path of the folder in which the command was given; relative paths in its
    /// settings start there.
    pub folder: PathBuf,
    /// The files and folders that the scenario and its settings name, as they were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Input>,
    /// The plan's fingerprint.
    pub plan: String,
    /// The substrate of the runs: `virtual`, `emulated` or `live`.
    #[serde(default = "virtual_substrate")]
    pub substrate: String,
    /// The share of the runs in this directory, as `I/N`; `None` for all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
}

impl About {
    /// The input of its plan.
    pub fn recipe(&self) -> Recipe {
        self.recipe_with(Copies::new())
    }

    /// The same with copies of its files.
    pub(crate) fn recipe_with(&self, copies: Copies) -> Recipe {
        Recipe {
            scenario: self.scenario.clone(),
            text: self.text.clone(),
            overrides: self.overrides.clone(),
            folder: self.folder.clone(),
            copies,
            hash: self.plan.clone(),
            more_runs: self.more_runs.clone(),
        }
    }
}

/// The build ID of this program, which the linker computes from its contents: all machines know one build by
/// the same ID, and it costs nothing to read. `None` if the executable has none.
pub fn build_id() -> Option<String> {
    let mut head = Vec::new();
    File::open(std::env::current_exe().ok()?).ok()?.take(NOTES_MAX).read_to_end(&mut head).ok()?;
    let note = head.windows(NOTE.len()).position(|bytes| bytes == NOTE)? + NOTE.len();
    head.get(note..note + 20).map(hex)
}

/// The head of an ELF note with a build ID: 4 bytes of name, 20 of SHA-1, type 3, `GNU`.
const NOTE: &[u8] = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";

/// Linkers place notes directly after the program's headers.
const NOTES_MAX: u64 = 65_536;

/// Directories from before there was a choice have no entry.
fn virtual_substrate() -> String {
    VIRTUAL.to_owned()
}

/// Reads how the run directory at `path` was created.
///
/// # Errors
/// If it is not a run directory, or its description is damaged.
pub fn read_about(path: &Path) -> Result<About, DirectoryError> {
    let refuse = |problem| DirectoryError::new(path, problem);
    let about = read_json(path, ABOUT, || Problem::Missing);
    about.map_err(|why| match why {
        Problem::Damaged(..) if is_foreign(path) => refuse(Problem::Missing),
        why => refuse(why),
    })
}

/// Whether `about.json` belongs to another program.
fn is_foreign(path: &Path) -> bool {
    let text = files::read_bounded(&path.join(ABOUT), BYTES_MAX).unwrap_or_default();
    let document = serde_json::from_slice::<serde_json::Value>(&text);
    document.is_ok_and(|document| document.get("trackbed").is_none())
}
