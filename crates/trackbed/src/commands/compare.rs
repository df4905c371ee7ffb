//! `trackbed compare`

use std::path::PathBuf;

use clap::Args;
use trackbed_analysis::compare::{self, Question};
use trackbed_report::contrast;

use crate::ending::Ending;
use crate::output;

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed compare before after
  trackbed compare before after --metric rtt_ms --metric throughput_mbps
  trackbed compare baseline today --no-worse-than 3% && echo ship it

Cells are matched by their factors. With the same seed, run k of both met the same misfortunes, and they
are compared run by run; otherwise as independent runs. Verdicts hold for all comparisons together at the
given confidence (Holm). Equivalent means shown to be within the margin (two one-sided tests); undecided,
that these runs do not tell: add --runs.

Times are better if lower, rates if higher. Exit status: 0 nothing is worse; 1 something is shown to be
worse by more than the margin, or fails more often, or with --no-worse-than is not shown to be no worse,
or is missing; 2 bad input.";

/// What to compare.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The run directory that is compared with
    pub first: PathBuf,
    /// The run directory that is compared
    pub second: PathBuf,
    /// What is compared; may be given several times [default: what the cells are ranked by]
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// What does not matter, as a percentage of the first mean
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = percentage)]
    pub margin: f64,
    /// Demand proof that nothing is worse by more than so much
    #[arg(long, value_name = "PERCENT", conflicts_with = "margin", value_parser = percentage)]
    pub no_worse_than: Option<f64>,
    /// How sure verdicts are to be
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = confidence)]
    pub confidence: f64,
    /// Print one JSON document in place of tables
    #[arg(long)]
    pub json: bool,
}

/// Compares two run directories.
///
/// # Errors
/// If they cannot be read, or have nothing in common.
pub fn execute(arguments: &CompareArguments) -> anyhow::Result<Ending> {
    let question = Question {
        metrics: arguments.metrics.clone(),
        confidence: arguments.confidence,
        margin: arguments.no_worse_than.unwrap_or(arguments.margin),
    };
    let contrast = compare::compare(&arguments.first, &arguments.second, &question)?;
    if arguments.json {
        output::print_json(&serde_json::to_value(&contrast)?)?;
    } else {
        output::print(&contrast::render(&contrast))?;
    }
    let good = match arguments.no_worse_than {
        Some(_) => contrast.is_no_worse(),
        None => contrast.count_worse() == 0,
    };
    Ok(if good { Ending::Success } else { Ending::CheckFailed })
}

/// A share, written as a percentage.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok();
    let share = number.map(|number| number / 100.0).filter(|share| (0.0..=10.0).contains(share));
    share.ok_or_else(|| "write a percentage, for example 3%".to_owned())
}

fn confidence(text: &str) -> Result<f64, String> {
    let share = percentage(text).ok().filter(|share| (0.5..1.0).contains(share));
    share.ok_or_else(|| "write a percentage from 50% to below 100%, for example 95%".to_owned())
}
