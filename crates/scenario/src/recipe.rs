//! The sources of a plan, from which it can be rebuilt: for a run directory, an endpoint in a
//! separate process, or a server on another machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::files::Copies;
use crate::load::{RUNS_MAX, load_from, load_without_files};
use crate::overrides::Override;
use crate::plan::Plan;
use crate::problem::ScenarioError;
use crate::source::Source;

/// A scenario with its settings, and the fingerprint of its plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The scenario's built-in name or the absolute path of its file.
    pub scenario: String,
    /// The scenario's text as it was read.
    pub text: String,
    /// The overridden settings, each as `key=value`.
    pub overrides: Vec<String>,
    /// The absolute path of the current folder of the settings: files that they name are relative
    /// to it.
    pub folder: PathBuf,
    /// Copies of its files, where they are not to be read in their own places.
    pub copies: Copies,
    /// [`Plan::hash`].
    pub hash: String,
    /// The runs of cells that have more than the scenario gives them.
    pub more_runs: BTreeMap<u32, u32>,
}

impl Recipe {
    /// Rebuilds the plan.
    ///
    /// # Errors
    /// If it cannot be built here, or differs from the original.
    pub fn plan(&self) -> Result<Plan, RecipeError> {
        let plan = load_from(&self.source(), &self.overrides()?, &self.folder, &self.copies);
        let mut plan = same(plan, |plan| plan.hash == self.hash)?;
        self.more_runs.iter().for_each(|(cell, runs)| plan.raise_runs(*cell, *runs));
        match plan.units() {
            units if units > RUNS_MAX => Err(RecipeError::Setting(format!("{units} runs"))),
            _ => Ok(plan),
        }
    }

    /// Rebuilds the plan from a recipe that another machine has sent: naming a file or folder of
    /// this machine is an error, and none is read. The plan is the same if its
    /// [`Plan::hash_of_ends`] is `hash_of_ends`.
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

/// Why a plan cannot be rebuilt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// A setting cannot be read.
    #[error("{0}")]
    Setting(String),
    /// The scenario cannot be planned.
    #[error("{0}")]
    Scenario(ScenarioError),
    /// The scenario gives another plan here.
    #[error(
        "the scenario gives a different plan here: the tool's version differs, or a file that it \
         names has changed"
    )]
    OtherPlan,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rebuilt_plan_has_the_runs_that_were_added() {
        let plan = crate::load(&Source::named("vru"), &[]).unwrap();
        let recipe = |more: u32| Recipe {
            scenario: "vru".to_owned(),
            text: plan.source_text.clone(),
            overrides: Vec::new(),
            folder: PathBuf::from("/"),
            copies: Copies::new(),
            hash: plan.hash.clone(),
            more_runs: BTreeMap::from([(1, more), (99, 5)]),
        };
        let rebuilt = recipe(plan.runs + 7).plan().unwrap();
        assert_eq!(rebuilt.units(), plan.units() + 7);
        assert_eq!((rebuilt.runs, rebuilt.cells[1].runs), (plan.runs + 7, plan.runs + 7));
        // From a damaged or hostile directory.
        assert!(matches!(recipe(u32::MAX).plan(), Err(RecipeError::Setting(_))));
    }
}
