//! `trackbed agree`

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use trackbed_analysis::agreement::CONFIDENCE;
use trackbed_archive::{DirectoryError, Results as _};
use trackbed_core::units::parse_duration;
use trackbed_lab::backend::{Backend as _, Virtual};
use trackbed_lab::campaign::decided::{Computed, Terms};
use trackbed_measure::agreement::{Agreement, AgreementDocument, AgreementVerdict, sentence};
use trackbed_measure::metrics;
use trackbed_measure::results::{Document, RunResult, SCHEMA};
use trackbed_report::agreement as table;
use trackbed_scenario::{self as scenario, Override, Plan, Source};

use super::campaign::{self, Campaign, Finished, decided};
use crate::ending::Ending;
use crate::options::{RunOptions, SubstrateArgument};
use crate::output::{self, shell_word, tell};

mod explain;

pub use explain::Unit;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/agree.txt"))]
pub struct Arguments {
    /// A built-in scenario or the path of a scenario file
    pub scenario: String,
    /// Compare METRIC; may be given several times [default: those of the kind of traffic]
    #[arg(long = "metric", value_name = "METRIC", value_parser = known_metric)]
    pub metrics: Vec<String>,
    /// Run each cell until it is equivalent or different, but at most --runs-max times
    #[arg(long, conflicts_with_all = ["until", "shard"])]
    pub until_decided: bool,
    /// Begin no runs that would probably end later than this, with --until-decided
    #[arg(long, value_name = "TIME", default_value = "20min", value_parser = budget, requires = "until_decided")]
    pub budget: Duration,
    /// Repeat one run of a cell on both substrates with captures, in virtual time with the processor time of
    /// the emulated run, and show where they diverge. Without RUN: of the results in the run directory, the run
    /// that differs most, or else run 0
    #[arg(long, value_name = "CELL[:RUN]", conflicts_with_all = ["until_decided", "until", "shard", "json", "capture"])]
    pub explain: Option<Unit>,
    #[command(flatten)]
    pub options: RunOptions,
}

/// Runs a scenario on both substrates and prints how well they agree.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    if arguments.options.substrate.is_some() || arguments.options.server.is_some() {
        bail!(
            "agree always runs a scenario in virtual time and on the kernel\n  help: \
               remove --substrate and --server"
        );
    }
    let (plan, own_ends) = planned_for_both(&arguments.scenario, &arguments.options)?;
    let folder = || PathBuf::from("trackbed-out").join(format!("{}-agree", plan.name));
    let out = arguments.options.out.clone().unwrap_or_else(folder);
    if let Some(unit) = arguments.explain {
        return explain::execute(arguments, unit, (&plan, &out));
    }
    let ([emulated, virtually], cells, interrupted) = run(arguments, &own_ends, &out)?;
    let answer = sentence(&cells);
    let interrupted = interrupted || emulated.interrupted || virtually.interrupted;
    if cells.is_empty() && !interrupted {
        bail!(nothing_judged(&arguments.metrics, &out));
    }
    let all = 0..emulated.plan.cells.len() as u32;
    let left = all.filter(|index| !cells.iter().any(|cell| cell.cell == *index)).count();
    if left > 0 {
        tell(format_args!(
            "cells without runs of both substrates, or without a metric above zero: {left}"
        ));
    }
    let Document { trackbed, scenario, seed, runs, environment, .. } = &emulated.document;
    let document = AgreementDocument {
        schema: SCHEMA,
        answer,
        trackbed: trackbed.clone(),
        scenario: scenario.clone(),
        seed: *seed,
        runs: *runs,
        environment: environment.clone(),
        cells,
    };
    let AgreementDocument { answer, cells, .. } = &document;
    output::answer(arguments.options.json, &document, || table::render(answer, cells))?;
    let late = (0..).zip(&emulated.document.cells).filter(|(_, cell)| cell.invalid > 0);
    let late: Vec<String> = late
        .map(|(index, cell): (u32, _)| format!("{} of cell {index}", cell.left_out()))
        .collect();
    if !late.is_empty() {
        let late = late.join("; ");
        tell(format_args!("left out, because this machine did not keep up: {late}"));
    }
    tell(format_args!("results: {}", shell_word(&out)));
    let different = cells.iter().any(|cell| cell.verdict == AgreementVerdict::Different);
    Ok(match interrupted {
        true => Ending::Interrupted,
        false if different => Ending::CheckFailed,
        false => Ending::Success,
    })
}

