//! The command line, as clap reads it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trackbed_lab::scenario::Override;
use trackbed_lab::until::Until;

use crate::commands::advise::{self, AdviseArguments};
use crate::commands::calibrate::{self, CalibrateArguments};
use crate::commands::compare::{self, CompareArguments};
use crate::commands::export::{self, ExportArguments};
use crate::commands::fetch::{self, FetchArguments};
use crate::commands::handover::HandoverArguments;
use crate::commands::infer::{self, InferArguments};
use crate::commands::link::TimedSetting;
use crate::commands::merge::{self, MergeArguments};
use crate::commands::monitor::{self, MonitorArguments};
use crate::commands::phad::{self, PhadArguments};
use crate::commands::plan::{self, PlanArguments};
use crate::commands::relay::{self, RelayArguments};
use crate::commands::report::{self, ReportArguments};
use crate::commands::serve::{self, ServeArguments};
use crate::commands::v2x::V2xArguments;
use crate::commands::verify::{self, VerifyArguments};
use crate::commands::verify_results::{self, VerifyResultsArguments};
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

const EXIT_STATUS: &str = "\
Results go to standard output, everything else to standard error.
Exit status: 0 success, 1 a check or claim failed, 2 bad input or the tool failed, 130 interrupted.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what there is: scenarios, protocols, links, workloads, metrics and more
    List(ListArguments),
    /// Run a scenario and print what it says
    #[command(after_long_help = RUN_EXAMPLES)]
    Run(RunArguments),
    /// Repeat one run of a run directory, with packet capture, TLS keys and qlog
    #[command(after_long_help = REPLAY_EXAMPLES)]
    Replay(ReplayArguments),
    /// Run a scenario in virtual time and on the kernel, and say how far the two agree
    #[command(after_long_help = AGREE_EXAMPLES)]
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
    #[command(after_long_help = LINK_EXAMPLES)]
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
    #[command(after_long_help = PAPER_EXAMPLES)]
    Paper(PaperArguments),
}

const RUN_EXAMPLES: &str = "\
Examples:
  trackbed run vru                                   as it is
  trackbed run vru --set link.loss=0 --set link.delay=20ms
  trackbed run bulk --set link.loss=0,0.01%,0.1%     a sweep of the loss
  trackbed run vru --set protocol=quic,http3 --set workload.phones=100 --runs 10
  trackbed run my.toml --out results --json > results.json
  trackbed run vru --set link.loss=1% --until 'completion_ms 2%' --runs-max 5000
  trackbed run my.toml --runs 1000 --out big --shard 1/2     half of it (see trackbed merge)
  trackbed run vru --substrate emulated --runs 10    on the kernel, in real time
  trackbed run vru --substrate emulated --set protocol=http2 --set server=trackbed,nginx

A setting that is given several values becomes an axis: every value is run with every other, and
each combination is a cell. Run k of every cell meets the same losses and delays, so cells are
compared run by run. Intervals are 95 % intervals of the mean over runs.

The run directory holds
  about.json   the command, the settings and the scenario's text: enough to repeat everything
  runs.jsonl   the result of each run, written as soon as it is over; in the end in order
  run.json     the document that --json prints; renewed about every second
  samples.csv  every sample of every metric

Ctrl-C keeps the runs that are done; the same command with the same --out continues them.";

const REPLAY_EXAMPLES: &str = "\
Example:
  trackbed replay trackbed-out/vru 3 17
  wireshark trackbed-out/vru/replay/cell-3-run-17/phone.pcapng

What is written:
  phone.pcapng     packets at the phones' end of the shared link, with the TLS keys in the file
  server.pcapng    the same at the server's end
  dropped.pcapng   packets that the link lost, each with the reason
  tls-keys.log     the TLS keys once more, in the SSLKEYLOGFILE format
  *.sqlog          a qlog trace of each QUIC connection, for qvis

The run is the same to the nanosecond as the first time, and is held against what the directory
has of it; exit status 2 if it is not the same.";

const AGREE_EXAMPLES: &str = "\
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

const LINK_EXAMPLES: &str = "\
Examples:
  trackbed link --rate 50mbit --delay 10ms --loss 0.3% -- curl https://example.org/
  trackbed link --delay 30ms -- curl http://100.64.0.1:8000/   a server on this machine
  trackbed link --delay 40ms --up rate=5mbit --down rate=50mbit -- chromium
  trackbed link --set 'delay={ normal = { mean = \"20 ms\", deviation = \"5 ms\" } }'
  trackbed link --rate 10mbit --at '30s rate=1mbit' --at '60s rate=10mbit' -- ./my-player
  trackbed link --delay 5ms -- trackbed link --rate 8mbit --queue 64kB -- ping -c 3 100.64.0.1

The command gets a network of its own (Linux network namespaces; no root needed where the machine
lets users have them). Its interface \"link\" has the addresses 100.64.0.2 and fd74:7261::2; the
other end of the link is 100.64.0.1 and fd74:7261::1. Up is from the command to the outside.

