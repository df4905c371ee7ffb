//! What `run` and `paper` share: plan, run everything, keep it, sum it up.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use trackbed_lab::directory::{About, RunDirectory};
use trackbed_lab::scenario::{self, Override, Plan, Source};
use trackbed_lab::{VERSION, campaign};
use trackbed_measure::results::{Document, RunResult};

use crate::Verdict;
use crate::arguments::RunOptions;
use crate::{interrupt, progress};

/// A campaign that is over, or was interrupted.
pub struct Finished {
    /// What was planned.
    pub plan: Plan,
    /// Every result that is there, in the plan's order.
    pub runs: Vec<RunResult>,
    /// What they say together.
    pub document: Document,
    /// Where they are kept.
    pub directory: PathBuf,
    /// Ctrl-C ended it early.
    pub interrupted: bool,
}

impl Finished {
    /// How the command should end as far as runs and checks are concerned.
    pub fn verdict(&self) -> Verdict {
        let failed = self.document.cells.iter().any(|cell| cell.failed > 0);
        let refuted = self.document.checks.iter().any(|check| !check.pass);
        match self.interrupted {
            true => Verdict::Interrupted,
            false if failed || refuted => Verdict::CheckFailed,
            false => Verdict::Success,
        }
    }
}

/// Plans `scenario` with `options` and runs all of it.
///
/// # Errors
/// If the scenario or a setting is not valid, or results cannot be written.
pub fn execute(scenario: &str, options: &RunOptions) -> anyhow::Result<Finished> {
    let (source, overrides) = (Source::named(scenario), overrides(options));
    let plan = scenario::load(&source, &overrides)?;
    for note in &plan.notes {
        eprintln!("note: {note}");
    }
    let about = about(&source, &plan, &overrides);
    let (mut directory, mut runs) = open(options.out.as_deref(), &plan, about)?;
    runs.retain(|run| run.run < plan.runs);

    let total = u64::from(plan.runs) * plan.cells.len() as u64;
    if !runs.is_empty() {
        eprintln!("{} of {total} runs are there already", runs.len());
    }
    let bar = progress::bar(total, runs.len() as u64);
    let cancel = interrupt::install()?;
    let jobs = options.jobs.and_then(|jobs| NonZeroUsize::new(jobs as usize));
    let mut kept = Ok(());
    let fresh = campaign::run(&plan, &runs, jobs, &cancel, |run| {
        bar.inc(1);
        if kept.is_ok() {
            kept = directory.append(run);
            if kept.is_err() {
                cancel.cancel();
            }
        }
    });
    bar.finish_and_clear();
    kept?;
    runs.extend(fresh);
    runs.sort_by_key(|run| (run.cell, run.run));

    let document = campaign::document(&plan, &runs);
    directory.conclude(&document, &runs)?;
    let interrupted = (runs.len() as u64) < total;
    let path = directory.path().to_owned();
    if interrupted {
        eprintln!("{} of {total} runs are kept; continue with --out {}", runs.len(), path.display());
    }
    Ok(Finished { plan, runs, document, directory: path, interrupted })
}

/// `--runs` and `--seed` are settings like any other, and win over `--set`.
fn overrides(options: &RunOptions) -> Vec<Override> {
    let mut overrides = options.overrides.clone();
    if let Some(runs) = options.runs {
        overrides.push(Override { key: "runs".to_owned(), value: runs.to_string() });
    }
    if let Some(seed) = options.seed {
        overrides.push(Override { key: "seed".to_owned(), value: seed.to_string() });
    }
    overrides
}

fn about(source: &Source, plan: &Plan, overrides: &[Override]) -> About {
    About {
        trackbed: VERSION.to_owned(),
        command: std::env::args().collect(),
        scenario: source.to_string(),
        text: plan.source_text.clone(),
        overrides: overrides.iter().map(Override::to_string).collect(),
        seed: plan.seed,
        runs: plan.runs,
        plan: plan.hash.clone(),
    }
}

/// A directory that the user named is continued; the default one is begun anew, so that nobody
/// mistakes old results for new ones.
fn open(
    out: Option<&Path>,
    plan: &Plan,
    about: About,
) -> anyhow::Result<(RunDirectory, Vec<RunResult>)> {
    match out {
        Some(path) => Ok(RunDirectory::continue_or_create(path, about)?),
        None => {
            let path = Path::new("trackbed-out").join(&plan.name);
            let directory = RunDirectory::create_anew(&path, about)
                .context("the default run directory cannot be used; give one with --out DIR")?;
            Ok((directory, Vec::new()))
        }
    }
}
