//! `trackbed fit`

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use trackbed_analysis::fit::{Figure, Space, document};
use trackbed_archive::VERSION;
use trackbed_core::units::parse_duration;
use trackbed_lab::fit::{self, Kept, Question, Unplanned};
use trackbed_report::fit as report;
use trackbed_scenario::{self as scenario, Override, Source};

use super::campaign;
use crate::ending::Ending;
use crate::interrupt;
use crate::options::{RunOptions, count, number};
use crate::output::{self, shell_word, tell};
use crate::progress::{self, Stopwatch};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/fit.txt"))]
pub struct Arguments {
    /// A built-in scenario (see `trackbed list scenarios`) or the path of a scenario file
    pub scenario: String,
    /// Give a figure that the runs should have; may be given several times
    #[arg(long, value_name = "FIGURE", required = true)]
    pub to: Vec<Figure>,
    /// Give a key and the values to try; may be given several times
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    pub over: Vec<Space>,
    /// Find N settings
    #[arg(long, value_name = "N", default_value = "64", value_parser = count)]
    pub settings: u32,
    /// Make N runs of each cell for each setting
    #[arg(long, value_name = "N", default_value = "8", value_parser = count)]
    pub runs: u32,
    /// Search for at most TIME
    #[arg(long, value_name = "TIME", default_value = "20min", value_parser = parse_duration)]
    pub budget: Duration,
    /// Search only the parts called NAME; may be given several times
    #[arg(long = "part", value_name = "NAME")]
    pub parts: Vec<String>,
    /// Run the scenario's quick form
    #[arg(long)]
    pub quick: bool,
    /// Set KEY of the scenario to VALUE; may be given several times (see `trackbed list keys`)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<Override>,
    /// Set the root seed [default: the scenario's seed]
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub seed: Option<u64>,
    /// Try N settings at once [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = count)]
    pub jobs: Option<u32>,
    /// Write fit.json, fit.svg and what was tried to DIR [default: trackbed-out/SCENARIO-fit]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Searches for settings and prints them.
///
/// # Errors
/// If the scenario or a figure is invalid, or files cannot be read or written.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let Arguments { scenario: name, to, over, settings, runs, budget, jobs, json, .. } = arguments;
    let options = RunOptions {
        seed: arguments.seed,
        quick: arguments.quick,
        parts: arguments.parts.clone(),
        overrides: arguments.overrides.clone(),
        ..RunOptions::default()
    };
    let source = Source::named(name);
    let overrides = campaign::overrides(&options);
    let plan = scenario::load(&source, &overrides)?;
    let all = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let question = Question {
        source: &source,
        overrides: &overrides,
        figures: to,
        spaces: over,
        settings: *settings as usize,
        runs: *runs,
        seed: plan.seed,
        jobs: jobs.and_then(|jobs| NonZeroUsize::new(jobs as usize)).unwrap_or(all),
        cancel: interrupt::install()?,
    };
    match fit::check(&question) {
        Err(Unplanned::Scenario(why)) => return Err(why.into()),
        checked => checked?,
    }
    let folder = || Path::new("trackbed-out").join(format!("{}-fit", plan.name));
    let out = arguments.out.clone().unwrap_or_else(folder);
    output::spare_results(&out)?;
    fs::create_dir_all(&out).with_context(|| output::no_place(&out))?;
    let mut kept = Kept::open(&out.join("tried.jsonl"), &asked(arguments, &plan.hash))?;
    let (watch, bar) = (Stopwatch::start(), progress::settings());
    let mut goes_on = |tried: usize, distance: f64| {
        bar.set_position(tried as u64);
        if distance.is_finite() {
            bar.set_message(format!("farthest of the best {settings}: {distance:.2} tolerances"));
        }
        watch.elapsed() < *budget
    };
    let found = fit::search(&question, &mut kept, &mut goes_on)?;
    bar.finish_and_clear();
    let document = document(&found, (to, over), (VERSION, &plan.name), (plan.seed, *runs));
    let files = [("fit.json", Some(output::json(&document)?)), ("fit.svg", report::svg(&document))];
    for (name, text) in files {
        let Some(text) = text else { continue };
        output::write_whole(&out.join(name), text)?;
    }
    output::answer(*json, &document, || report::render(&document))?;
    tell(format_args!("\nresults: {}", shell_word(&out)));
    Ok(match document.met[1] {
        _ if question.cancel.is_cancelled() => Ending::Interrupted,
        0 => Ending::CheckFailed,
        _ => Ending::Success,
    })
}

/// What makes two searches the same: everything but their budget.
fn asked(arguments: &Arguments, plan: &str) -> String {
    let Arguments { to, over, settings, runs, .. } = arguments;
    let figures: Vec<String> = to.iter().map(|figure| format!("--to '{figure}'")).collect();
    let keys: Vec<String> =
        over.iter().map(|space| format!("--over '{}={}'", space.key, space.over)).collect();
    let (figures, keys) = (figures.join(" "), keys.join(" "));
    format!(
        "trackbed {VERSION} fit {} {figures} {keys} --settings {settings} --runs {runs} (plan {})",
        arguments.scenario,
        &plan[..16]
    )
}
