//! `trackbed advise`

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use trackbed_analysis::advise::{AdviseError, Baseline, Question, advise};
use trackbed_measure::metrics;

use crate::ending::Ending;
use crate::output;

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed advise trackbed-out/vru --need 'mean completion < 120 ms'
  trackbed advise results --need 'p99 rtt < 50 ms' --need 'lost = 0'
  trackbed advise results --need 'fps >= 0.97 baseline and cpu < 150 %' --json
  trackbed advise results --need 'completion < 0.9 baseline' --baseline protocol=http2

A need compares a metric with a number in its unit, or with so many times the baseline:
  [mean | median | p50 | p95 | p99 | pNN | min | max] METRIC (< | <= | > | >= | =) BOUND
joined by `and`, `or` and parentheses. A metric is named as in `trackbed list metrics`, with or without
its unit; without a statistic its mean is meant. Several needs must all be met.

Answers come from 95 % intervals. A cell meets a need where the whole interval does, fails it where none
of it does, and otherwise there is no telling; then it says how many more runs might settle it. No
verdict is given on fewer than 6 runs, nor where runs failed.

A baseline is the cell that is like another but without a protocol, or without inference
(protocol=none, inference=none); --baseline chooses others. Cells that are baselines are not judged.

Exit status: 0 a cell meets the needs, 1 none does for certain, 2 bad input.";

/// What is needed, and where the results are.
#[derive(Debug, Args)]
pub struct AdviseArguments {
    /// The run directory
    pub directory: PathBuf,
    /// What must hold, for example "p99 rtt < 50 ms"; may be given several times
    #[arg(long = "need", value_name = "NEED", required = true)]
    pub needs: Vec<String>,
    /// Cells with this factor are what others are compared with; may be given several times
    #[arg(long = "baseline", value_name = "FACTOR=VALUE")]
    pub baselines: Vec<Baseline>,
    /// Print one JSON document in place of tables
    #[arg(long)]
    pub json: bool,
}

/// Says which configurations meet the needs, and why.
///
/// # Errors
/// If the directory holds no results, or a need cannot be read.
pub fn execute(arguments: &AdviseArguments) -> anyhow::Result<Ending> {
    let document = trackbed_archive::read_document(&arguments.directory)?;
    let runs = trackbed_archive::RecordedRuns::read(&arguments.directory)?;
    trackbed_archive::check_complete(&document, &runs)?;
    let runs = runs.all()?;
    let question = Question {
        needs: arguments.needs.clone(),
        baseline: (!arguments.baselines.is_empty())
            .then(|| Baseline::any(arguments.baselines.iter().cloned())),
        known_metrics: metrics::registry().iter().map(|metric| metric.name.to_owned()).collect(),
    };
    let advice = advise(&document, &runs, &question).map_err(|error| match error {
        // The mark below the text needs a line of its own.
        AdviseError::Need(error) => anyhow!("a need cannot be read\n{error}"),
        error => anyhow::Error::new(error),
    });
    let advice = advice?;
    if arguments.json {
        output::print_json(&serde_json::to_value(&advice).context("no JSON comes of it")?)?;
    } else {
        output::print(&trackbed_report::advice::render(&advice))?;
    }
    Ok(match advice.best() {
        Some(_) => Ending::Success,
        None => Ending::CheckFailed,
    })
}
