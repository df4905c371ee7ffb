//! Searches a scenario's keys for settings whose runs give wanted figures, in virtual time.

mod kept;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use trackbed_analysis::fit::{Figure, Found, Given, Solution, Space};
use trackbed_core::Seed;
use trackbed_scenario::{Override, Source};
use trackbed_stats::abc::{Member, Population, Tried};
use trackbed_substrate::Cancel;
use trackbed_substrate::simulated::parallel;

use crate::journal::JournalError;

pub use kept::Kept;
pub use trial::Unplanned;
use trial::{Trial, Trier};

/// What is searched.
#[derive(Debug)]
pub struct Question<'a> {
    /// The scenario.
    pub source: &'a Source,
    /// Its fixed settings.
    pub overrides: &'a [Override],
    /// The wanted figures.
    pub figures: &'a [Figure],
    /// The keys.
    pub spaces: &'a [Space],
    /// The number of settings to find.
    pub settings: usize,
    /// Runs of each cell for each setting.
    pub runs: u32,
    /// The root seed of the search and of its runs.
    pub seed: u64,
    /// The number of settings that are tried at once.
    pub jobs: NonZeroUsize,
    /// Ends the search.
    pub cancel: Cancel,
}

/// Whether the search may go on; called after each setting with the number tried so far and the population's
/// distance, in tolerances.
pub type GoesOn<'a> = dyn FnMut(usize, f64) -> bool + 'a;

/// Checks that the scenario can be loaded with the ends of all ranges and every name, and that the figures are
/// about its cells.
///
/// # Errors
/// With what is wrong, as for any scenario.
pub fn check(question: &Question<'_>) -> Result<(), Unplanned> {
    let trier = Trier::new(question);
    let low: Vec<f64> = question.spaces.iter().map(|_| 0.0).collect();
    trier.plan(&low)?;
    for (index, space) in question.spaces.iter().enumerate() {
        for at in space.places() {
            let mut places = low.clone();
            places[index] = at;
            trier.plan(&places)?;
        }
    }
    Ok(())
}

/// Searches until the set is complete, [`Cancel`] fires or `goes_on` says no. All that is tried goes to `kept`, and
/// what is in there already is not tried again.
///
/// # Errors
/// If `kept` cannot be written.
pub fn search(
    question: &Question<'_>,
    kept: &mut Kept,
    goes_on: &mut GoesOn<'_>,
) -> Result<Found, JournalError> {
    let mut search =
        Search { trier: Trier::new(question), kept, goes_on, stopped: false, tried: Vec::new() };
    let population = search.rounds(question.settings, None)?;
    if population.tolerance() > 1.0 {
        // Together they push the search to a compromise. Can each figure be met at all?
        for only in 0..question.figures.len() {
            if !search.has_met(only) {
                search.rounds(ALONE, Some(only))?;
            }
        }
    }
    let is_complete = !search.stopped;
    let root = question.seed.wrapping_add(1);
    let other = Trial { root, patience: f64::INFINITY, only: None };
    // Two places may round to one setting.
    let name = |at: &[f64]| other.name(&Trier::new(question).settings(at));
    let (mut members, mut known) = (Vec::<Member>::new(), BTreeMap::new());
    for one in population.members() {
        let place = *known.entry(name(&one.tried.at)).or_insert(members.len());
        match members.get_mut(place) {
            Some(same) => same.weight += one.weight,
            None => members.push(one.clone()),
        }
    }
    let places: Vec<Vec<f64>> = members.iter().map(|one| one.tried.at.clone()).collect();
    let again = search.try_all(&places, other, false)?;
    let mut tried = search.tried;
    let given = |member: &Member| {
        let found = tried.iter().find(|(at, _)| *at == member.tried.at);
        found.map(|(_, given)| given.clone()).unwrap_or_default()
    };
    let solution = |(member, again): (Member, _)| Solution { given: given(&member), member, again };
    let solutions = members.into_iter().zip(again).map(solution).collect();
    let mut known = BTreeSet::new();
    tried.retain(|(at, _)| known.insert(name(at)));
    let values = |(_, given): (Vec<f64>, Vec<Option<Given>>)| {
        given.iter().map(|given| given.map(|given| given.value)).collect()
    };
    Ok(Found { solutions, tried: tried.into_iter().map(values).collect(), is_complete })
}

