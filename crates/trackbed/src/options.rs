//! What several commands are told in the same words.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use trackbed_lab::campaign::until::Until;
use trackbed_scenario::Override;

use crate::shard::ShardArgument;

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
    /// Remove a key of the scenario, or a whole table such as link.up; may be given several times
    #[arg(long = "unset", value_name = "KEY", value_parser = Override::unset)]
    pub removed: Vec<Override>,
    /// Run the commands in the scenario file without asking: `server-command`, `client-command` and
    /// `command` of `[inference]`. Without this option, `trackbed` shows them and asks on a terminal, and
    /// refuses to run them elsewhere. Virtual time runs none; commands given with --set need no consent
    #[arg(long)]
    pub allow_commands: bool,
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