From there TCP, UDP and names go on to wherever this machine gets, and pings where you may ping
(net.ipv4.ping_group_range). 100.64.0.1 and fd74:7261::1 stand for this machine's 127.0.0.1 and ::1.
A gateway dials anew for each flow, so a TCP connection over the link ends at the link's outer end.
With --isolated nothing goes on. Inside another link, that link decides.

Delays are one way and hold for each direction. A rate counts IP packets; packets wait for it in a
queue of 100 packets unless --queue says otherwise. Everything that a scenario's [link] takes goes
with --set, --up and --down: see `trackbed list links` and `trackbed list keys`.

Exit status: that of the command, or 128 + n if signal n ended it; 125 if the link failed, 126 or 127
if the command could not be run. Everything that the command has started ends with it.";

/// What to put behind which link.
#[derive(Debug, Args)]
pub struct LinkArguments {
    /// Rate of both directions, for example 50mbit
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,
    /// Delay of each direction, one way, for example 10ms
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,
    /// Share of packets lost at random, in each direction, for example 0.3%
    #[arg(long, value_name = "SHARE")]
    pub loss: Option<String>,
    /// Queue in front of the rate, for example "100 packets", 64kB or codel
    #[arg(long, value_name = "QUEUE")]
    pub queue: Option<String>,
    /// Set any key of a link for both directions; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<Override>,
    /// Set a key for the way from the command to the outside
    #[arg(long, value_name = "KEY=VALUE")]
    pub up: Vec<Override>,
    /// Set a key for the way from the outside to the command
    #[arg(long, value_name = "KEY=VALUE")]
    pub down: Vec<Override>,
    /// Change rate, delay, loss or paused at a time after the start
    #[arg(long, value_name = "TIME KEY=VALUE")]
    pub at: Vec<TimedSetting>,
    /// Change them whenever this file is written: one KEY=VALUE a line
    #[arg(long, value_name = "FILE")]
    pub control: Option<PathBuf>,
    /// Let the command reach the other end of the link only, and not the network outside
    #[arg(long)]
    pub isolated: bool,
    /// Where the link's randomness comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write a line for each packet, in mahimahi's form
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Capture both ends of the link, and what it drops, as pcapng
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<PathBuf>,
    /// Say at the end what the link did, and whether this machine kept up
    #[arg(long)]
    pub summary: bool,
    /// The program and its arguments [default: your shell]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

const PAPER_EXAMPLES: &str = "\
Examples:
  trackbed paper vru
  trackbed paper vru --runs 100 --json
  trackbed paper all --page papers.md                every paper, in virtual time";

/// What to show.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// One kind only, in full
    #[arg(value_enum)]
    pub kind: Option<ListKind>,
    /// With schema: of which file
    #[arg(value_enum, requires = "kind", default_value_t = SchemaArgument::Scenario)]
    pub file: SchemaArgument,
}

/// The files that have a JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaArgument {
    /// Scenario files
    Scenario,
    /// run.json, and what `run --json` prints
    Run,
    /// A line of runs.jsonl
    Runs,
    /// about.json
    About,
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
    /// Servers of others, and whether they are installed
    Programs,
    /// Queues of a link
    Queues,
    /// Congestion controllers of TCP and QUIC
    Congestion,
    /// Schedulers of connections with several paths
    Schedulers,
    /// What is measured
    Metrics,
    /// Every key of a scenario file
    Keys,
    /// The JSON Schema of scenario files, for editors, or of a file of results
    Schema,
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

/// How to run.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A built-in scenario (see `trackbed list scenarios`) or the path of a scenario file
    pub scenario: String,
    #[command(flatten)]
    /// What to change in the scenario, and where results go.
    pub options: RunOptions,
    /// Write a page with figures too: report.html in the run directory
    #[arg(long)]
    pub report: bool,
    /// Write that page and show it in a browser
    #[arg(long)]
    pub open: bool,
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
    /// array, or auto/N in a Kubernetes job; results go to a folder of its own below --out
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

/// Which run to repeat.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The run directory
    pub directory: PathBuf,
    /// The cell's number, as it stands in the table that `run` printed
    #[arg(value_parser = number::<u32>)]
    pub cell: u32,
    /// The run's number, from 0
    #[arg(value_parser = number::<u32>)]
    pub run: u32,
    /// Where the captures go [default: DIRECTORY/replay/cell-CELL-run-RUN]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Which paper.
#[derive(Debug, Args)]
pub struct PaperArguments {
    /// The scenario that a paper's study became (see `trackbed list scenarios`), or all
    pub name: String,
    /// With all: write the claims of all papers, and what came of them, to this page (Markdown), with pictures in
    /// a folder beside it
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    /// What to change, and where results go.
    pub options: RunOptions,
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
