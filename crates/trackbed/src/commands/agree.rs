//! `trackbed agree`

use std::path::PathBuf;

use trackbed_lab::agreement;
use trackbed_measure::results::AgreementVerdict;
use trackbed_report::agreement as table;

use super::campaign::{self, Finished};
use crate::Verdict;
use crate::arguments::{AgreeArguments, RunOptions, SubstrateArgument};
use crate::output::{self, shell_word, tell};

/// Runs a scenario on both substrates and says how far they agree.
///
/// # Errors
/// If the scenario is not valid, results cannot be written, or the machine allows no namespaces.
pub fn execute(arguments: &AgreeArguments) -> anyhow::Result<Verdict> {
    let out = arguments.options.out.clone();
    let out = out.unwrap_or_else(|| PathBuf::from("trackbed-out").join("agree"));
    let run = |substrate, name: &str| -> anyhow::Result<Finished> {
        let substrate = Some(substrate);
        let options =
            RunOptions { substrate, out: Some(out.join(name)), ..arguments.options.clone() };
        campaign::execute(&arguments.scenario, &options)
    };
    campaign::refuse_what_needs_the_kernel(&arguments.scenario, &arguments.options)?;
    // Namespaces first: the kernel gives them to a process that has never had a second thread.
    let emulated = run(SubstrateArgument::Emulated, "emulated")?;
    let virtually = run(SubstrateArgument::Virtual, "virtual")?;
    let cells = agreement::compare(&emulated.plan, &virtually.runs()?, &emulated.runs()?);
    if arguments.options.json {
        output::print_json(&serde_json::json!({
            "trackbed": emulated.document.trackbed,
            "scenario": emulated.document.scenario,
            "seed": emulated.document.seed,
            "runs": emulated.document.runs,
            "environment": emulated.document.environment,
            "cells": cells,
        }))?;
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
        true => Verdict::Interrupted,
        false if different => Verdict::CheckFailed,
        false => Verdict::Success,
    })
}
