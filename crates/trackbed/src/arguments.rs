//! The command line, as clap reads it.

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::commands::{
    advise, agree, calibrate, check, compare, completions, doctor, drive, drops, export, fetch,
    figure, fit, handover, infer, link, list, merge, monitor, pack, paper, phad, plan, relay,
    replay, report, run, serve, v2x, verify, verify_results,
};
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
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// The command line with all of its help.
    pub fn described() -> clap::Command {
        help::flowing(Arguments::command())
    }

    /// Parses the arguments of this process.
    pub fn of_this_process() -> Result<Arguments, clap::Error> {
        let mut command = Arguments::described();
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Arguments::from_arg_matches(&matches).map_err(|why| why.format(&mut command))
    }
}

const EXIT_STATUS: &str = "\
Results go to standard output, everything else to standard error.
Exit status: 0 success, 1 a check or claim failed, 2 bad input or the tool failed,
3 too few runs for a verdict (compare), 130 interrupted.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List scenarios, protocols, links, workloads, metrics and more
    List(list::Arguments),
    /// Run a scenario and print a comparison
    Run(run::Arguments),
    /// Say what input files are taken for, what is read of them, and what is wrong with them
    Check(check::Arguments),
    /// Repeat one run of a run directory, and write its packets, TLS keys and qlog traces
    Replay(replay::Arguments),
    /// Lose every packet of an exchange, one at a time, and judge the recovery by the standards
    Drops(drops::Arguments),
    /// Search a scenario's keys for settings whose runs give wanted figures
    Fit(fit::Arguments),
    /// Run a scenario in virtual time and on the kernel, and check that the two agree
    Agree(agree::Arguments),
    /// Write an HTML report with figures about a run directory
    Report(report::Arguments),
    /// Export a table of a run directory as CSV, JSON lines, Parquet, Markdown or LaTeX
    Export(export::Arguments),
    /// Draw a figure of a run directory for a paper, as PDF or SVG, and print its caption
    Figure(figure::Arguments),
    /// Compare two run directories: what differs, what is equivalent, what got worse
    Compare(compare::Arguments),
    /// Show what a scenario would run, or print a job for a cluster that runs it in shards
    Plan(plan::Arguments),
    /// Merge several run directories, such as the shards of a campaign, into one
    Merge(merge::Arguments),
    /// Copy a run directory, or the directories of shards, from an object store
    Fetch(fetch::Arguments),
    /// Pack a run directory and the files that its scenario reads, so that others can repeat it
    Pack(pack::Arguments),
    /// Repeat a random sample of a run directory's runs and compare the results
    VerifyResults(verify_results::Arguments),
    /// Rank the configurations of a run directory that meet a need, and explain why
    Advise(advise::Arguments),
    /// Turn logs of a real train into a drive that a scenario replays, and show it
    Drive(drive::Arguments),
    /// Build, show and merge tables of where a train's handovers are expected
    Handover(handover::Arguments),
    /// Measure object detection on this machine, by an ONNX model or any program
    Infer(infer::Arguments),
    /// Measure how many V2X signatures per second this machine can verify
    Verify(verify::Arguments),
    /// Calibrate the model of a device from runs on a real one
    Calibrate(calibrate::Arguments),
    /// Show second by second what this machine and chosen processes use
    Monitor(monitor::Arguments),
    /// Run a program behind an emulated link
    Link(link::Arguments),
    /// Steer MPTCP away from operators before their handovers (daemon for a train's router)
    Phad(phad::Arguments),
    /// Relay plain TCP over Multipath TCP (for a train's router)
    Relay(relay::Arguments),
    /// Serve runs of `trackbed run --substrate live` from another machine
    Serve(serve::Arguments),
    /// Decode signed V2X messages and certificates to JSON
    V2x(v2x::Arguments),
    /// Run a paper's scenario and compare its figures and claims with the results
    Paper(paper::Arguments),
    /// Show what this machine can do, and how to get the rest
    Doctor(doctor::Arguments),
    /// Print a script that completes commands and options in a shell
    Completions(completions::Arguments),
    /// Write manual pages, one for each command
    Man(completions::ManArguments),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
