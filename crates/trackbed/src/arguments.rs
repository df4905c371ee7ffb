//! The command line, as clap reads it.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use trackbed_lab::campaign::until::Until;
use trackbed_scenario::Override;

use crate::commands::advise::{self, AdviseArguments};
use crate::commands::agree::{self, AgreeArguments};
use crate::commands::calibrate::{self, CalibrateArguments};
use crate::commands::compare::{self, CompareArguments};
use crate::commands::export::{self, ExportArguments};
use crate::commands::fetch::{self, FetchArguments};
use crate::commands::handover::HandoverArguments;
use crate::commands::infer::{self, InferArguments};
use crate::commands::link::{self, LinkArguments};
use crate::commands::list::ListArguments;
use crate::commands::merge::{self, MergeArguments};
use crate::commands::monitor::{self, MonitorArguments};
use crate::commands::paper::{self, PaperArguments};
use crate::commands::phad::{self, PhadArguments};
use crate::commands::plan::{self, PlanArguments};
use crate::commands::relay::{self, RelayArguments};
use crate::commands::replay::{self, ReplayArguments};
use crate::commands::report::{self, ReportArguments};
use crate::commands::run::{self, RunArguments};
use crate::commands::serve::{self, ServeArguments};
use crate::commands::v2x::V2xArguments;
use crate::commands::verify::{self, VerifyArguments};
use crate::commands::verify_results::{self, VerifyResultsArguments};
use crate::help;
use crate::shard::ShardArgument;

/// A test track for transport and security protocols on the move.
///
/// Runs real protocol stacks (TLS, QUIC, HTTP/2, HTTP/3, TCP) through lossy, changing links in
/// exact and repeatable virtual time, and says with intervals which way of sending is fastest.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_help = EXIT_STATUS)]
pub struct Arguments {
    /// Say nothing on standard error but what went wrong
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// What this process was started with.
    ///
    /// # Errors
    /// If that is not understood, or asks for help or the version.
    pub fn of_this_process() -> Result<Arguments, clap::Error> {
        let mut command = help::flowing(Arguments::command());
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Arguments::from_arg_matches(&matches).map_err(|why| why.format(&mut command))
    }
}

const EXIT_STATUS: &str = "\
Results go to standard output, everything else to standard error.
Exit status: 0 success, 1 a check or claim failed, 2 bad input or the tool failed, 130 interrupted.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what there is: scenarios, protocols, links, workloads, metrics and more
    List(ListArguments),
    /// Run a scenario and print what it says
    #[command(after_long_help = run::EXAMPLES)]
    Run(RunArguments),
    /// Repeat one run of a run directory, with packet capture, TLS keys and qlog
    #[command(after_long_help = replay::EXAMPLES)]
    Replay(ReplayArguments),
    /// Run a scenario in virtual time and on the kernel, and say how far the two agree
    #[command(after_long_help = agree::EXAMPLES)]
    Agree(AgreeArguments),
    /// Write one page about a run directory, with figures, for any browser
    #[command(after_long_help = report::EXAMPLES)]
    Report(ReportArguments),
    /// Write a table of a run directory for other programs: CSV, JSON line by line, or Parquet
    #[command(after_long_help = export::EXAMPLES)]
    Export(ExportArguments),
    /// Hold one run directory against another: what differs, what is the same, what got worse
    #[command(after_long_help = compare::EXAMPLES)]
    Compare(CompareArguments),
    /// Show what a scenario would run, or print a job for a cluster that runs it in shards
    #[command(after_long_help = plan::EXAMPLES)]
    Plan(PlanArguments),
    /// Make one run directory of several, such as the shards of a campaign
    #[command(after_long_help = merge::EXAMPLES)]
    Merge(MergeArguments),
    /// Copy a run directory, or those of shards, from an object store
    #[command(after_long_help = fetch::EXAMPLES)]
    Fetch(FetchArguments),
    /// Execute a sample of a run directory's runs again and hold it against what is there
    #[command(after_long_help = verify_results::EXAMPLES)]
    VerifyResults(VerifyResultsArguments),
    /// Say which configurations of a run directory meet a need, ranked, and why
    #[command(after_long_help = advise::EXAMPLES)]
    Advise(AdviseArguments),
    /// Build, show and merge tables of where a train's handovers are to be expected
    Handover(HandoverArguments),
    /// Time object detection on this machine: a model by ONNX Runtime, or any program
    #[command(after_long_help = infer::EXAMPLES)]
    Infer(InferArguments),
    /// Say how many signatures of vehicles this machine verifies
    #[command(after_long_help = verify::EXAMPLES)]
    Verify(VerifyArguments),
    /// Write what the model of a device takes in virtual time, from runs on a real one
    #[command(after_long_help = calibrate::EXAMPLES)]
    Calibrate(CalibrateArguments),
    /// Show what this machine and processes of it use, second by second
    #[command(after_long_help = monitor::EXAMPLES)]
    Monitor(MonitorArguments),
    /// Run any program behind an emulated link
    #[command(after_long_help = link::EXAMPLES)]
    Link(LinkArguments),
    /// Keep MPTCP off operators that are about to hand over: the daemon for a train's router
    #[command(after_long_help = phad::EXAMPLES)]
    Phad(PhadArguments),
    /// Take plain TCP in and send it on by Multipath TCP: the relay for a train's router
    #[command(after_long_help = relay::EXAMPLES)]
    Relay(RelayArguments),
    /// Be the other machine of `run --substrate live`
    #[command(after_long_help = serve::EXAMPLES)]
    Serve(ServeArguments),
    /// Show what vehicles have sent: signed messages and certificates, as JSON
    V2x(V2xArguments),
    /// Run a paper's scenario and hold its figures and claims against ours
    #[command(after_long_help = paper::EXAMPLES)]
    Paper(PaperArguments),
}

