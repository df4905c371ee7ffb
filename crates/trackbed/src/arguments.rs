//! The command line, as clap reads it.

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::commands::advise::{self, AdviseArguments};
use crate::commands::agree::{self, AgreeArguments};
use crate::commands::calibrate::{self, CalibrateArguments};
use crate::commands::compare::{self, CompareArguments};
use crate::commands::completions::{self, CompletionsArguments, ManArguments};
use crate::commands::doctor::{self, DoctorArguments};
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
    /// The command line with all of its help.
    pub fn described() -> clap::Command {
        help::flowing(Arguments::command())
    }

    /// What this process was started with.
    ///
    /// # Errors
    /// If that is not understood, or asks for help or the version.
    pub fn of_this_process() -> Result<Arguments, clap::Error> {
        let mut command = Arguments::described();
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
    /// Time object detection on this machine: an ONNX model, or any program
    #[command(after_long_help = infer::EXAMPLES)]
    Infer(InferArguments),
    /// Measure how many V2X signatures per second this machine can verify
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
    /// Show what this machine can do, and how to get the rest
    #[command(after_long_help = doctor::EXAMPLES)]
    Doctor(DoctorArguments),
    /// Print a script that completes commands and options in a shell
    #[command(after_long_help = completions::EXAMPLES)]
    Completions(CompletionsArguments),
    /// Write manual pages, one for each command
    Man(ManArguments),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_contradict_one_another_nowhere() {
        super::Arguments::command().debug_assert();
    }
}
