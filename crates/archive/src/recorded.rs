//! Existing run directories: their plan and results.

use std::path::{Path, PathBuf};

use crate::VERSION;
use crate::about::{About, read_about};
use crate::error::{DirectoryError, difference};
use crate::index::RecordedRuns;
use crate::pack::copy_name;
use trackbed_measure::results::TEST;
use trackbed_scenario::{Input, Plan, RecipeError};

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
        if about.substrate == TEST {
            return Err(RecordedError::Test(path.to_owned()));
        }
        let copies = about.files.iter().map(|it| (it.path.clone(), path.join(copy_name(it))));
        let copies = copies.filter(|(_, copy)| copy.exists());
        let plan = about.recipe_with(copies.collect()).plan();
        let plan = plan.map_err(|why| match why {
            RecipeError::Setting(why) => RecordedError::Setting(path.to_owned(), why),
            why => RecordedError::OtherPlan(path.to_owned(), reason(path, &about, &why)),
        })?;
        let runs = RecordedRuns::read(path).map_err(RecordedError::Directory)?;
        Ok(Recorded { path: path.to_owned(), about, plan, runs })
    }

    /// The total number of runs, all shards together.
    pub fn units(&self) -> u64 {
        self.plan.units()
    }
}

/// Where a file that the scenario reads is: in the run directory at `path`, if that is an unpacked pack.
pub(crate) fn place_of(path: &Path, input: &Input) -> PathBuf {
    let copy = path.join(copy_name(input));
    if copy.exists() { copy } else { PathBuf::from(&input.path) }
}

/// Why the recorded plan cannot be made again: the first file that is not as recorded, or else the version.
fn reason(path: &Path, about: &About, why: &RecipeError) -> String {
    for input in &about.files {
        let place = place_of(path, input);
        let found = input.again(&place);
        if found.as_ref().is_ok_and(|found| found.sha256 == input.sha256) {
            continue;
        }
        let found = difference(input, found.as_ref().map_err(String::clone));
        return format!(
            "{} is not as it was in these runs ({found}); put it back, or run the scenario again",
            place.display()
        );
    }
    let made = &about.trackbed;
    match made == VERSION {
        true => format!("{why}\nrun the scenario again"),
        false => format!(
            "version {made} made them and this is {VERSION}, or a file that the scenario names is \
             missing or has changed; use that version, or run the scenario again\n{why}"
        ),
    }
}

/// Why a run directory cannot be continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum RecordedError {
    #[error("{0}")]
    Directory(DirectoryError),
    #[error("{0}: a test measured these runs (`trackbed-test`); run it again to repeat them")]
    Test(PathBuf),
    #[error("{0}: about.json contains an invalid setting: {1}")]
    Setting(PathBuf, String),
    #[error("{0}: its runs cannot be repeated: {1}")]
    OtherPlan(PathBuf, String),
}
