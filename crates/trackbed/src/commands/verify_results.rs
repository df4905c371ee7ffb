//! `trackbed verify-results`

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use trackbed_archive::{About, Recorded, build_id, check_pack, unpack};
use trackbed_lab::campaign::Execution;
use trackbed_lab::campaign::audit::{self, Findings};
use trackbed_measure::results::VIRTUAL;

use crate::ending::Ending;
use crate::options::{count, jobs, number};
use crate::output::{self, shell_word, tell};
use crate::patience::Patience;
use crate::{chosen, interrupt, progress};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/verify-results.txt"))]
pub struct Arguments {
    /// The run directory, or a pack of one
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

/// Tells if another build made the runs, which may explain differences.
fn tell_builds(about: &About) {
    let word = |build: &Option<String>| build.clone().unwrap_or_else(|| "unknown".to_owned());
    let (made, here) = (word(&about.build), word(&build_id()));
    if made != here {
        let version = &about.trackbed;
        tell(format_args!("note: build {made} of version {version} made the runs; this is {here}"));
    }
}

/// Runs may be from elsewhere, and without end.
const REPEATING: Duration = Duration::from_secs(3_600);

/// Executes a sample again and prints what differs.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let unpacked = tempfile::tempdir().context("there is no temporary folder; set TMPDIR")?;
    let (path, folder, packed) = match arguments.directory.is_file() {
        true => {
            let (folder, files) = unpack(&arguments.directory, unpacked.path())?;
            (unpacked.path(), PathBuf::from(folder), Some(files))
        }
        false => {
            let path = arguments.directory.as_path();
            (path, path.to_owned(), check_pack(path)?)
        }
    };
    // Of a pack, the digests show that nothing has changed, even where runs cannot be repeated.
    let recorded = match packed {
        Some(_) => Recorded::read(path)?,
        None => chosen::repeatable(path)?,
    };
    if recorded.runs.is_empty() {
        bail!("{}: contains no results yet; run its scenario first", folder.display());
    }
    // The system draws the keys of a hash map at random; the sample only has to be unpredictable.
    let draw = arguments.draw.unwrap_or_else(|| RandomState::new().hash_one(0));
    let cancel = interrupt::install()?;
    let jobs = arguments.jobs.and_then(|jobs| NonZeroUsize::new(jobs as usize));
    let execution = Execution { jobs, cancel: cancel.clone() };
    let _patience = Patience::begin(REPEATING, &cancel);
    let sample = u64::from(arguments.sample).min(recorded.runs.len());
    let bar = progress::bar(sample, 0);
    let mut findings = audit::audit(&recorded, sample, draw, &execution, || bar.inc(1))?;
    findings.packed = packed.map(|files| files as u64);
    bar.finish_and_clear();
    tell_builds(&recorded.about);
    let directory = shell_word(&folder);
    let text = || {
        let Findings { repeated, runs, different, digest, substrate, .. } = &findings;
        let packed = packed.map(|files| format!("{files} files have the digests of the pack\n"));
        let count = different.len();
        let replays = different
            .iter()
            .map(|(cell, run)| format!("  trackbed replay {directory} {cell} {run}\n"));
        let replays: String = replays.collect();
        let summary = match findings.is_summary_right {
            true => "run.json matches the runs",
            false => "run.json does NOT match the runs: continue the run to write it again",
        };
        let repeated = match substrate == VIRTUAL {
            true => {
                format!("{repeated} of {runs} runs repeated (--draw {draw}): {count} differ")
            }
            false => format!("0 of {runs} runs repeated: they were {substrate}, in real time"),
        };
        format!(
            "{}{repeated}\n{replays}{summary}\nsha256 of the results: {digest}\n",
            packed.unwrap_or_default()
        )
    };
    output::answer(arguments.json, &findings, text)?;
    Ok(match findings.is_sound() {
        _ if cancel.is_cancelled() => {
            tell("stopped: only a part of the sample was repeated; try --sample 1 --jobs 1");
            Ending::Interrupted
        }
        true => Ending::Success,
        false => Ending::CheckFailed,
    })
}
