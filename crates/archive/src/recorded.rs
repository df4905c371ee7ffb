//! Run directories that are there already: their plan once more, and what they say.

use std::path::{Path, PathBuf};

use crate::about::{About, read_about};
use crate::error::DirectoryError;
use crate::index::RecordedRuns;
use trackbed_scenario::{Plan, RecipeError, ScenarioError};

/// A run directory that was read, with the plan that made it.
#[derive(Debug)]
pub struct Recorded {
    /// Where it is.
    pub path: PathBuf,
    /// What made it.
    pub about: About,
    /// The same plan again, made of the text and the settings that were kept.
    pub plan: Plan,
    /// Its results.
    pub runs: RecordedRuns,
}

impl Recorded {
    /// Reads the run directory at `path`.
    ///
    /// # Errors
    /// If it is none or is damaged, or if this version makes another plan of what it says.
    pub fn read(path: &Path) -> Result<Recorded, RecordedError> {
        let about = read_about(path).map_err(RecordedError::Directory)?;
        let plan = about.recipe().plan();
        let plan = plan.map_err(|why| match why {
            RecipeError::Setting(why) => RecordedError::Setting(path.to_owned(), why),
            RecipeError::Scenario(why) => RecordedError::Scenario(path.to_owned(), why),
            _ => RecordedError::OtherPlan(path.to_owned()),
        })?;
        let runs = RecordedRuns::read(path).map_err(RecordedError::Directory)?;
        Ok(Recorded { path: path.to_owned(), about, plan, runs })
    }

    /// How many runs it should hold, all shards together.
    pub fn units(&self) -> u64 {
        self.plan.units()
    }
}

/// Why a run directory cannot be gone on from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum RecordedError {
    #[error("{0}")]
    Directory(DirectoryError),
    #[error("{0}: about.json holds a setting that cannot be read: {1}")]
    Setting(PathBuf, String),
    #[error(
        "{0}: made by another version of the tool, or a file that the scenario names is gone; run \
         the scenario again\n{1}"
    )]
    Scenario(PathBuf, ScenarioError),
    #[error(
        "{0}: made by another version of the tool, or a file that the scenario names has changed, \
         so the same runs cannot be repeated; run the scenario again"
    )]
    OtherPlan(PathBuf),
}
