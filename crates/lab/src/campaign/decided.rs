//! Campaigns on two substrates that go on until it is decided in which cells they agree.

use std::collections::BTreeSet;
use std::time::Duration;

use trackbed_analysis::agreement::compare_cell;
use trackbed_analysis::computing::{self, Computing};
use trackbed_archive::{About, DirectoryError, Refresh, Results, RunDirectory, Units};
use trackbed_measure::agreement::{Agreement, AgreementVerdict};
use trackbed_measure::results::RunResult;
use trackbed_scenario::Plan;
use trackbed_stats::{MIN_PAIRS, look_error, pairs_at};

use super::keeping::{Keeping, Progress};
use super::until::with_runs;
use super::{Execution, run};
use crate::backend::Backend;

/// One of the two campaigns.
pub struct Side<'a> {
    /// How its runs are executed.
    pub keeping: Keeping<'a>,
    /// Its plan.
    pub plan: &'a mut Plan,
    /// What its directory says about it.
    pub about: &'a mut About,
    /// Its results.
    pub directory: &'a mut RunDirectory,
}

/// What to decide, and how long it may take.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The metrics to compare; none: those of the kind of traffic.
    pub metrics: Vec<String>,
    /// No runs begin that would probably end later.
    pub budget: Duration,
    /// The pairs of each cell at its first look.
    pub runs_min: u32,
    /// The most pairs of a cell.
    pub runs_max: u32,
}

impl Terms {
    /// Whether the numbers of pairs allow a verdict.
    ///
    /// # Errors
    /// An error message, if they do not.
    pub fn check(&self) -> Result<(), String> {
        let Terms { runs_min, runs_max, .. } = self;
        match *runs_min >= MIN_PAIRS as u32 && runs_min <= runs_max {
            true => Ok(()),
            false => Err(format!(
                "--until-decided begins with --runs, which must be {MIN_PAIRS} or more and at most --runs-max \
                 ({runs_max}), not {runs_min}"
            )),
        }
    }
}

/// The pairs of runs that the cells need, as far as is known.
#[derive(Debug)]
pub struct Deciding {
    terms: Terms,
    cells: Vec<Pairs>,
}

#[derive(Clone, Debug, Default)]
struct Pairs {
    runs: u32,
    looks: u32,
    is_closed: bool,
    /// What one more pair takes.
    time: Duration,
    found: Vec<Agreement>,
    computed: Computed,
}

impl Deciding {
    /// No cell of `plan` has runs yet.
    pub fn new(plan: &Plan, terms: Terms) -> Deciding {
        Deciding { terms, cells: vec![Pairs::default(); plan.cells.len()] }
    }

