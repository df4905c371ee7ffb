//! Campaigns of which it turns out how many runs each cell gets.

use trackbed_lab::beside;
use trackbed_lab::campaign::until::Rounds;
use trackbed_measure::results::VIRTUAL;
use trackbed_scenario::Plan;

use super::view::View;
use super::{Campaign, Finished, keeping};
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
    /// Runs until every cell is known precisely enough.
    ///
    /// # Errors
    /// If results cannot be read or written.
    pub(super) fn run_until(
        mut self,
        mut rounds: Rounds,
        options: &RunOptions,
    ) -> anyhow::Result<Finished> {
        if self.substrate.name() != VIRTUAL {
            beside::runtimes(&self.plan)?;
        }
        let mut view = View::new(0, 0, options.watch);
        let keeping = keeping(self.substrate, options)?;
        let what = (&mut self.plan, &mut self.about);
        let is_complete = rounds.run(&keeping, what, &mut self.directory, &mut view)?;
        view.end();
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
}
