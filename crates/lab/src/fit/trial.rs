//! The runs of one setting.

use trackbed_analysis::fit::{Figure, Given};
use trackbed_measure::lists::distinct;
use trackbed_scenario::{self as scenario, Override, Plan, ScenarioError};
use trackbed_substrate::Cancel;
use trackbed_substrate::simulated::RunError;

use super::Question;
use crate::run::Runner;

/// How settings are tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// The root seed of the runs, the same for all settings.
    pub root: u64,
    /// A setting that is much farther than this after a few runs gets no more.
    pub patience: f64,
    /// The only figure that counts, if not all do.
    pub only: Option<usize>,
}

impl Trial {
    /// How far what a setting gave is from the figures that count, in tolerances.
    pub fn far(self, question: &Question<'_>, given: &[Option<Given>]) -> f64 {
        let counts = |(index, _): &(usize, _)| self.only.is_none_or(|only| only == *index);
        let pairs = question.figures.iter().zip(given).enumerate().filter(counts);
        let far = |(_, (figure, given)): (usize, (&Figure, &Option<Given>))| {
            figure.distance(given.map(|given| given.value))
        };
        pairs.map(far).fold(0.0, f64::max)
    }

    /// The name under which its result is kept.
    pub fn name(self, settings: &[Override]) -> String {
        let settings: Vec<String> = settings.iter().map(Override::to_string).collect();
        let patience =
            if self.patience.is_finite() { self.patience.to_string() } else { String::new() };
        // What is not given up is the same for all figures.
        let only = match self.only {
            Some(only) if !patience.is_empty() => format!(" only {only}"),
            _ => String::new(),
        };
        format!("{} {patience}{only} {}", self.root, settings.join(" "))
    }
}

/// Why settings cannot be tried.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say it")]
pub enum Unplanned {
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error("{0}")]
    Figure(String),
}

/// Tries settings.
pub(super) struct Trier<'a> {
    pub question: &'a Question<'a>,
}

impl<'a> Trier<'a> {
    pub fn new(question: &'a Question<'a>) -> Trier<'a> {
        Trier { question }
    }

    /// The settings at a place.
    pub fn settings(&self, place: &[f64]) -> Vec<Override> {
        let pairs = self.question.spaces.iter().zip(place);
        pairs
            .map(|(space, at)| Override { key: space.key.clone(), value: space.value(*at) })
            .collect()
    }

    /// The plan there, and the cells of each figure.
    pub fn plan(&self, place: &[f64]) -> Result<(Plan, Vec<Vec<usize>>), Unplanned> {
        let Question { source, overrides, figures, .. } = self.question;
        let overrides: Vec<Override> =
            overrides.iter().cloned().chain(self.settings(place)).collect();
        let plan = scenario::load(source, &overrides)?;
        let cells = figures.iter().map(|figure| figure.find(&plan.cells));
        let cells = cells.collect::<Result<_, String>>().map_err(Unplanned::Figure)?;
        Ok((plan, cells))
    }

    /// What the setting at a place gives for each figure; nothing for one that cannot be run.
    pub fn execute(
        &self,
        place: &[f64],
        trial: Trial,
        cancel: &Cancel,
    ) -> Result<Vec<Option<Given>>, RunError> {
        let Question { figures, runs, .. } = *self.question;
        let Ok((plan, cells)) = self.plan(place) else { return Ok(vec![None; figures.len()]) };
        let runner = Runner::new(cancel.clone());
        let used = distinct(cells.iter().flatten().copied());
        let mut results = vec![Vec::new(); plan.cells.len()];
        let few = runs.div_ceil(FEW);
        for run in 0..runs {
            for cell in &used {
                let outcome = runner.execute(&plan.cells[*cell], trial.root, run)?;
                results[*cell].push(outcome);
            }
            let is_hopeless = || {
                let far = trial.far(self.question, &given(figures, &cells, &results));
                far > HOPELESS * trial.patience.max(1.0)
            };
            if run + 1 == few && is_hopeless() {
                break;
            }
        }
        Ok(given(figures, &cells, &results))
    }
}

/// After one in so many of its runs, a setting may be given up ...
const FEW: u32 = 4;
/// ... if it is so many times farther away than the survivors.
const HOPELESS: f64 = 3.0;

/// What the runs of each cell give for each figure. Nothing where a run failed: the others are a selection.
fn given(
    figures: &[Figure],
    cells: &[Vec<usize>],
    results: &[Vec<trackbed_measure::results::Outcome>],
) -> Vec<Option<Given>> {
    let of = |(figure, cells): (&Figure, &Vec<usize>)| {
        let runs = |cell: &usize| -> Vec<&[f64]> {
            let samples: Option<Vec<_>> = results[*cell].iter().map(|run| run.samples()).collect();
            let samples = samples.unwrap_or_default().into_iter();
            samples.filter_map(|samples| samples.get(&figure.metric)).map(Vec::as_slice).collect()
        };
        figure.given(&cells.iter().map(runs).collect::<Vec<_>>())
    };
    figures.iter().zip(cells).map(of).collect()
}
