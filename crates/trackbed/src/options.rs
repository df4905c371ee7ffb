//! Options that several commands share.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use trackbed_lab::campaign::until::Until;
use trackbed_lab::emulated::CapturedRuns;
use trackbed_measure::results::{EMULATED, LIVE, VIRTUAL};
use trackbed_scenario::{Home, Override};

use crate::shard::ShardArgument;

/// The substrates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SubstrateArgument {
    /// Real protocol stacks in virtual time; needs no privileges
    Virtual,
    /// The Linux kernel's TCP and real processes in network namespaces, joined by the same links
    /// in real time; needs no root if the system lets users create namespaces
    Emulated,
    /// The network between this machine and one on which `trackbed serve` runs (--server, --ticket)
    Live,
}

impl SubstrateArgument {
    /// The name in results and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SubstrateArgument::Virtual => VIRTUAL,
            SubstrateArgument::Emulated => EMULATED,
            SubstrateArgument::Live => LIVE,
        }
    }
}

impl From<Home> for SubstrateArgument {
    fn from(home: Home) -> SubstrateArgument {
        match home {
            Home::Virtual => SubstrateArgument::Virtual,
            Home::Emulated => SubstrateArgument::Emulated,
        }
    }
}

/// The options that `run`, `paper` and `agree` share.
#[derive(Clone, Debug, Default, Args)]
pub struct RunOptions {
    /// Choose where runs execute [default: the scenario's own substrate, usually virtual]
    #[arg(long, value_enum)]
    pub substrate: Option<SubstrateArgument>,
    /// Connect to `trackbed serve` on HOST (live substrate)
    #[arg(long, value_name = "HOST[:PORT]", required_if_eq("substrate", "live"))]
    pub server: Option<String>,
    /// Read the ticket that `trackbed serve` wrote from FILE (live substrate)
    #[arg(long, value_name = "FILE", default_value = "trackbed-ticket.json")]
    pub ticket: PathBuf,
    /// Include runs in which this machine did not keep up (emulated substrate)
    #[arg(long)]
    pub keep_invalid: bool,
    /// Capture the packets and TLS keys of RUNS in DIR/captures: failed, CELL:RUN or all (emulated
    /// substrate; repeat virtual runs with `trackbed replay`)
    #[arg(long, value_name = "RUNS", value_parser = captured)]
    pub capture: Option<CapturedRuns>,
    /// Run each cell N times [default: the scenario's number]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub runs: Option<u32>,
    /// Run each cell until the 95 % confidence interval of a metric is at most PRECISION to either side:
    /// [mean | median | pNN] METRIC PRECISION, for example "completion_ms 2%" or "p95 rtt_ms 0.5"; or until
    /// it is decided whether it meets a need (see `trackbed advise`): "p99 rtt < 30 ms decided". Starts with
    /// --runs; exits with status 1 if a cell does not reach the goal
    #[arg(long, value_name = "GOAL", conflicts_with = "shard")]
    pub until: Option<Until>,
    /// The study whose statements may need more runs than the scenario's.
    #[arg(skip)]
    pub paper: Option<String>,
    /// Whether cells go on until they are decided (`agree`), also beyond --runs.
    #[arg(skip)]
    pub until_decided: bool,
    /// Run each cell at most N times with --until
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count)]
    pub runs_max: u32,
    /// Set the root seed; the same seed gives the same results [default: the scenario's seed]
    #[arg(long, value_name = "N", value_parser = number::<u64>, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Run the scenario's quick form, with fewer and smaller cells, for a first look
    #[arg(long)]
    pub quick: bool,
    /// Run only the part NAME of the scenario; may be given several times
    #[arg(long = "part", value_name = "NAME")]
    pub parts: Vec<String>,
    /// Set KEY of the scenario to VALUE; may be given several times (see `trackbed list keys`)
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
    /// Execute N runs in parallel; in virtual time, results do not depend on N
    /// [default: the number of cores in virtual time, 1 in real time]
    #[arg(long, value_name = "N", value_parser = jobs, allow_negative_numbers = true)]
    pub jobs: Option<u32>,
    /// Write results to the run directory DIR. If it already contains results of the same command, only
    /// the missing runs are executed. DIR may be in an object store: s3://BUCKET/FOLDER, gs:// or az://
    /// (see trackbed fetch) [default: trackbed-out/SCENARIO, overwritten]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Execute only shard I of N, to spread runs over machines. Write auto in a Slurm array and auto/N in
    /// a Kubernetes job. Each shard writes to a separate folder below --out. Exit status 0 means that the
    /// shard is complete, even if runs failed (see trackbed merge)
    #[arg(long, value_name = "I/N", requires = "out")]
    pub shard: Option<ShardArgument>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Show results as they arrive; in a pipe, print progress
    #[arg(long, conflicts_with = "quiet")]
    pub watch: bool,
    /// Print every metric and every check
    #[arg(short, long, conflicts_with = "json")]
    pub verbose: bool,
}

/// Names on the command line, what help says of each, and what they stand for.
pub(crate) type Names<T> = [(&'static str, &'static str, T)];

/// Parses one of `names`.
pub(crate) fn one_of<T: Clone + Send + Sync>(
    names: &'static Names<T>,
) -> impl TypedValueParser<Value = T> {
    let values = names.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(values).try_map(|text| {
        let found = names.iter().find(|(name, ..)| *name == text);
        found.map(|(.., value)| value.clone()).ok_or("unknown name")
    })
}

fn captured(text: &str) -> Result<CapturedRuns, String> {
    let unit = |text: &str| {
        let (cell, run) = text.split_once(':')?;
        Some(CapturedRuns::One { cell: cell.parse().ok()?, run: run.parse().ok()? })
    };
    match text {
        "all" => Ok(CapturedRuns::All),
        "failed" => Ok(CapturedRuns::Failed),
        text => {
            unit(text).ok_or_else(|| "write failed, all or CELL:RUN, for example 3:17".to_owned())
        }
    }
}

pub(crate) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "write a whole number, 0 or more".to_owned())
}

pub(crate) fn count(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number, 1 or more".to_owned()),
        Ok(count) => Ok(count),
    }
}

pub(crate) fn jobs(text: &str) -> Result<u32, String> {
    count(text).ok().filter(|jobs| *jobs <= JOBS_MAX).ok_or_else(|| {
        format!(
            "write a whole number from 1 to {JOBS_MAX}; more than the number of cores gains nothing"
        )
    })
}

const JOBS_MAX: u32 = 1024;
