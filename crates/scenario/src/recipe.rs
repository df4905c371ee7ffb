//! What a plan was made of, so that it can be made again: for a run directory that is read, an end in a
//! process of its own, or a server on another machine.

use std::fmt;
use std::path::PathBuf;

use crate::load::{load_from, load_without_files};
use crate::overrides::Override;
use crate::plan::Plan;
use crate::problem::ScenarioError;
use crate::source::Source;

/// A scenario with its settings, and the fingerprint of the plan that they gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The scenario's built-in name or the absolute path of its file.
    pub scenario: String,
    /// The scenario's text as it was read.
    pub text: String,
    /// The settings that were changed, each as `key=value`.
    pub overrides: Vec<String>,
    /// The absolute path of the folder in which the settings were given: files that they name are found
    /// from there.
    pub folder: PathBuf,
    /// [`Plan::hash`].
    pub hash: String,
}

impl Recipe {
    /// The plan again.
    ///
    /// # Errors
    /// If it cannot be made here, or comes out as another one.
    pub fn plan(&self) -> Result<Plan, RecipeError> {
        let plan = load_from(&self.source(), &self.overrides()?, &self.folder);
        same(plan, |plan| plan.hash == self.hash)
    }

    /// The plan again, of a recipe that another machine has sent: a scenario that names a file or folder
    /// of this machine is refused, and none is read. It is the same if its [`Plan::hash_of_ends`] is
    /// `hash_of_ends`.
    ///
    /// # Errors
    /// As [`Recipe::plan`].
    pub fn plan_without_files(&self, hash_of_ends: &str) -> Result<Plan, RecipeError> {
        let plan = load_without_files(&self.source(), &self.overrides()?);
        same(plan, |plan| plan.hash_of_ends == hash_of_ends)
    }

    fn source(&self) -> Source {
        Source::recorded(&self.scenario, &self.text)
    }

    fn overrides(&self) -> Result<Vec<Override>, RecipeError> {
        let overrides = self.overrides.iter().map(|text| text.parse::<Override>());
        overrides.collect::<Result<_, _>>().map_err(|why| RecipeError::Setting(why.to_string()))
    }
}

fn same(
    plan: Result<Plan, ScenarioError>,
    is_same: impl Fn(&Plan) -> bool,
) -> Result<Plan, RecipeError> {
    let plan = plan.map_err(RecipeError::Scenario)?;
    if is_same(&plan) { Ok(plan) } else { Err(RecipeError::OtherPlan) }
}

/// Why a plan cannot be made again.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecipeError {
    /// A setting cannot be read.
    Setting(String),
    /// The scenario cannot be planned.
    Scenario(ScenarioError),
    /// The scenario gives another plan here: another version of the tool, or a file has changed.
    OtherPlan,
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecipeError::Setting(why) => f.write_str(why),
            RecipeError::Scenario(why) => why.fmt(f),
            RecipeError::OtherPlan => f.write_str(
                "the scenario is read differently here, or a file that it names has changed",
            ),
        }
    }
}

impl std::error::Error for RecipeError {}
