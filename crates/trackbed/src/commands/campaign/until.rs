//! Campaigns with `--until`, whose number of runs depends on the results.

use trackbed_lab::beside;
use trackbed_lab::campaign::until::Rounds;
use trackbed_measure::results::VIRTUAL;
use trackbed_scenario::Plan;

use super::view::View;
use super::{Campaign, Finished, keeping};
use crate::options::RunOptions;
use crate::output::tell;

/// The rounds of a campaign with --until; `plan` has the number of runs to start with.
pub fn rounds(plan: &Plan, options: &RunOptions) -> anyhow::Result<Option<Rounds>> {
    let Some(until) = &options.until else { return Ok(None) };
    let rounds = Rounds::new(plan, until.clone(), plan.runs, options.runs_max);
    rounds.map(Some).map_err(|why| anyhow::anyhow!("--until: {why}; give --runs and --runs-max"))
}

impl Campaign {
    /// Executes runs until every cell reaches the goal.
    pub(super) fn run_until(
        mut self,
        mut rounds: Rounds,
        options: &RunOptions,
    ) -> anyhow::Result<Finished> {
        if self.substrate.name() != VIRTUAL {
            beside::runtimes(&self.plan)?;
        }
        let mut view = View::new(0, 0, options.watch);
        let keeping = keeping(&*self.substrate, options)?;
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
        self.finished(document, !is_complete, rounds.short_of().is_empty(), options)
    }
}
