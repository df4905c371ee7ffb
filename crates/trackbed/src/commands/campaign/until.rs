//! Campaigns of which it turns out how many runs each cell gets.

use trackbed_archive::Units;
use trackbed_archive::{About, Refresh};
use trackbed_lab::campaign::until::Rounds;
use trackbed_measure::results::VIRTUAL;
use trackbed_scenario::{Override, Plan};

use super::view::View;
use super::{Campaign, Finished, keeping, look_for_runtime};
use crate::options::RunOptions;
use crate::output::tell;

/// With --until, how many runs each cell gets is to turn out; `plan` has as many as it begins with.
///
/// # Errors
/// If --runs and --runs-max do not go together.
pub fn rounds(plan: &Plan, options: &RunOptions) -> anyhow::Result<Option<Rounds>> {
    let Some(until) = &options.until else { return Ok(None) };
    let rounds = Rounds::new(plan, until.clone(), plan.runs, options.runs_max);
    rounds.map(Some).map_err(|why| anyhow::anyhow!("--until: {why}; give --runs and --runs-max"))
}

impl Campaign<'_> {
    /// Runs until every cell is known precisely enough. At any time the directory is one of as many runs
    /// as are known to be needed, like any other, so that it can be used whatever ends this process.
    ///
    /// # Errors
    /// If results cannot be read or written.
    pub(super) fn run_until(
        mut self,
        mut rounds: Rounds,
        options: &RunOptions,
    ) -> anyhow::Result<Finished> {
        if self.substrate.name() != VIRTUAL {
            look_for_runtime(&self.plan)?;
        }
        let asked = self.about.clone();
        let mut view = View::new(0, 0, options.watch);
        let mut refresh = Refresh::new();
        let is_complete = loop {
            self.plan.runs = rounds.most_runs();
            let is_missing =
                |cell, run| rounds.wants(cell, run) && !self.directory.runs().has(cell, run);
            let missing = Units::of(&self.plan, is_missing);
            if !missing.is_empty() {
                self.describe(&asked)?;
            }
            view.set(rounds.len(), rounds.len() - missing.len());
            let keeping = keeping(&self.plan, self.substrate, options)?;
            let done = keeping.run(&missing, &mut self.directory, &mut refresh, &mut view)?;
            if done < missing.len() {
                break false;
            }
            if !rounds.look(&self.directory)? {
                break true;
            }
        };
        view.end();
        self.describe(&asked)?;
        self.directory.keep_timelines(&self.plan)?;
        let document = self.settle_and_sum_up(options)?;
        if is_complete {
            tell(rounds.summary());
        } else {
            let again = self.again();
            tell(format_args!("stopped early; continue with the same command and {again}"));
        }
        let is_precise = rounds.short_of().is_empty();
        self.finished(document, !is_complete, is_precise, options)
    }

    /// Says that the directory is one of so many runs as the plan has now.
    fn describe(&mut self, asked: &About) -> anyhow::Result<()> {
        let runs = self.plan.runs;
        let setting = Override { key: "runs".to_owned(), value: runs.to_string() };
        let overrides = asked.overrides.iter().cloned().chain([setting.to_string()]).collect();
        self.about = About { overrides, runs, ..asked.clone() };
        Ok(self.directory.describe(&self.about)?)
    }
}
