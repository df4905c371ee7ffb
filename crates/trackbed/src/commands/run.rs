//! `trackbed run`

use anyhow::bail;
use clap::Args;
use trackbed_report::papers;

use super::campaign::{Finished, remote};
use super::{campaign, report};
use crate::ending::Ending;
use crate::options::RunOptions;
use crate::output::{self, tell};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/run.txt"))]
pub struct Arguments {
    /// A built-in scenario (see `trackbed list scenarios`) or the path of a scenario file
    pub scenario: String,
    #[command(flatten)]
    pub options: RunOptions,
    /// Write a report with figures too: report.html in the run directory
    #[arg(long)]
    pub report: bool,
    /// Write that report and open it in a browser
    #[arg(long)]
    pub open: bool,
}

/// Runs a scenario and prints the results.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let is_elsewhere = arguments.options.out.as_deref().and_then(remote::address).is_some();
    if arguments.open && is_elsewhere {
        bail!("--open cannot open a report in an object store; use --report, then trackbed fetch");
    }
    let mut finished = campaign::execute(&arguments.scenario, &arguments.options)?;
    if arguments.report || arguments.open {
        let path = report::write(finished.directory.path(), None)?;
        if arguments.open {
            report::open(&path);
        }
    }
    let is_json = arguments.options.json;
    warn_of_stranded_senders(&finished);
    let text = match is_json {
        true => output::json(&finished.document)?,
        false => tables(&finished, arguments)?,
    };
    finished.keep_and_print(&text)?;
    finished.tell_where(is_json);
    Ok(finished.ending())
}

/// The tables of the results, and the comparison with the scenario's paper.
fn tables(finished: &Finished, arguments: &Arguments) -> anyhow::Result<String> {
    let mut text = finished.tables(arguments.options.verbose);
    if let Some(name) = finished.plan.paper.as_deref()
        && let Some(held) = finished.held(name)?
    {
        let conclusion = papers::conclusion(&held);
        let beside = papers::beside(&held, output::width().unwrap_or(100));
        if !beside.is_empty() {
            text.push_str(&format!("\n{beside}"));
        }
        text.push_str(&format!("\n{conclusion} Each of them: trackbed paper {name}\n"));
        finished.tell_changed(&arguments.options);
    }
    Ok(text)
}

/// Warns if runs failed on links whose loss model can strand a sender.
fn warn_of_stranded_senders(finished: &Finished) {
    let cells = finished.document.cells.iter().zip(&finished.plan.cells);
    let failed =
        cells.filter(|(_, cell)| cell.network.waits_for_packets()).map(|(cell, _)| cell.failed);
    let failed: u32 = failed.sum();
    if failed > 0 {
        tell(format_args!(
            "warning: {failed} runs failed on a link with gilbert-elliott loss by p and r. That chain \
             changes its state only with packets, so a sender that backs off can meet the bad state for \
             minutes. Use good and bad, which are times: trackbed list keys link.loss"
        ));
    }
}
