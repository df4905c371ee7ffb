//! `trackbed agree`

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use trackbed_analysis::agreement;
use trackbed_measure::agreement::{AgreementDocument, AgreementVerdict};
use trackbed_measure::results::{Document, SCHEMA};
use trackbed_report::agreement as table;

use super::campaign::{self, Finished};
use crate::ending::Ending;
use crate::options::{RunOptions, SubstrateArgument};
use crate::output::{self, shell_word, tell};

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed agree vru --set link.delay=50ms
  trackbed agree bulk --set protocol=tcp,quic --set workload.size=1MB --runs 20

Each cell's mean completion on the emulated substrate is divided by that in virtual time. Where the
90 % interval of the ratio lies within the margin (3 % for QUIC, whose code is the same on both; 10 %
for TCP, where one side is the kernel's), both one-sided tests at 5 % say that it is. Exit status 1
if a cell is beyond its margin.";

/// What to compare.
#[derive(Debug, Args)]
pub struct AgreeArguments {
    /// A built-in scenario or the path of a scenario file
    pub scenario: String,
    #[command(flatten)]
    /// What to change in the scenario, and where results go.
    pub options: RunOptions,
}

/// Runs a scenario on both substrates and says how far they agree.
///
/// # Errors
/// If the scenario is not valid, results cannot be written, or the machine allows no namespaces.
pub fn execute(arguments: &AgreeArguments) -> anyhow::Result<Ending> {
    if arguments.options.substrate.is_some() || arguments.options.server.is_some() {
        bail!(
            "agree runs a scenario in virtual time and on the kernel, and nowhere else\n  help: \
               leave --substrate and --server away"
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
    // Namespaces first: the kernel gives them to a process that has never had a second thread.
    let emulated = run(SubstrateArgument::Emulated, "emulated")?;
    let virtually = run(SubstrateArgument::Virtual, "virtual")?;
    let cells = agreement::compare(&emulated.plan, &virtually.runs()?, &emulated.runs()?);
    if arguments.options.json {
        let Document { trackbed, scenario, seed, runs, environment, .. } = &emulated.document;
        output::print_json(&serde_json::to_value(AgreementDocument {
            schema: SCHEMA,
            trackbed: trackbed.clone(),
            scenario: scenario.clone(),
            seed: *seed,
            runs: *runs,
            environment: environment.clone(),
            cells: cells.clone(),
        })?)?;
    } else {
        output::print(&table::render(&cells))?;
    }
    let invalid: u32 = emulated.document.cells.iter().map(|cell| cell.invalid).sum();
    if invalid > 0 {
        tell(format_args!("{invalid} runs are left out: this machine did not keep up with them"));
    }
    tell(format_args!("results: {}", shell_word(&out)));
    let different = cells.iter().any(|cell| cell.verdict == AgreementVerdict::Different);
    Ok(match emulated.interrupted || virtually.interrupted {
        true => Ending::Interrupted,
        false if different => Ending::CheckFailed,
        false => Ending::Success,
    })
}
