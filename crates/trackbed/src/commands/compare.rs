//! `trackbed compare`

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use trackbed_analysis::compare::{self, Question};
use trackbed_measure::results::UsefulDifference;
use trackbed_report::contrast;

use crate::ending::Ending;
use crate::output;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/compare.txt"))]
pub struct Arguments {
    /// The run directory to compare with (the baseline)
    pub first: PathBuf,
    /// The run directory to compare
    pub second: PathBuf,
    /// Compare METRIC, or a statistic of each run's values such as 'p99 rtt'; may be given several times
    /// [default: the metric by which cells are ranked]
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// Ignore differences of up to MARGIN: a percentage of the first value, or a time such as 2ms
    /// [default: the useful-difference of FIRST, which is 1%, and for times at least 1ms, unless its scenario says so]
    #[arg(long, value_name = "MARGIN")]
    pub margin: Option<UsefulDifference>,
    /// Require proof that nothing is worse by more than MARGIN
    #[arg(long, value_name = "MARGIN", conflicts_with = "margin")]
    pub no_worse_than: Option<UsefulDifference>,
    /// Set the confidence of all verdicts together
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = confidence)]
    pub confidence: f64,
    /// Also write the comparison to FILE as JUnit's XML, for CI
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Compares two run directories.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let question = Question {
        metrics: arguments.metrics.clone(),
        confidence: arguments.confidence,
        margin: arguments.no_worse_than.or(arguments.margin),
    };
    let contrast = compare::compare(&arguments.first, &arguments.second, &question)?;
    let has_gate = arguments.no_worse_than.is_some();
    if let Some(cell) = contrast.cells.iter().find(|cell| has_gate && cell.regression.is_none()) {
        let metric = &cell.metric;
        bail!("--no-worse-than: neither less nor more of {metric} is better; leave it out");
    }
    output::answer(arguments.json, &contrast, || contrast::render(&contrast))?;
    if let Some(path) = &arguments.junit {
        output::write_whole(path, contrast::junit(&contrast, has_gate))?;
    }
    let is_worse = contrast.count_worse() > 0;
    Ok(match arguments.no_worse_than {
        _ if contrast.cells.is_empty() && !is_worse => Ending::NothingCompared,
        Some(_) if !contrast.is_no_worse() => Ending::CheckFailed,
        None if is_worse => Ending::CheckFailed,
        None if contrast.is_undecided() => Ending::Undecided,
        _ => Ending::Success,
    })
}

pub(super) fn percentage(text: &str) -> Result<f64, String> {
    let share = share(text).filter(|share| (0.0..=10.0).contains(share));
    share.ok_or_else(|| "write a percentage, for example 3%".to_owned())
}

fn confidence(text: &str) -> Result<f64, String> {
    let share = share(text).filter(|share| (0.5..1.0).contains(share));
    share.ok_or_else(|| "write a percentage from 50% to below 100%, for example 95%".to_owned())
}

fn share(text: &str) -> Option<f64> {
    text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok().map(|percent| percent / 100.0)
}
