//! `trackbed compare`

use std::path::PathBuf;

use clap::Args;
use trackbed_analysis::compare::{self, Question};
use trackbed_report::contrast;

use crate::ending::Ending;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  trackbed compare before after
  trackbed compare before after --metric rtt_ms --metric throughput_mbps
  trackbed compare baseline today --no-worse-than 3% && echo ship it

Cells are matched by their factors. If the seeds are equal, runs are compared in pairs, because run k of
both had the same losses; otherwise as independent runs. The given confidence applies to all comparisons
together (Holm). Equivalent means shown to be within the margin (two one-sided tests). Undecided means
that more runs are needed: add --runs.

Lower times and higher rates are better. Exit status: 0 nothing is worse; 1 a cell is shown to be worse by
more than the margin, fails more often, is missing, or with --no-worse-than is not shown to be no worse;
2 bad input.";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The run directory to compare with (the baseline)
    pub first: PathBuf,
    /// The run directory to compare
    pub second: PathBuf,
    /// Compare METRIC; may be given several times [default: the metric by which cells are ranked]
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// Ignore differences of up to PERCENT of the first mean
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = percentage)]
    pub margin: f64,
    /// Require proof that nothing is worse by more than PERCENT of the first mean
    #[arg(long, value_name = "PERCENT", conflicts_with = "margin", value_parser = percentage)]
    pub no_worse_than: Option<f64>,
    /// Set the confidence of all verdicts together
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = confidence)]
    pub confidence: f64,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Compares two run directories.
///
/// # Errors
/// If they cannot be read, or have nothing in common.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let question = Question {
        metrics: arguments.metrics.clone(),
        confidence: arguments.confidence,
        margin: arguments.no_worse_than.unwrap_or(arguments.margin),
    };
    let contrast = compare::compare(&arguments.first, &arguments.second, &question)?;
    output::answer(arguments.json, &contrast, || contrast::render(&contrast))?;
    let good = match arguments.no_worse_than {
        Some(_) => contrast.is_no_worse(),
        None => contrast.count_worse() == 0,
    };
    Ok(if good { Ending::Success } else { Ending::CheckFailed })
}

/// Parses a percentage.
pub(super) fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok();
    let share = number.map(|number| number / 100.0).filter(|share| (0.0..=10.0).contains(share));
    share.ok_or_else(|| "write a percentage, for example 3%".to_owned())
}

fn confidence(text: &str) -> Result<f64, String> {
    let share = percentage(text).ok().filter(|share| (0.5..1.0).contains(share));
    share.ok_or_else(|| "write a percentage from 50% to below 100%, for example 95%".to_owned())
}