/// The plan of a scenario, and the settings with which virtual time runs it: there, Trackbed's own ends replace
/// third-party programs. It is rejected before hours are spent on another substrate.
fn planned_for_both(scenario: &str, options: &RunOptions) -> anyhow::Result<(Plan, Vec<Override>)> {
    let (source, mut overrides) = (Source::named(scenario), campaign::overrides(options));
    let plan = scenario::load(&source, &overrides)?;
    let is_foreign = plan.cells.iter().any(|cell| !cell.endpoint.programs.is_empty());
    let own = ["server", "client"].iter().filter(|_| is_foreign);
    let own: Vec<_> =
        own.map(|end| Override { key: (*end).into(), value: "trackbed".into() }).collect();
    overrides.extend(own.iter().cloned());
    let virtually = scenario::load(&source, &overrides)?;
    if virtually.cells.len() != plan.cells.len() {
        bail!("agree compares one program at a time\n  help: add, for example, --set server=caddy");
    }
    let why = Virtual::default().check(&virtually).err().unwrap_or_default();
    match why.lines().next() {
        Some(why) => bail!("{why}: nothing to compare"),
        None => Ok((plan, own)),
    }
}

/// The campaigns on both substrates, how they agree, and whether Ctrl-C ended the comparison early.
fn run(
    arguments: &Arguments,
    own_ends: &[Override],
    out: &Path,
) -> anyhow::Result<([Finished; 2], Vec<Agreement>, bool)> {
    let Arguments { scenario, metrics, until_decided, budget, options, .. } = arguments;
    let runs = options.runs.or(until_decided.then_some(PAIRS_MIN));
    let side = |substrate, name: &str| RunOptions {
        substrate: Some(substrate),
        out: Some(out.join(name)),
        runs,
        until_decided: *until_decided,
        capture: options.capture.filter(|_| matches!(substrate, SubstrateArgument::Emulated)),
        ..options.clone()
    };
    // Emulated first: the kernel creates user namespaces only for a single-threaded process.
    let mut sides = [
        side(SubstrateArgument::Emulated, "emulated"),
        side(SubstrateArgument::Virtual, "virtual"),
    ];
    sides[1].overrides.extend(own_ends.iter().cloned());
    if let (true, Some(runs_min)) = (*until_decided, runs) {
        let (metrics, runs_max) = (metrics.clone(), options.runs_max);
        let terms = Terms { metrics, budget: *budget, runs_min, runs_max };
        terms.check().map_err(anyhow::Error::msg)?;
        let emulated = Campaign::prepare(scenario, &sides[0])?;
        let virtually = Campaign::prepare(scenario, &sides[1])?;
        let (sides, cells) = decided::run([emulated, virtually], options, terms)?;
        return Ok((sides, cells, false));
    }
    let emulated = campaign::execute(scenario, &sides[0])?;
    let virtually = campaign::execute(scenario, &sides[1])?;
    let (cells, interrupted) = judge([&emulated, &virtually], metrics, options)?;
    Ok(([emulated, virtually], cells, interrupted))
}

/// Compares both sides cell by cell; also whether Ctrl-C ended it early.
fn judge(
    [emulated, virtually]: [&Finished; 2],
    metrics: &[String],
    options: &RunOptions,
) -> anyhow::Result<(Vec<Agreement>, bool)> {
    let (backend, execution) = (Virtual::default(), campaign::execution(options)?);
    tell(
        "comparing; what is not equivalent runs again in virtual time, with processor time and clock ticks",
    );
    let mut found = Vec::new();
    for index in 0..emulated.plan.cells.len() as u32 {
        let of = |side: &Finished| -> Result<Vec<RunResult>, DirectoryError> {
            let runs = side.directory.of(index)?;
            Ok(runs.iter().filter(|run| run.run < side.plan.runs).cloned().collect())
        };
        let runs = [of(virtually)?, of(emulated)?];
        let (cell, how) = ((&emulated.plan, index), (metrics, CONFIDENCE));
        found.extend(Computed::default().compare(cell, runs, how, (&backend, &execution)));
    }
    Ok((found, execution.cancel.is_cancelled()))
}

/// The pairs of each cell at the first look of `--until-decided`: with fewer, the intervals of skewed values
/// are too narrow.
const PAIRS_MIN: u32 = 12;

/// Reads the time that `--until-decided` may take.
fn budget(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(Duration::ZERO) => Err("write a time above zero, for example 20min".to_owned()),
        time => time.map_err(|why| why.to_string()),
    }
}

/// Why there is no comparison, and what to do about it.
fn nothing_judged(metrics: &[String], out: &Path) -> String {
    let what = match metrics {
        [] => "a metric by which traffic is judged".to_owned(),
        metrics => metrics.join(" or "),
    };
    format!(
        "nothing could be compared: in no cell do runs of both substrates have {what} above zero\n  help: \
         `trackbed export {} --table runs` shows what was measured; choose one with --metric. Runs for which this \
         machine is too slow do not count: end other programs",
        shell_word(&out.join("virtual"))
    )
}

fn known_metric(name: &str) -> Result<String, String> {
    match metrics::find(name) {
        Some(_) => Ok(name.to_owned()),
        None => Err("unknown metric; `trackbed list metrics` shows all metrics".to_owned()),
    }
}
