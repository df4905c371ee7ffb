//! The command line, as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trackbed_lab::scenario::Override;

/// A test track for transport and security protocols on the move.
///
/// Runs real protocol stacks (TLS, QUIC, HTTP/2, HTTP/3, TCP) through lossy, changing links in
/// exact and repeatable virtual time, and says with intervals which way of sending is fastest.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_help = EXIT_STATUS)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_STATUS: &str = "\
Results go to standard output, everything else to standard error.
Exit status: 0 success, 1 a check or claim failed, 2 bad input or the tool failed, 130 interrupted.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what there is: scenarios, protocols, links, workloads, congestion controllers, metrics
    List(ListArguments),
    /// Run a scenario and print what it says
    #[command(after_long_help = RUN_EXAMPLES)]
    Run(RunArguments),
    /// Repeat one run of a run directory, with packet capture, TLS keys and qlog
    #[command(after_long_help = REPLAY_EXAMPLES)]
    Replay(ReplayArguments),
    /// Run a paper's scenario and hold its figures and claims against ours
    #[command(after_long_help = PAPER_EXAMPLES)]
    Paper(PaperArguments),
}

const RUN_EXAMPLES: &str = "\
Examples:
  trackbed run vru
  trackbed run vru --set link.loss=0 --set link.delay=5ms
  trackbed run vru --set protocol=quic,http3 --set workload.phones=100 --runs 10
  trackbed run my.toml --out results --json > results.json

A setting that is given several values becomes an axis: every value is run with every other.
Ctrl-C keeps the runs that are done; the same command with the same --out continues them.";

const REPLAY_EXAMPLES: &str = "\
Example:
  trackbed replay trackbed-out/vru 3 17
  wireshark trackbed-out/vru/replay/cell-3-run-17/capture.pcapng";

const PAPER_EXAMPLES: &str = "\
Examples:
  trackbed paper vru
  trackbed paper vru --runs 100 --json";

/// What to show.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// One kind only, in full
    #[arg(value_enum)]
    pub kind: Option<ListKind>,
}

/// The kinds of things that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListKind {
    /// Built-in scenarios
    Scenarios,
    /// Protocols and what each can do
    Protocols,
    /// Link models and their parameters
    Links,
    /// Workloads and their parameters
    Workloads,
    /// Congestion controllers of the TCP engine
    Congestion,
    /// What is measured
    Metrics,
    /// Every key of a scenario file
    Keys,
}

/// Where the runs happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SubstrateArgument {
    /// Real protocol stacks in virtual time; needs no privileges
    Virtual,
}

/// How to run.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A built-in scenario (see `trackbed list scenarios`) or the path of a scenario file
    pub scenario: String,
    /// Where the runs happen
    #[arg(long, value_enum, default_value = "virtual")]
    pub substrate: SubstrateArgument,
    #[command(flatten)]
    /// What to change in the scenario, and where results go.
    pub options: RunOptions,
}

/// What `run` and `paper` share.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Runs of each cell, in place of the scenario's number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Root seed, in place of the scenario's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Set a key of the scenario; may be given several times (see `trackbed list keys`)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<Override>,
    /// Runs at the same time; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Run directory; what it already holds of these very runs is kept [default:
    /// trackbed-out/SCENARIO, begun anew]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document in place of tables
    #[arg(long)]
    pub json: bool,
}

/// Which run to repeat.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The run directory
    pub directory: PathBuf,
    /// The cell's number, from 0, in the order of the table that `run` printed
    pub cell: u32,
    /// The run's number, from 0
    pub run: u32,
    /// Where the captures go [default: DIRECTORY/replay/cell-CELL-run-RUN]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Which paper.
#[derive(Debug, Args)]
pub struct PaperArguments {
    /// The scenario that a paper's study became (see `trackbed list scenarios`)
    pub name: String,
    #[command(flatten)]
    /// What to change, and where results go.
    pub options: RunOptions,
}