/// The search ends after so many rounds without progress.
const STALE_MAX: u32 = 8;
/// The size of a population that searches for one figure alone.
const ALONE: usize = 8;
/// A round makes progress if it brings the population nearer by this factor.
const PROGRESS: f64 = 0.98;

struct Search<'a, 'b> {
    trier: Trier<'a>,
    kept: &'b mut Kept,
    goes_on: &'b mut GoesOn<'b>,
    stopped: bool,
    /// The places of all complete rounds, and what they gave.
    tried: Vec<(Vec<f64>, Vec<Option<Given>>)>,
}

impl Search<'_, '_> {
    /// The last population of a search for all figures, or for one.
    fn rounds(&mut self, size: usize, only: Option<usize>) -> Result<Population, JournalError> {
        let question = self.trier.question;
        let unknowns = question.spaces.iter().map(Space::unknown).collect();
        let number = only.map_or(0, |only| only as u64 + 1);
        let mut population = Population::new(unknowns, size, Seed::of_run(question.seed, number));
        let mut stale = 0;
        while !population.is_done() && stale < STALE_MAX {
            let before = population.tolerance();
            let places = population.propose();
            let trial = Trial { root: question.seed, patience: before, only };
            let given = self.try_all(&places, trial, true)?;
            // A round that was cut off would prefer the settings that are simulated faster.
            if self.stopped {
                break;
            }
            let round = places.iter().zip(&given).map(|(at, given)| {
                let distance =
                    if given.is_empty() { f64::INFINITY } else { trial.far(question, given) };
                Tried { at: at.clone(), distance }
            });
            population.select(round.collect());
            self.tried.extend(places.into_iter().zip(given));
            let is_nearer = population.tolerance() < before * PROGRESS || before <= 1.0;
            stale = if is_nearer { 0 } else { stale + 1 };
        }
        Ok(population)
    }

    /// Whether any setting gave a figure.
    fn has_met(&self, figure: usize) -> bool {
        let trial = Trial { root: 0, patience: 0.0, only: Some(figure) };
        self.tried.iter().any(|(_, given)| trial.far(self.trier.question, given) <= 1.0)
    }

    /// What settings give, in order; nothing for those that were not tried any more. Only a search that
    /// `may_stop` asks whether it goes on.
    fn try_all(
        &mut self,
        places: &[Vec<f64>],
        trial: Trial,
        may_stop: bool,
    ) -> Result<Vec<Vec<Option<Given>>>, JournalError> {
        let Search { trier, kept, goes_on, stopped, .. } = self;
        let question = trier.question;
        let name = |place: &Vec<f64>| trial.name(&trier.settings(place));
        let mut given: Vec<Option<Vec<Option<Given>>>> =
            places.iter().map(|place| kept.get(&name(place))).collect();
        let missing: Vec<usize> = (0..places.len()).filter(|it| given[*it].is_none()).collect();
        let cancel = Cancel::default();
        let mut failed = None;
        let job = |index: &usize| trier.execute(&places[*index], trial, &cancel);
        parallel(missing.into_iter(), question.jobs, &cancel, job, |index, result| {
            let Ok(found) = result else { return };
            if let Err(error) = kept.put(name(&places[index]), &found) {
                failed = Some(error);
                cancel.cancel();
            }
            given[index] = Some(found);
            let goes_on = goes_on(kept.len(), trial.patience) || !may_stop;
            if question.cancel.is_cancelled() || !goes_on {
                *stopped = true;
                cancel.cancel();
            }
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(given.into_iter().map(Option::unwrap_or_default).collect()),
        }
    }
}

#[cfg(test)]
mod tests;
