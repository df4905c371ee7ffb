//! `trackbed verify-results`

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use trackbed_lab::campaign::Execution;
use trackbed_lab::campaign::audit::{self, Findings};

use crate::ending::Ending;
use crate::options::{count, jobs, number};
use crate::output::{self, shell_word, tell};
use crate::{chosen, interrupt, progress};

const EXAMPLES: &str = "\
Examples:
  trackbed verify-results results
  trackbed verify-results results --sample 1000 --draw 7

Executes a random sample of the runs again and compares the results with those in the directory, to the
last digit. Also computes run.json from all results and compares it with the existing file. This checks
results from other machines. The digest is SHA-256 over all results in the order of cells and runs, so
directories with equal results have equal digests.

Exit status: 0 everything matches, 1 something differs, 2 bad input.";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The run directory
    pub directory: PathBuf,
    /// Repeat N runs
    #[arg(long, value_name = "N", default_value = "30", value_parser = count)]
    pub sample: u32,
    /// Set the seed of the sample: the same N selects the same runs [default: random]
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub draw: Option<u64>,
    /// Execute N runs in parallel [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub jobs: Option<u32>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Executes a sample again and prints what differs.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let recorded = chosen::repeatable(&arguments.directory)?;
    if recorded.runs.is_empty() {
        bail!("{}: contains no results yet; run its scenario first", arguments.directory.display());
    }
    // The system draws the keys of a hash map at random; the sample only has to be unpredictable.
    let draw = arguments.draw.unwrap_or_else(|| RandomState::new().hash_one(0));
    let cancel = interrupt::install()?;
    let jobs = arguments.jobs.and_then(|jobs| NonZeroUsize::new(jobs as usize));
    let execution = Execution { jobs, cancel: cancel.clone() };
    let sample = u64::from(arguments.sample).min(recorded.runs.len());
    let bar = progress::bar(sample, 0);
    let findings = audit::audit(&recorded, sample, draw, &execution, || bar.inc(1))?;
    bar.finish_and_clear();
    let directory = shell_word(&arguments.directory);
    let text = || {
        let Findings { repeated, runs, different, digest, .. } = &findings;
        let count = different.len();
        let replays = different
            .iter()
            .map(|(cell, run)| format!("  trackbed replay {directory} {cell} {run}\n"));
        let replays: String = replays.collect();
        let summary = match findings.is_summary_right {
            true => "run.json matches the runs",
            false => "run.json does NOT match the runs: continue the run to write it again",
        };
        format!(
            "{repeated} of {runs} runs repeated (--draw {draw}): {count} differ\n{replays}{summary}\n\
             sha256 of the results: {digest}\n"
        )
    };
    output::answer(arguments.json, &findings, text)?;
    Ok(match findings.is_sound() {
        _ if cancel.is_cancelled() => {
            tell("interrupted: only a part of the sample was repeated");
            Ending::Interrupted
        }
        true => Ending::Success,
        false => Ending::CheckFailed,
    })
}
