//! Existing run directories: their plan and results.

use std::path::{Path, PathBuf};

use crate::about::{About, read_about};
use crate::error::DirectoryError;
use crate::index::RecordedRuns;
use trackbed_scenario::{Plan, RecipeError, ScenarioError};

/// A run directory that was read, with its plan.
#[derive(Debug)]
pub struct Recorded {
    /// Its path.
    pub path: PathBuf,
    /// How it was created.
    pub about: About,
    /// The plan, recreated from the recorded text and settings.
    pub plan: Plan,
    /// Its results.
    pub runs: RecordedRuns,
}

impl Recorded {
    /// Reads the run directory at `path`.
    ///
    /// # Errors
    /// If it is not a run directory or is damaged, or if this version makes a different plan from
    /// it.
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

    /// The total number of runs, all shards together.
    pub fn units(&self) -> u64 {
        self.plan.units()
    }
}

/// Why a run directory cannot be continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum RecordedError {
    #[error("{0}")]
    Directory(DirectoryError),
    #[error("{0}: about.json contains an invalid setting: {1}")]
    Setting(PathBuf, String),
    #[error(
        "{0}: made by another version of the tool, or a file that the scenario refers to is \
         missing; run the scenario again\n{1}"
    )]
    Scenario(PathBuf, ScenarioError),
    #[error(
        "{0}: made by another version of the tool, or a file that the scenario refers to has \
         changed, so the runs cannot be repeated; run the scenario again"
    )]
    OtherPlan(PathBuf),
}
