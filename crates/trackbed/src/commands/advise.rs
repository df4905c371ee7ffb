//! `trackbed advise`

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use trackbed_analysis::advise::{AdviseError, Baseline, Question, advise};
use trackbed_measure::metrics;

use crate::ending::Ending;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  trackbed advise trackbed-out/vru --need 'mean completion < 120 ms'
  trackbed advise results --need 'p99 rtt < 50 ms' --need 'lost = 0'
  trackbed advise results --need 'fps >= 0.97 baseline and cpu < 150 %' --json
  trackbed advise results --need 'completion < 0.9 baseline' --baseline protocol=http2

A need compares a metric with a number in its unit, or with a multiple of the baseline:
  [mean | median | p50 | p95 | p99 | pNN | min | max] METRIC (< | <= | > | >= | =) BOUND
joined by `and`, `or` and parentheses. METRIC is a name from `trackbed list metrics`, with or without
its unit. The default statistic is the mean. If there are several needs, a cell must meet all of them.

Verdicts use 95 % confidence intervals. A cell meets a need if the whole interval does, and fails it if no
part of the interval does. Otherwise the need is undecided, and the estimated number of additional runs is
printed. There is no verdict for cells with fewer than 6 runs or with failed runs.

The baseline of a cell is the same cell without a protocol or without inference (protocol=none,
inference=none); --baseline chooses another. Baseline cells are not judged.

Exit status: 0 a cell meets the needs, 1 none certainly does, 2 bad input.";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The run directory
    pub directory: PathBuf,
    /// Require NEED, for example "p99 rtt < 50 ms"; may be given several times
    #[arg(long = "need", value_name = "NEED", required = true)]
    pub needs: Vec<String>,
    /// Compare with the cells whose FACTOR has VALUE; may be given several times
    #[arg(long = "baseline", value_name = "FACTOR=VALUE")]
    pub baselines: Vec<Baseline>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Prints which configurations meet the needs, and why.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let (document, runs) = trackbed_analysis::open(&arguments.directory)?;
    let runs = runs.all()?;
    let question = Question {
        needs: arguments.needs.clone(),
        baseline: (!arguments.baselines.is_empty())
            .then(|| Baseline::any(arguments.baselines.iter().cloned())),
        known_metrics: metrics::registry().iter().map(|metric| metric.name.to_owned()).collect(),
    };
    let advice = advise(&document, &runs, &question).map_err(|error| match error {
        // The mark below the text needs a separate line.
        AdviseError::Need(error) => anyhow!("invalid --need\n{error}"),
        error => anyhow::Error::new(error),
    });
    let advice = advice?;
    output::answer(arguments.json, &advice, || trackbed_report::advice::render(&advice))?;
    Ok(match advice.best() {
        Some(_) => Ending::Success,
        None => Ending::CheckFailed,
    })
}
