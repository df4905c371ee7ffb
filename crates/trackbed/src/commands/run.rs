//! `trackbed run`

use anyhow::bail;
use clap::Args;
use trackbed_report::papers;

use super::campaign::{Finished, remote};
use super::{campaign, report};
use crate::ending::Ending;
use crate::options::RunOptions;
use crate::output::{self, tell};

const EXAMPLES: &str = "\
Examples:
  trackbed run vru                                   the unchanged scenario
  trackbed run vru --set link.loss=0 --set link.delay=20ms
  trackbed run bulk --set link.loss=0,0.01%,0.1%     a sweep of the packet loss
  trackbed run vru --set protocol=quic,http3 --set workload.phones=100 --runs 10
  trackbed run my.toml --out results --json > results.json
  trackbed run vru --set link.loss=1% --until 'completion_ms 2%' --runs-max 5000
  trackbed run my.toml --until 'p99 rtt < 30 ms decided'
  trackbed run my.toml --runs 1000 --out big --shard 1/2     half of it (see trackbed merge)
  trackbed run vru --substrate emulated --runs 10    on the kernel, in real time
  trackbed run vru --quick --substrate emulated --set protocol=http2 --set server=trackbed,nginx

A setting with several values becomes an axis. Each combination of values is a cell. Run k of every cell
has the same losses and delays, so differences between cells are paired by run. Intervals are 95 %
confidence intervals of the mean over runs.

The run directory contains
  about.json   the command, the settings and the scenario's text, enough to repeat everything
  runs.jsonl   the result of each run, written as soon as it ends, and sorted at the end
  run.json     the document that --json prints, updated about every second
  samples.csv  every sample of every metric

Ctrl-C or SIGTERM keeps the finished runs; the same command with the same --out continues.";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
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
