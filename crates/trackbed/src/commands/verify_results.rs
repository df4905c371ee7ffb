//! `trackbed verify-results`

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use trackbed_archive::Recorded;
use trackbed_lab::campaign::{Execution, audit};
use trackbed_measure::results::VIRTUAL;

use crate::ending::Ending;
use crate::options::{count, jobs, number};
use crate::output::{self, shell_word, tell};
use crate::{interrupt, progress};

/// The help behind the options.
pub const EXAMPLES: &str = "\
Examples:
  trackbed verify-results results
  trackbed verify-results results --sample 1000 --draw 7

Runs that are drawn by chance are executed again and held against what the directory has of them, to
the last digit; run.json is made again from all results and held against the one that is there. So
results that came from other machines can be trusted, or not. The digest is SHA-256 over all results
in the order of cells and runs: directories with the same results have the same.

Exit status: 0 everything is as it should be, 1 something is not, 2 bad input.";

/// What to verify.
#[derive(Debug, Args)]
pub struct VerifyResultsArguments {
    /// The run directory
    pub directory: PathBuf,
    /// Runs that are executed again
    #[arg(long, value_name = "N", default_value = "30", value_parser = count)]
    pub sample: u32,
    /// Which runs are drawn: the same number draws the same ones [default: by chance]
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub draw: Option<u64>,
    /// Runs at the same time [default: all cores]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub jobs: Option<u32>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Executes a sample again and says what differs.
///
/// # Errors
/// If the directory cannot be used.
pub fn execute(arguments: &VerifyResultsArguments) -> anyhow::Result<Ending> {
    let recorded = Recorded::read(&arguments.directory)?;
    if recorded.about.substrate != VIRTUAL {
        bail!(
            "{}: these runs were {}, and real time does not come back; only virtual runs can be \
             repeated",
            arguments.directory.display(),
            recorded.about.substrate
        );
    }
    if recorded.runs.is_empty() {
        bail!("{}: holds no results yet; run its scenario first", arguments.directory.display());
    }
    // The keys of a hash map are drawn by the system, and all that is needed is that nobody knows them.
    let draw = arguments.draw.unwrap_or_else(|| RandomState::new().hash_one(0));
    let cancel = interrupt::install()?;
    let jobs = arguments.jobs.and_then(|jobs| NonZeroUsize::new(jobs as usize));
    let execution = Execution { jobs, cancel: cancel.clone() };
    let sample = u64::from(arguments.sample).min(recorded.runs.len());
    let bar = progress::bar(sample, 0);
    let findings = audit::audit(&recorded, sample, draw, &execution, || bar.inc(1))?;
    bar.finish_and_clear();
    let directory = shell_word(&arguments.directory);
    if arguments.json {
        output::print_json(&serde_json::to_value(&findings)?)?;
    } else {
        let mut text = format!(
            "{} of {} runs repeated (--draw {draw}): {} differ\n",
            findings.repeated,
            findings.runs,
            findings.different.len()
        );
        for (cell, run) in &findings.different {
            text.push_str(&format!("  trackbed replay {directory} {cell} {run}\n"));
        }
        text.push_str(match findings.is_summary_right {
            true => "run.json is what the runs come to\n",
            false => {
                "run.json is NOT what the runs come to: continue the run to have it made again\n"
            }
        });
        text.push_str(&format!("sha256 of the results: {}\n", findings.digest));
        output::print(&text)?;
    }
    Ok(match findings.is_sound() {
        _ if cancel.is_cancelled() => {
            tell("interrupted: not all of the sample was repeated");
            Ending::Interrupted
        }
        true => Ending::Success,
        false => Ending::CheckFailed,
    })
}