    /// Executes runs on both sides, emulated and virtual, until everything is decided or the budget is spent;
    /// returns false if it was stopped before. Runs that exist already take nothing of the budget. As with
    /// [`super::until::Rounds::run`], the directories stay usable however the process ends.
    ///
    /// # Errors
    /// If results cannot be read or written.
    pub fn run(
        &mut self,
        sides: &mut [Side<'_>; 2],
        progress: &mut dyn Progress,
    ) -> Result<bool, DirectoryError> {
        let asked = sides.each_ref().map(|side| side.about.clone());
        self.replay(sides)?;
        if self.cells.iter().any(|cell| cell.runs > 0) {
            for (side, asked) in sides.iter_mut().zip(&asked) {
                self.describe(side, asked)?;
            }
        }
        let start = progress.elapsed();
        while let Some(index) = self.next(progress.elapsed() - start) {
            let began = progress.elapsed();
            let next = self.runs_at(self.cells[index].looks);
            // What a pair takes shows with as many runs at a time as later.
            let jobs =
                sides.iter().map(|side| side.keeping.execution.jobs_on(side.keeping.backend)).min();
            let cell = &self.cells[index];
            let runs = match jobs.filter(|_| cell.is_untimed()) {
                Some(jobs) => next.min(cell.runs + jobs.get() as u32),
                None => next,
            };
            let together = self.together(index, sides[0].plan);
            together.iter().for_each(|one| self.cells[*one].runs = runs);
            let mut executed = 0;
            // The slower side last, so that each of its runs that Ctrl-C leaves has its partner.
            for (side, asked) in sides.iter_mut().zip(&asked).rev() {
                let (done, is_complete) = self.complete(side, asked, progress)?;
                executed = executed.max(done);
                if !is_complete {
                    // What there is in pairs shows in the answer.
                    together.iter().try_for_each(|one| self.look(*one, sides))?;
                    return Ok(false);
                }
            }
            if runs == next {
                together.iter().try_for_each(|one| self.look(*one, sides))?;
            }
            if sides.iter().any(|side| side.keeping.execution.cancel.is_cancelled()) {
                return Ok(false);
            }
            // Runs that existed before took no time.
            if executed > 0 {
                let pairs = (executed as u32).div_ceil(together.len() as u32);
                let time = (progress.elapsed() - began) / pairs;
                together.iter().for_each(|one| self.cells[*one].time = time);
            }
        }
        Ok(true)
    }

    /// The cells that the same runs decide: the open ones of its family that have as many.
    fn together(&self, index: usize, plan: &Plan) -> Vec<usize> {
        let state = |one: usize| {
            let Pairs { runs, looks, is_closed, .. } = self.cells[one];
            (plan.cells[one].family, runs, looks, is_closed)
        };
        (0..self.cells.len()).filter(|one| state(*one) == state(index)).collect()
    }

    /// Looks at the runs that exist already, cell by cell: once, with as many as they suffice for. An earlier look
    /// that had decided would have been the last.
    fn replay(&mut self, sides: &mut [Side<'_>; 2]) -> Result<(), DirectoryError> {
        for index in 0..self.cells.len() {
            if sides.iter().any(|side| side.keeping.execution.cancel.is_cancelled()) {
                break;
            }
            let has_all = |runs| {
                let has = |side: &Side<'_>| {
                    (0..runs).all(|run| side.directory.runs().has(index as u32, run))
                };
                sides.iter().all(has)
            };
            let Some((look, runs)) = self.last_look(has_all) else { continue };
            self.cells[index] = Pairs { runs, looks: look, ..Pairs::default() };
            // The comparison with processor time executes runs of the plan.
            sides.iter_mut().for_each(|side| side.plan.set_runs(runs));
            self.look(index, sides)?;
        }
        Ok(())
    }

    /// The last look for which there are enough runs, and their number.
    fn last_look(&self, has_all: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        let mut last = None;
        for look in 0.. {
            let runs = self.runs_at(look);
            if !has_all(runs) {
                break;
            }
            last = Some((look, runs));
            if runs >= self.terms.runs_max {
                break;
            }
        }
        last
    }

    /// The cell that should go on: one without runs, or whose pairs take an unknown time, or else the one that
    /// is probably decided soonest. None if there is none for which the rest of the budget suffices.
    fn next(&self, elapsed: Duration) -> Option<usize> {
        let left = self.terms.budget.saturating_sub(elapsed);
        if left.is_zero() {
            return None;
        }
        let open = || (0..).zip(&self.cells).filter(|(_, cell)| !cell.is_closed);
        let is_new = |cell: &Pairs| cell.runs == 0 || cell.is_untimed();
        if let Some((index, _)) = open().find(|(_, cell)| is_new(cell)) {
            return Some(index);
        }
        let next = |cell: &Pairs| self.runs_at(cell.looks).saturating_sub(cell.runs);
        let fits = open().filter(|(_, cell)| cell.time.saturating_mul(next(cell)) <= left);
        fits.min_by_key(|(_, cell)| cell.time_to_decide()).map(|(index, _)| index)
    }

    /// The number of a cell's runs at look `number`.
    fn runs_at(&self, number: u32) -> u32 {
        pairs_at(self.terms.runs_min, number).min(self.terms.runs_max)
    }

    /// Executes what a side lacks; returns the number of these runs, and false if it was stopped.
    fn complete(
        &self,
        side: &mut Side<'_>,
        asked: &About,
        progress: &mut dyn Progress,
    ) -> Result<(u64, bool), DirectoryError> {
        self.describe(side, asked)?;
        let Side { keeping, plan, directory, .. } = side;
        let wanted =
            |cell: u32, run| self.cells.get(cell as usize).is_some_and(|cell| run < cell.runs);
        let is_missing = |cell, run| wanted(cell, run) && !directory.runs().has(cell, run);
        let missing = Units::of(plan, is_missing);
        let total: u64 = self.cells.iter().map(|cell| u64::from(cell.runs)).sum();
        progress.set(total, total - missing.len());
        let done = keeping.run(plan, &missing, directory, &mut Refresh::default(), progress)?;
        Ok((done, done == missing.len()))
    }

    /// Notes in a side's directory how many runs its cells have.
    fn describe(&self, side: &mut Side<'_>, asked: &About) -> Result<(), DirectoryError> {
        let runs = self.cells.iter().map(|cell| cell.runs).max().unwrap_or(0);
        side.plan.set_runs(runs);
        *side.about = with_runs(asked, side.plan.runs);
        side.directory.describe(side.about)
    }

    /// Compares the cell's runs, and closes it if that decides, or if more would not help.
    fn look(&mut self, index: usize, sides: &[Side<'_>; 2]) -> Result<(), DirectoryError> {
        let Terms { metrics, runs_max, .. } = &self.terms;
        let cell = &mut self.cells[index];
        let number = index as u32;
        let of = |side: &Side<'_>| -> Result<Vec<RunResult>, DirectoryError> {
            let runs = side.directory.of(number)?;
            Ok(runs.iter().filter(|run| run.run < cell.runs).cloned().collect())
        };
        let [emulated, virtually] = sides;
        let runs = [of(virtually)?, of(emulated)?];
        let how = (metrics.as_slice(), 1.0 - 2.0 * look_error(cell.looks));
        let Keeping { backend, execution, .. } = &virtually.keeping;
        let on = (*backend, execution);
        cell.found = cell.computed.compare((emulated.plan, number), runs, how, on);
        cell.looks += 1;
        cell.is_closed = cell.runs >= *runs_max || !cell.found.iter().any(is_open);
        if cell.is_closed {
            cell.computed = Computed::default();
        }
        Ok(())
    }

    /// What is known about the cells, in their order.
    pub fn into_found(self) -> Vec<Agreement> {
        self.cells.into_iter().flat_map(|cell| cell.found).collect()
    }
}

impl Pairs {
    /// Whether its runs existed before, so that nothing is known about their time.
    fn is_untimed(&self) -> bool {
        self.runs > 0 && self.time.is_zero()
    }

