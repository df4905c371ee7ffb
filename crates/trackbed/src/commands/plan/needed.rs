//! `trackbed plan --difference`

use anyhow::bail;
use trackbed_analysis::needed::{Need, needs};
use trackbed_analysis::number::significant;
use trackbed_archive::Units;
use trackbed_lab::backend::Virtual;
use trackbed_lab::campaign;
use trackbed_measure::results::MIN_RUNS;
use trackbed_report::{Align, Table};
use trackbed_scenario::Plan;

use crate::commands::campaign::execution;
use crate::options::{RunOptions, SubstrateArgument};
use crate::progress;

/// The pilot runs of each cell, without `--runs`.
const PILOT: u32 = 10;

/// Makes pilot runs, and says how many runs a difference of `share` needs.
pub fn text(plan: &mut Plan, options: &RunOptions, share: f64) -> anyhow::Result<String> {
    if options.substrate.unwrap_or(plan.home.into()) != SubstrateArgument::Virtual {
        bail!("--difference makes its pilot runs in virtual time; give --substrate virtual");
    }
    if plan.cells.len() < 2 {
        bail!("--difference: there is one cell, so nothing is compared; give a key two values");
    }
    let pilot = options.runs.unwrap_or(PILOT);
    if pilot < MIN_RUNS {
        bail!("--runs: so few pilot runs show no spread; give at least {MIN_RUNS}");
    }
    plan.set_runs(pilot);
    let (backend, execution) = (Virtual::default(), execution(options)?);
    let units = Units::of(plan, |_, _| true);
    let (bar, mut results) = (progress::bar(units.len(), 0), Vec::new());
    campaign::run(plan, &backend, &units, &execution, |result| {
        results.push(result);
        bar.inc(1);
    });
    bar.finish_and_clear();
    if execution.cancel.is_cancelled() {
        bail!("interrupted before the pilot runs were complete");
    }
    let origin = campaign::origin(&backend, plan);
    let document = trackbed_analysis::document(plan, &origin, &results, false)?;
    let needs = needs(plan, &results, &document, share)?;
    if needs.is_empty() {
        bail!("--difference: no two cells have {pilot} pilot runs to compare; see `trackbed run`");
    }
    Ok(in_words(&needs, share, pilot))
}

fn in_words(needs: &[Need], share: f64, pilot: u32) -> String {
    let words = |runs: Option<u64>| runs.map_or_else(|| ">1000000".to_owned(), |n| n.to_string());
    // `None` is more than any number.
    let most = |which: usize| {
        let all: Option<Vec<u64>> = needs.iter().map(|need| need.runs[which]).collect();
        words(all.and_then(|all| all.into_iter().max()))
    };
    let (runs, widest, share) = (most(0), most(1), significant(100.0 * share));
    let titles = ["cell", "against", "metric", "difference", "runs", "at most"];
    let align = |title| if title == "metric" { Align::Left } else { Align::Right };
    let mut table = Table::new(titles.map(|title| (title, align(title))));
    for need in needs {
        table.row([
            need.cell.to_string(),
            need.against.to_string(),
            need.metric.name.to_owned(),
            significant(need.difference),
            words(need.runs[0]),
            words(need.runs[1]),
        ]);
    }
    let widest = if widest == runs {
        String::new()
    } else {
        format!(", and up to {widest} if they vary too little")
    };
    format!(
        "A difference of {share} % needs {runs} runs of each cell (--runs), judged by {pilot} pilot runs{widest}.\n\
         A comparison then finds such a difference in 80 % of all campaigns. Of campaigns without any\n\
         difference, at most 5 % find one.\n\n{table}"
    )
}
