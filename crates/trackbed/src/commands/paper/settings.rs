//! `trackbed paper --unknowns` and `--settings`: a study over all that it leaves out.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use trackbed_analysis::paper::{self, Choice, InSetting, Unknowns, UnknownsDocument};
use trackbed_archive::{Units, VERSION};
use trackbed_lab::backend::Virtual;
use trackbed_lab::campaign::{self as campaigns, Execution};
use trackbed_lab::journal::Journal;
use trackbed_report::papers::unknowns as report;
use trackbed_scenario::{self as scenario, Override, Source};
use trackbed_substrate::Cancel;

use super::super::campaign;
use super::Arguments;
use crate::ending::Ending;
use crate::options::RunOptions;
use crate::output::{self, shell_word, tell};
use crate::{interrupt, progress};

/// Prints what a study gives and leaves out and, with `--settings`, tries settings first.
///
/// # Errors
/// If there is no such study, it has no unknowns, or files cannot be read or written.
pub(super) fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let Arguments { name, settings, options, .. } = arguments;
    let Some(unknowns) = Unknowns::of(name).filter(|unknowns| !unknowns.all().is_empty()) else {
        bail!("the scenario {name} has no list of what its study leaves out");
    };
    if settings.is_none() && !options.overrides.is_empty() {
        bail!(
            "what is stored is of the study's own scenario; add --settings N to run it with other settings"
        );
    }
    let (tried, is_complete) = match settings {
        None => (unknowns.stored().to_vec(), true),
        Some(count) => try_settings(name, &unknowns, *count as usize, options)?,
    };
    let document = UnknownsDocument::new(&unknowns, &tried);
    let width = output::width().unwrap_or(100);
    output::answer(options.json, &document, || report::render(&unknowns, &document, width))?;
    Ok(if is_complete { Ending::Success } else { Ending::Interrupted })
}

/// Runs the study in each setting that the file of the output folder does not have yet.
fn try_settings(
    name: &str,
    unknowns: &Unknowns,
    count: usize,
    options: &RunOptions,
) -> anyhow::Result<(Vec<InSetting>, bool)> {
    if let Some(why) = paper::quick(name).filter(|_| options.quick) {
        bail!("no statement can be judged with --quick: {why}");
    }
    let folder = || PathBuf::from("trackbed-out").join(format!("{name}-settings"));
    let out = options.out.clone().unwrap_or_else(folder);
    fs::create_dir_all(&out).with_context(|| output::no_place(&out))?;
    let path = out.join("settings.jsonl");
    let runs = options.runs.unwrap_or(RUNS);
    let set: Vec<String> = options.overrides.iter().map(|one| format!(" --set '{one}'")).collect();
    let quick = if options.quick { " --quick" } else { "" };
    let question = format!(
        "trackbed {VERSION} paper {name} --settings N --runs {runs}{quick}{}",
        set.concat()
    );
    let (mut journal, mut tried) = Journal::open::<InSetting>(&path, &question)?;
    let cancel = interrupt::install()?;
    let choices = unknowns.settings(count);
    let bar = progress::bar(choices.len() as u64, 0);
    for (number, choice) in choices.iter().enumerate() {
        bar.set_position(number as u64);
        let values = unknowns.values(choice);
        if tried.iter().any(|there| there.values == values) {
            continue;
        }
        let Some(found) = one(name, unknowns, choice, options, &cancel)? else { break };
        journal.add(&found)?;
        tried.push(found);
    }
    bar.finish_and_clear();
    tell(format_args!("settings: {}", shell_word(&path)));
    Ok((tried, !cancel.is_cancelled()))
}

/// The study in one setting; nothing if it was interrupted.
fn one(
    name: &str,
    unknowns: &Unknowns,
    choice: &Choice,
    options: &RunOptions,
    cancel: &Cancel,
) -> anyhow::Result<Option<InSetting>> {
    let mut options = options.clone();
    options.parts = paper::parts(name);
    options.runs = Some(options.runs.unwrap_or(RUNS));
    let mut overrides: Vec<Override> = campaign::overrides(&options);
    overrides.extend(unknowns.overrides(choice));
    if let Some(device) = super::devices(name, &options) {
        overrides.push(device);
    }
    let plan = scenario::load(&Source::named(name), &overrides)?;
    let needed = unknowns.cells(&plan, choice);
    let units = Units::of(&plan, |cell, _| needed.contains(&cell));
    let execution = Execution { jobs: None, cancel: cancel.clone() };
    let mut results = Vec::new();
    campaigns::run(&plan, &Virtual::default(), &units, &execution, |run| results.push(run));
    if cancel.is_cancelled() {
        return Ok(None);
    }
    results.sort_by_key(|run| (run.cell, run.run));
    Ok(Some(unknowns.judge(&plan, &results, choice)?))
}

/// Runs of each cell in each setting.
const RUNS: u32 = 20;