    /// How long it probably takes until everything about the cell is decided.
    fn time_to_decide(&self) -> Duration {
        let undecided = self.found.iter().filter(|found| is_open(found));
        let pairs = undecided.map(|found| found.soonest().unwrap_or(u64::from(u32::MAX))).max();
        let more = pairs.unwrap_or(0).saturating_sub(u64::from(self.runs));
        self.time.saturating_mul(u32::try_from(more).unwrap_or(u32::MAX))
    }
}

/// Whether more pairs may change the verdict: a difference may turn out to be due to processor time.
fn is_open(found: &Agreement) -> bool {
    let undecided = |verdict| verdict == AgreementVerdict::Undecided;
    let with_computing = found.with_computing.as_ref();
    undecided(found.verdict)
        || found.verdict == AgreementVerdict::Different
            && with_computing.is_some_and(|with| undecided(with.verdict))
}

/// The runs of one cell. They are executed when they are needed, and not stored: virtual ones take little
/// time.
#[derive(Clone, Debug, Default)]
pub struct Computed {
    /// From the first runs that were compared, so that more of them change no run.
    computing: Option<Computing>,
    runs: Vec<RunResult>,
}

impl Computed {
    /// Compares the runs of a cell in virtual time and emulated, by these metrics and with this confidence.
    /// Where they are not equivalent, it compares the emulated ones with runs on `backend` whose ends take
    /// the processor time that was measured.
    ///
    /// # Panics
    /// If `plan` does not have the cell.
    pub fn compare(
        &mut self,
        (plan, cell): (&Plan, u32),
        sides: [Vec<RunResult>; 2],
        how: (&[String], f64),
        (backend, execution): (&dyn Backend, &Execution),
    ) -> Vec<Agreement> {
        let emulated = sides[1].clone();
        let mut found = compare_cell(plan, cell, sides, how);
        let is_equivalent = |found: &Agreement| found.verdict == AgreementVerdict::Equivalent;
        if plan.cells[cell as usize].shares_cores() || found.iter().all(is_equivalent) {
            return found;
        }
        self.computing = self.computing.or_else(|| Computing::measured(&emulated));
        let Some(computing) = self.computing else { return found };
        let Some(backend) = backend.with_computing(computing) else { return found };
        let has =
            |runs: &[RunResult]| -> BTreeSet<u32> { runs.iter().map(|run| run.run).collect() };
        let (wanted, done) = (has(&emulated), has(&self.runs));
        let is_missing = |of, run| of == cell && wanted.contains(&run) && !done.contains(&run);
        let missing = Units::of(plan, is_missing);
        run(plan, &*backend, &missing, execution, |result| self.runs.push(result));
        if !execution.cancel.is_cancelled() {
            let again = compare_cell(plan, cell, [self.runs.clone(), emulated], how);
            computing::complete(&mut found, computing, &again);
        }
        found
    }
}

#[cfg(test)]
mod tests;
