//! `trackbed drops`

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use trackbed_analysis::drops::answer;
use trackbed_archive::VERSION;
use trackbed_lab::backend::{Backend as _, Virtual};
use trackbed_lab::drops::{self, Ground, HOLD, Question};
use trackbed_lab::emulated::Emulated;
use trackbed_measure::drops::{DropsCell, DropsDocument, Pattern, Place};
use trackbed_measure::results::{EMULATED, SCHEMA, VIRTUAL};
use trackbed_net::models::Fault;
use trackbed_outward::files::read_bounded;
use trackbed_report::drops as report;
use trackbed_scenario::{self as scenario, Plan, Source};

use super::campaign::{self, Campaign};
use crate::ending::Ending;
use crate::interrupt;
use crate::options::{Names, RunOptions, SubstrateArgument, count, number, one_of};
use crate::output::{self, shell_word, tell};
use crate::{progress, shell};

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/drops.txt"))]
pub struct Arguments {
    /// A built-in scenario (see `trackbed list scenarios`) or the path of a scenario file
    pub scenario: String,
    /// Also lose each packet that follows a lost one
    #[arg(long)]
    pub pairs: bool,
    /// Choose what happens to a packet
    #[arg(long, default_value = "loss", value_parser = one_of(FAULTS))]
    pub fault: Fault,
    /// Choose at most the first N packets of a run
    #[arg(long, value_name = "N", default_value = "100", value_parser = count)]
    pub packets: u32,
    /// Take run number N of each cell, which selects its random numbers
    #[arg(long, value_name = "N", default_value = "0", value_parser = number::<u32>)]
    pub run: u32,
    /// Report only faults whose packets contain TEXT, for example 'client Initial 1'
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Fail only for red faults that are not red in FILE, an earlier drops.json
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write packets, keys and qlog traces of each reported fault that is red, or chosen by --only, to DIR/captures
    #[arg(long)]
    pub capture: bool,
    /// Also write the verdicts to FILE as JUnit's XML, for CI
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Choose where runs execute: virtual or emulated [default: the scenario's]
    #[arg(long, value_enum)]
    pub substrate: Option<SubstrateArgument>,
    /// Set the root seed [default: the scenario's seed]
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub seed: Option<u64>,
    /// Run the scenario's quick form
    #[arg(long)]
    pub quick: bool,
    /// Set KEY of the scenario to VALUE; may be given several times (see `trackbed list keys`)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<trackbed_scenario::Override>,
    /// Run the commands in the scenario file without asking
    #[arg(long)]
    pub allow_commands: bool,
    /// Write drops.json and drops.svg to DIR [default: trackbed-out/SCENARIO-drops]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// What happens to a packet.
const FAULTS: &Names<Fault> = &[
    ("loss", "It is lost", Fault::Loss),
    ("duplication", "A copy follows it", Fault::Duplication),
    ("delay", "It is held back for 100 ms, and later ones overtake it", Fault::Delay(HOLD)),
];

/// Tries the packets of each cell and prints what each costs.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let known = arguments.baseline.as_deref().map(red_places).transpose()?.unwrap_or_default();
    let (mut plan, emulated) = planned(arguments)?;
    let ground = emulated.as_ref().map_or(Ground::Virtual, Ground::Emulated);
    if drops::is_random(&plan) {
        tell(
            "note: the links' random losses are left out, so that only the chosen packets meet a fault",
        );
    }
    let jobs = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let question = Question {
        fault: arguments.fault,
        pairs: arguments.pairs,
        packets: arguments.packets as usize,
        run: arguments.run,
        only: arguments.only.clone(),
        jobs,
        cancel: interrupt::install()?,
    };
    let mut cells = Vec::new();
    for index in drops::distinct(&plan) {
        let bar = progress::bar(0, 0);
        let finished = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let found = drops::search((&mut plan, index), ground, &question, &finished);
        bar.finish_and_clear();
        cells.push(found.map_err(|why| anyhow!("cell {index}: {why}"))?);
        if question.cancel.is_cancelled() {
            break;
        }
    }
    let is_empty = cells.iter().all(|cell: &DropsCell| cell.patterns.is_empty());
    if let Some(only) = arguments.only.as_ref().filter(|_| is_empty) {
        bail!("--only {only}: no fault has such a packet; without it, all are listed");
    }
    let fault = FAULTS.iter().find(|(.., fault)| *fault == arguments.fault);
    let fault = fault.map_or("", |(name, ..)| name);
    let found = answer(fault, &cells);
    let document = DropsDocument {
        schema: SCHEMA,
        answer: match question.cancel.is_cancelled() {
            false => found,
            true => format!("Stopped before all packets were tried. {found}"),
        },
        trackbed: VERSION.to_owned(),
        scenario: plan.name.clone(),
        seed: plan.seed,
        substrate: if emulated.is_some() { EMULATED } else { VIRTUAL }.to_owned(),
        fault: fault.to_owned(),
        cells,
    };
    let folder = || Path::new("trackbed-out").join(format!("{}-drops", plan.name));
    let out = arguments.out.clone().unwrap_or_else(folder);
    write(arguments, &document, &out, &known)?;
    if arguments.capture {
        capture(arguments, (&mut plan, ground), &question, &document, &out)?;
    }
    output::answer(arguments.json, &document, || report::render(&document))?;
    tell(format_args!("\nresults: {}", shell_word(&out)));
    let patterns =
        document.cells.iter().flat_map(|cell| cell.patterns.iter().map(move |one| (cell, one)));
    let mut new =
        patterns.filter(|(cell, one)| one.verdict.is_red() && !known.contains(&key(cell, one)));
    Ok(match new.next() {
        _ if question.cancel.is_cancelled() => Ending::Interrupted,
        None => Ending::Success,
        Some((_, worst)) => {
            if !arguments.capture {
                let command = output::command_line();
                let only = shell::word(&worst.words());
                tell(format_args!("to see its packets: {command} --only {only} --capture"));
            }
            Ending::CheckFailed
        }
    })
}

/// The plan, and the emulated substrate if it is wanted.
fn planned(arguments: &Arguments) -> anyhow::Result<(Plan, Option<Emulated>)> {
    let Arguments { scenario, substrate, seed, quick, overrides, allow_commands, .. } = arguments;
    let options = RunOptions {
        seed: *seed,
        quick: *quick,
        overrides: overrides.clone(),
        allow_commands: *allow_commands,
        ..RunOptions::default()
    };
    let load = || scenario::load(&Source::named(scenario), &campaign::overrides(&options));
    let home = || Ok(load()?.home.into());
    match substrate.map_or_else(home, anyhow::Ok)? {
        SubstrateArgument::Live => {
            bail!("drops needs links of its own\n  help: use --substrate virtual or emulated")
        }
        SubstrateArgument::Emulated => {
            let (plan, emulated) = Campaign::emulated(scenario, &options)?;
            Ok((plan, Some(emulated)))
        }
        SubstrateArgument::Virtual => {
            let plan = load()?;
            Virtual::default().check(&plan).map_err(anyhow::Error::msg)?;
            Ok((plan, None))
        }
    }
}

/// A fault, comparable between documents.
type Key = (String, Vec<Place>);

fn key(cell: &DropsCell, pattern: &Pattern) -> Key {
    (cell.name.clone(), pattern.packets.clone())
}

/// The red faults of an earlier document.
fn red_places(path: &Path) -> anyhow::Result<BTreeSet<Key>> {
    let why =
        || format!("{}: cannot be read; give the drops.json of an earlier search", path.display());
    let text = read_bounded(path, BASELINE_MAX).with_context(why)?;
    let document: DropsDocument = serde_json::from_slice(&text).with_context(why)?;
    let red = document.cells.iter().flat_map(|cell| {
        let red = cell.patterns.iter().filter(|pattern| pattern.verdict.is_red());
        red.map(move |pattern| key(cell, pattern))
    });
    Ok(red.collect())
}

const BASELINE_MAX: u64 = 256 << 20;

fn write(
    arguments: &Arguments,
    document: &DropsDocument,
    out: &Path,
    known: &BTreeSet<Key>,
) -> anyhow::Result<()> {
    output::spare_results(out)?;
    fs::create_dir_all(out).with_context(|| output::no_place(out))?;
    let files = [("drops.json", output::json(document)?), ("drops.svg", report::svg(document))];
    for (name, content) in files {
        output::write_whole(&out.join(name), content)?;
    }
    if let Some(path) = &arguments.junit {
        let is_known = |cell: &DropsCell, one: &Pattern| known.contains(&key(cell, one));
        output::write_whole(path, report::junit(document, &is_known))?;
    }
    Ok(())
}

/// Captures the runs of what is red or was asked for.
fn capture(
    arguments: &Arguments,
    (plan, ground): (&mut Plan, Ground<'_>),
    question: &Question,
    document: &DropsDocument,
    out: &Path,
) -> anyhow::Result<()> {
    for cell in &document.cells {
        let wanted =
            cell.patterns.iter().filter(|one| one.verdict.is_red() || arguments.only.is_some());
        for pattern in wanted.take(CAPTURES_MAX) {
            let name: String = pattern
                .words()
                .chars()
                .map(|one| if one.is_ascii_alphanumeric() || one == '+' { one } else { '-' })
                .collect();
            let folder = out.join("captures").join(format!("cell-{}-{name}", cell.cell));
            let about = (folder.as_path(), &*output::command_line());
            drops::capture((&mut *plan, cell.cell), ground, question, pattern, about)
                .with_context(|| output::no_place(&folder))?;
        }
    }
    Ok(())
}

const CAPTURES_MAX: usize = 20;
