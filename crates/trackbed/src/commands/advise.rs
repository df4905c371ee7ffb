//! `trackbed advise`

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use trackbed_analysis::advise::{AdviseError, Baseline, Question, advise};
use trackbed_measure::metrics;

use crate::ending::Ending;
use crate::output;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/advise.txt"))]
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
    Ok(advice.best().map_or(Ending::CheckFailed, |_| Ending::Success))
}