/// Where the runs happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SubstrateArgument {
    /// Real protocol stacks in virtual time; needs no privileges
    Virtual,
    /// The Linux kernel's TCP and real processes in network namespaces, joined by the same links
    /// in real time; needs no root where users may have namespaces
    Emulated,
    /// The network between this machine and one on which `trackbed serve` runs (--server, --ticket)
    Live,
}

/// What `run`, `paper` and `agree` share.
#[derive(Clone, Debug, Args)]
pub struct RunOptions {
    /// Where the runs happen [default: where the scenario is at home, mostly virtual]
    #[arg(long, value_enum)]
    pub substrate: Option<SubstrateArgument>,
    /// The machine on which `trackbed serve` runs (live substrate)
    #[arg(long, value_name = "HOST[:PORT]", required_if_eq("substrate", "live"))]
    pub server: Option<String>,
    /// The file that `trackbed serve` has written there (live substrate)
    #[arg(long, value_name = "FILE", default_value = "trackbed-ticket.json")]
    pub ticket: PathBuf,
    /// Count the runs too in which this machine did not keep up (emulated substrate)
    #[arg(long)]
    pub keep_invalid: bool,
    /// Runs of each cell, in place of the scenario's number
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub runs: Option<u32>,
    /// Run each cell until the 95 % interval of a metric reaches no farther than so much to either side:
    /// [mean | median | pNN] METRIC PRECISION, for example "completion_ms 2%" or "p95 rtt_ms 0.5";
    /// --runs is where it begins, and exit status 1 says that a cell did not get there
    #[arg(long, value_name = "PRECISION", conflicts_with = "shard")]
    pub until: Option<Until>,
    /// With --until, runs that no cell may exceed
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count)]
    pub runs_max: u32,
    /// Root seed, in place of the scenario's; the same seed gives the same results
    #[arg(long, value_name = "N", value_parser = number::<u64>, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// The scenario's quick form: smaller and fewer, for a first look
    #[arg(long)]
    pub quick: bool,
    /// Run this part of the scenario only; may be given several times
    #[arg(long = "part", value_name = "NAME")]
    pub parts: Vec<String>,
    /// Set a key of the scenario; may be given several times (see `trackbed list keys`)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<Override>,
    /// Runs at the same time [default: all cores in virtual time, where results do not depend on it;
    /// one in real time]
    #[arg(long, value_name = "N", value_parser = jobs, allow_negative_numbers = true)]
    pub jobs: Option<u32>,
    /// Run directory; results of these very runs that it holds are kept, and only what is missing
    /// is run; also in an object store, s3://BUCKET/FOLDER, gs:// or az:// (see trackbed fetch)
    /// [default: trackbed-out/SCENARIO, begun anew]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Do only this share of the runs, for several machines: I/N from 1/N to N/N, or auto in a Slurm
    /// array, or auto/N in a Kubernetes job; results go to a folder of its own below --out, and exit status
    /// 0 says that the share is done, whatever came of the runs (see trackbed merge)
    #[arg(long, value_name = "I/N", requires = "out")]
    pub shard: Option<ShardArgument>,
    /// Print one JSON document in place of tables
    #[arg(long)]
    pub json: bool,
    /// Show results on a terminal while they come in; in a pipe, how far it has come
    #[arg(long, conflicts_with = "quiet")]
    pub watch: bool,
    /// Print every metric and every check too
    #[arg(short, long, conflicts_with = "json")]
    pub verbose: bool,
}

pub(crate) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "write a whole number from 0 on".to_owned())
}

pub(crate) fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number from 1 on".to_owned()),
        Ok(count) => Ok(count),
    }
}

pub(crate) fn jobs(text: &str) -> Result<u32, String> {
    count(text).ok().filter(|jobs| *jobs <= JOBS_MAX).ok_or_else(|| {
        format!(
            "write a whole number from 1 to {JOBS_MAX}; more than there are cores gains nothing"
        )
    })
}

const JOBS_MAX: u32 = 1024;

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_contradict_one_another_nowhere() {
        super::Arguments::command().debug_assert();
    }
}
