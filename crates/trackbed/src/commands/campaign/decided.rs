//! Campaigns of `agree --until-decided`, whose number of runs depends on the results of both substrates.

use trackbed_lab::beside;
use trackbed_lab::campaign::decided::{Deciding, Side, Terms};
use trackbed_measure::agreement::Agreement;

use super::view::View;
use super::{Campaign, Finished, keeping};
use crate::options::RunOptions;
use crate::output::tell;

/// Executes runs of both campaigns until their agreement is decided or the budget is
/// spent, and returns what was found.
pub fn run(
    [mut emulated, mut virtually]: [Campaign; 2],
    options: &RunOptions,
    terms: Terms,
) -> anyhow::Result<([Finished; 2], Vec<Agreement>)> {
    beside::runtimes(&emulated.plan)?;
    let mut deciding = Deciding::new(&emulated.plan, terms);
    let mut view = View::new(0, 0, options.watch);
    let mut sides = [emulated.side(options)?, virtually.side(options)?];
    let is_complete = deciding.run(&mut sides, &mut view)?;
    view.end();
    if !is_complete {
        tell("stopped early; continue with the same command");
    }
    let end = |mut campaign: Campaign| -> anyhow::Result<Finished> {
        campaign.directory.keep_timelines(&campaign.plan)?;
        let document = campaign.settle_and_sum_up(options)?;
        campaign.finished(document, !is_complete, true, options)
    };
    Ok(([end(emulated)?, end(virtually)?], deciding.into_found()))
}

impl Campaign {
    fn side(&mut self, options: &RunOptions) -> anyhow::Result<Side<'_>> {
        Ok(Side {
            keeping: keeping(&*self.substrate, options)?,
            plan: &mut self.plan,
            about: &mut self.about,
            directory: &mut self.directory,
        })
    }
}
