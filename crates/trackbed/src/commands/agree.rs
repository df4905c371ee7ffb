//! `trackbed agree`

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use trackbed_analysis::agreement;
use trackbed_measure::agreement::{AgreementDocument, AgreementVerdict, sentence};
use trackbed_measure::metrics;
use trackbed_measure::results::{Document, SCHEMA};
use trackbed_report::agreement as table;

use super::campaign::{self, Finished};
use crate::ending::Ending;
use crate::options::{RunOptions, SubstrateArgument};
use crate::output::{self, shell_word, tell};

/// The help after the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed agree vru --quick --set link.delay=50ms
  trackbed agree bulk --set protocol=tcp,quic --set workload.size=1MB --runs 20

For each cell, the mean of a metric on the emulated substrate is divided by that in virtual time. By default
these are the metrics of its kind of traffic: page load time; start-up, loading delay and stalls of players;
goodput of continuous flows, also around handovers; round-trip time and answers in time of messages on a
schedule; time to a verdict; or else completion time. A metric that is zero in a run has no ratio. The cell agrees if the 90 % confidence interval of the ratio is within the margin, that is, if both one-sided
tests at 5 % reject a larger difference. The margin is 3 % for QUIC, whose code is the same on both
substrates, and 10 % for TCP, where one side is the kernel's. Exit status 1 if a cell exceeds its margin.";

/// The arguments of `trackbed agree`.
#[derive(Debug, Args)]
pub struct AgreeArguments {
    /// A built-in scenario or the path of a scenario file
    pub scenario: String,
    /// Compare METRIC; may be given several times [default: those of the kind of traffic]
    #[arg(long = "metric", value_name = "METRIC", value_parser = known_metric)]
    pub metrics: Vec<String>,
    #[command(flatten)]
    /// The options of runs.
    pub options: RunOptions,
}

/// Runs a scenario on both substrates and prints how well they agree.
///
/// # Errors
/// If the scenario is invalid, results cannot be written, or the system allows no namespaces.
pub fn execute(arguments: &AgreeArguments) -> anyhow::Result<Ending> {
    if arguments.options.substrate.is_some() || arguments.options.server.is_some() {
        bail!(
            "agree always runs a scenario in virtual time and on the kernel\n  help: \
               remove --substrate and --server"
        );
    }
    let plan = campaign::planned_for_both(&arguments.scenario, &arguments.options)?;
    let folder = || PathBuf::from("trackbed-out").join(format!("{}-agree", plan.name));
    let out = arguments.options.out.clone().unwrap_or_else(folder);
    let run = |substrate, name: &str| -> anyhow::Result<Finished> {
        let substrate = Some(substrate);
        let options =
            RunOptions { substrate, out: Some(out.join(name)), ..arguments.options.clone() };
        campaign::execute(&arguments.scenario, &options)
    };
    // Emulated first: the kernel creates user namespaces only for a single-threaded process.
    let emulated = run(SubstrateArgument::Emulated, "emulated")?;
    let virtually = run(SubstrateArgument::Virtual, "virtual")?;
    let cells = agreement::compare(
        &emulated.plan,
        &virtually.runs()?,
        &emulated.runs()?,
        &arguments.metrics,
    );
    let answer = sentence(&cells);
    let interrupted = emulated.interrupted || virtually.interrupted;
    if cells.is_empty() && !interrupted {
        bail!(nothing_judged(&arguments.metrics, &out));
    }
    let all = 0..emulated.plan.cells.len() as u32;
    let left = all.filter(|index| !cells.iter().any(|cell| cell.cell == *index)).count();
    if left > 0 {
        tell(format_args!("cells without a metric above zero in runs of both substrates: {left}"));
    }
    if arguments.options.json {
        let Document { trackbed, scenario, seed, runs, environment, .. } = &emulated.document;
        output::print_json(&serde_json::to_value(AgreementDocument {
            schema: SCHEMA,
            answer,
            trackbed: trackbed.clone(),
            scenario: scenario.clone(),
            seed: *seed,
            runs: *runs,
            environment: environment.clone(),
            cells: cells.clone(),
        })?)?;
    } else {
        output::print(&table::render(&answer, &cells))?;
    }
    let invalid: u32 = emulated.document.cells.iter().map(|cell| cell.invalid).sum();
    if invalid > 0 {
        tell(format_args!("excluded runs in which this machine did not keep up: {invalid}"));
    }
    tell(format_args!("results: {}", shell_word(&out)));
    let different = cells.iter().any(|cell| cell.verdict == AgreementVerdict::Different);
    Ok(match interrupted {
        true => Ending::Interrupted,
        false if different => Ending::CheckFailed,
        false => Ending::Success,
    })
}

/// Why there is no comparison, and what to do about it.
fn nothing_judged(metrics: &[String], out: &Path) -> String {
    let what = match metrics {
        [] => "a metric by which traffic is judged".to_owned(),
        metrics => metrics.join(" or "),
    };
    format!(
        "nothing could be compared: in no cell do runs of both substrates have {what} above zero\n  help: \
         `trackbed export {} --table runs` shows what was measured; choose one with --metric",
        shell_word(&out.join("virtual"))
    )
}

/// Checks the name of a metric.
fn known_metric(name: &str) -> Result<String, String> {
    match metrics::find(name) {
        Some(_) => Ok(name.to_owned()),
        None => Err("unknown metric; `trackbed list metrics` shows all metrics".to_owned()),
    }
}
