//! Run directories that are there already: their plan once more, and what they say.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::about::{About, read_about};
use crate::error::DirectoryError;
use crate::index::RecordedRuns;
use trackbed_scenario::{self as scenario, Override, Plan, ScenarioError, Source};

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
        let plan = plan(path, &about)?;
        let runs = RecordedRuns::read(path).map_err(RecordedError::Directory)?;
        Ok(Recorded { path: path.to_owned(), about, plan, runs })
    }

    /// How many runs it should hold, all shards together.
    pub fn units(&self) -> u64 {
        u64::from(self.plan.runs) * self.plan.cells.len() as u64
    }
}

/// The plan of the run directory at `path` again.
fn plan(path: &Path, about: &About) -> Result<Plan, RecordedError> {
    let overrides: Result<Vec<Override>, _> =
        about.overrides.iter().map(|text| text.parse::<Override>()).collect();
    let overrides =
        overrides.map_err(|why| RecordedError::Setting(path.to_owned(), why.to_string()))?;
    let source = Source::recorded(&about.scenario, &about.text);
    let plan = scenario::load_from(&source, &overrides, &about.folder)
        .map_err(|why| RecordedError::Scenario(path.to_owned(), why))?;
    match plan.hash == about.plan {
        true => Ok(plan),
        false => Err(RecordedError::OtherPlan(path.to_owned())),
    }
}

/// Why a run directory cannot be gone on from.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordedError {
    /// It is no run directory, or damaged.
    Directory(DirectoryError),
    /// A setting in it cannot be read.
    Setting(PathBuf, String),
    /// Its scenario cannot be planned.
    Scenario(PathBuf, ScenarioError),
    /// Its scenario makes other runs here.
    OtherPlan(PathBuf),
}

impl fmt::Display for RecordedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordedError::Directory(why) => why.fmt(f),
            RecordedError::Setting(path, why) => {
                write!(
                    f,
                    "{}: about.json holds a setting that cannot be read: {why}",
                    path.display()
                )
            }
            RecordedError::Scenario(path, why) => write!(
                f,
                "{}: made by another version of the tool, or a file that the scenario names is gone; \
                 run the scenario again\n{why}",
                path.display()
            ),
            RecordedError::OtherPlan(path) => write!(
                f,
                "{}: made by another version of the tool, or a file that the scenario names has \
                 changed, so the same runs cannot be repeated; run the scenario again",
                path.display()
            ),
        }
    }
}

impl std::error::Error for RecordedError {}
