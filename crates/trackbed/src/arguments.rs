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
/// exact and repeatable virtual time, and compares their speed with confidence intervals.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_help = EXIT_STATUS)]
pub struct Arguments {
    /// Print only errors to standard error
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// The command line with all of its help.
    pub fn described() -> clap::Command {
        help::flowing(Arguments::command())
    }

    /// Parses the arguments of this process.
    ///
    /// # Errors
    /// If they are invalid, or ask for help or the version.
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
    /// List scenarios, protocols, links, workloads, metrics and more
    List(ListArguments),
    /// Run a scenario and print a comparison
    #[command(after_long_help = run::EXAMPLES)]
    Run(RunArguments),
    /// Repeat one run of a run directory, and write its packets, TLS keys and qlog traces
    #[command(after_long_help = replay::EXAMPLES)]
    Replay(ReplayArguments),
    /// Run a scenario in virtual time and on the kernel, and check that the two agree
    #[command(after_long_help = agree::EXAMPLES)]
    Agree(AgreeArguments),
    /// Write an HTML report with figures about a run directory
    #[command(after_long_help = report::EXAMPLES)]
    Report(ReportArguments),
    /// Export a table of a run directory as CSV, JSON lines or Parquet
    #[command(after_long_help = export::EXAMPLES)]
    Export(ExportArguments),
    /// Compare two run directories: what differs, what is equivalent, what got worse
    #[command(after_long_help = compare::EXAMPLES)]
    Compare(CompareArguments),
    /// Show what a scenario would run, or print a job for a cluster that runs it in shards
    #[command(after_long_help = plan::EXAMPLES)]
    Plan(PlanArguments),
    /// Merge several run directories, such as the shards of a campaign, into one
    #[command(after_long_help = merge::EXAMPLES)]
    Merge(MergeArguments),
    /// Copy a run directory, or the directories of shards, from an object store
    #[command(after_long_help = fetch::EXAMPLES)]
    Fetch(FetchArguments),
    /// Repeat a random sample of a run directory's runs and compare the results
    #[command(after_long_help = verify_results::EXAMPLES)]
    VerifyResults(VerifyResultsArguments),
    /// Rank the configurations of a run directory that meet a need, and explain why
    #[command(after_long_help = advise::EXAMPLES)]
    Advise(AdviseArguments),
    /// Build, show and merge tables of where a train's handovers are expected
    Handover(HandoverArguments),
    /// Measure object detection on this machine, by an ONNX model or any program
    #[command(after_long_help = infer::EXAMPLES)]
    Infer(InferArguments),
    /// Measure how many V2X signatures per second this machine can verify
    #[command(after_long_help = verify::EXAMPLES)]
    Verify(VerifyArguments),
    /// Calibrate the model of a device from runs on a real one
    #[command(after_long_help = calibrate::EXAMPLES)]
    Calibrate(CalibrateArguments),
    /// Show second by second what this machine and chosen processes use
    #[command(after_long_help = monitor::EXAMPLES)]
    Monitor(MonitorArguments),
    /// Run a program behind an emulated link
    #[command(after_long_help = link::EXAMPLES)]
    Link(LinkArguments),
    /// Steer MPTCP away from operators before their handovers (daemon for a train's router)
    #[command(after_long_help = phad::EXAMPLES)]
    Phad(PhadArguments),
    /// Relay plain TCP over Multipath TCP (for a train's router)
    #[command(after_long_help = relay::EXAMPLES)]
    Relay(RelayArguments),
    /// Serve runs of `trackbed run --substrate live` from another machine
    #[command(after_long_help = serve::EXAMPLES)]
    Serve(ServeArguments),
    /// Decode signed V2X messages and certificates to JSON
    V2x(V2xArguments),
    /// Run a paper's scenario and compare its figures and claims with the results
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
    fn the_arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
