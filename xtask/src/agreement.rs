//! How far the virtual and the emulated substrate agree, over kinds of traffic and paths: the table of
//! `docs/agreement.md`. Its rows are those of `agreement.toml`.

mod outcome;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::cargo;
use crate::files::{read, told, write};
use crate::ledger::Ledger;

use outcome::{Outcome, soonest};
use table::{Row, summary, table};

/// How much of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every case; forty minutes. The page is rewritten.
    Full,
    /// Forty minutes more of [`Extent::Full`], or the rest of an interrupted one, by the same program.
    Rest,
    /// A few quick cases; minutes. The table is only printed.
    Short,
}

/// The file of cases.
#[derive(Debug, Deserialize)]
struct Cases {
    case: Vec<Case>,
}

/// One call of `trackbed agree`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What flows, for the table.
    traffic: String,
    scenario: String,
    part: Option<String>,
    /// Settings that are equal in all cells.
    set: Vec<String>,
    /// Settings by which the cells differ.
    axes: Vec<String>,
    /// Pairs of runs before the first verdict.
    runs: Option<u32>,
    /// The time of the case before the others have had theirs.
    budget: Option<String>,
    /// Concurrent runs, for traffic that uses little of the processor.
    jobs: Option<u32>,
    /// Why cells differ, by a part of the cell's name or by its metric.
    #[serde(default)]
    causes: BTreeMap<String, String>,
}

impl Case {
    /// The settings of the links, in words.
    fn path(&self) -> String {
        let of_link = self.set.iter().filter_map(|setting| {
            let (key, value) = setting.split_once('=')?;
            let key = key.strip_prefix("link.").or(key.strip_prefix("environment."))?;
            Some(format!("{key} {value}"))
        });
        of_link.collect::<Vec<_>>().join(", ")
    }
}

/// The numbers of the cases of the short form.
const SHORT: [usize; 3] = [4, 8, 5];
const RUNS: u32 = 12;
const BUDGET: &str = "45s";
/// How long all cases may take together: forty minutes, less one for building.
const TIME: Duration = Duration::from_secs(39 * 60);
/// The shortest time for which a case goes on.
const LEAST: Duration = Duration::from_secs(20);

/// Runs the cases: each for its own time, and then those that are not decided for what is left of the
/// time of all, the one that is probably decided soonest first.
///
/// # Errors
/// If a case cannot be run, or the page cannot be written. A disagreement of the substrates is a
/// result.
pub fn run(extent: Extent, ledger: &mut Ledger) -> Result<(), String> {
    let Cases { case: cases } =
        toml::from_str(include_str!("agreement.toml")).map_err(told("xtask/src/agreement.toml"))?;
    let chosen: Vec<usize> = match extent {
        Extent::Full | Extent::Rest => (0..cases.len()).collect(),
        Extent::Short => SHORT.to_vec(),
    };
    let program = program(extent)?;
    #[expect(clippy::disallowed_methods, reason = "the limit is in wall-clock time")]
    let began = Instant::now();
    let mut found = Vec::new();
    for (place, number) in chosen.iter().enumerate() {
        let case = &cases[*number];
        eprintln!("    case {} of {}: {}", place + 1, chosen.len(), case.traffic);
        let is_there =
            extent == Extent::Rest && Path::new(RESULTS).join(number.to_string()).exists();
        let budget = if is_there { "1s" } else { case.budget.as_deref().unwrap_or(BUDGET) };
        match compare(&program, extent, Outcome::new(case, *number), budget) {
            Err(why) if extent == Extent::Short && why.contains(FORBIDDEN) => {
                eprintln!("    SKIPPED: {why}");
                ledger.skip(&why);
                return Ok(());
            }
            outcome => found.push(outcome?),
        }
    }
    publish(extent, &found)?;
    while extent != Extent::Short
        && let left = TIME.saturating_sub(began.elapsed())
        && left >= LEAST
        && let Some((index, needed)) = soonest(&found, left)
    {
        let outcome = found.remove(index);
        let budget = (needed * 3 / 2).clamp(LEAST, left).as_secs();
        eprintln!("    {} goes on for {budget} s of {} s", outcome.case.traffic, left.as_secs());
        found.insert(index, compare(&program, Extent::Rest, outcome, &format!("{budget}s"))?);
        publish(extent, &found)?;
    }
    Ok(())
}

/// Writes the table of what was found into the page, or prints it.
fn publish(extent: Extent, found: &[Outcome<'_>]) -> Result<(), String> {
    let rows: Vec<Row> = found.iter().flat_map(Outcome::rows).collect();
    let without_runs = found.iter().map(Outcome::missing).sum();
    let environment = found.last().map_or(&Value::Null, |last| &last.document["environment"]);
    let table = format!("{}\n{}", table(&rows), summary(&rows, without_runs, environment));
    match extent {
        Extent::Short => println!("{table}"),
        Extent::Full | Extent::Rest => replace_in_page(&table)?,
    }
    Ok(())
}

/// A copy of the program, which does not change while the table is measured, nor for the rest of it.
fn program(extent: Extent) -> Result<PathBuf, String> {
    let name = if extent == Extent::Short { "trackbed-short" } else { "trackbed" };
    let kept = PathBuf::from(RESULTS).join(name);
    match extent {
        Extent::Rest if kept.exists() => return Ok(kept),
        Extent::Rest => return Err(format!("{}: nothing was begun", kept.display())),
        Extent::Full | Extent::Short => {}
    }
    let built = cargo::target().join("release/trackbed");
    let copied = fs::create_dir_all(RESULTS).and_then(|()| fs::copy(built, &kept));
    copied.map_err(told(format!("cannot copy the program to {}", kept.display())))?;
    Ok(kept)
}

/// The same case after it has gone on for `budget`, or has begun.
fn compare<'a>(
    program: &Path,
    extent: Extent,
    before: Outcome<'a>,
    budget: &str,
) -> Result<Outcome<'a>, String> {
    let Outcome { case, number, .. } = before;
    let out = match extent {
        Extent::Full | Extent::Rest => format!("{RESULTS}/{number}"),
        Extent::Short => format!("{RESULTS}/short-{number}"),
    };
    // Earlier results would be continued.
    if extent != Extent::Rest {
        let _ = fs::remove_dir_all(&out);
    }
    let mut command = Command::new(program);
    command.args(["agree", &case.scenario, "--until-decided", "--json", "--quiet", "--out", &out]);
    command.args(["--budget", budget, "--runs", &case.runs.unwrap_or(RUNS).to_string()]);
    command.args(["--jobs", &case.jobs.unwrap_or(1).to_string()]);
    command.args(case.part.iter().flat_map(|part| ["--part", part]));
    command.args(case.set.iter().chain(&case.axes).flat_map(|setting| ["--set", setting]));
    #[expect(clippy::disallowed_methods, reason = "measures how long a case takes")]
    let began = Instant::now();
    let output = command.stderr(Stdio::piped()).output();
    let output = output.map_err(told(format!("cannot start {}", program.display())))?;
    // 1 means that a cell differs, or a run failed; the document says which.
    if !matches!(output.status.code(), Some(0 | 1)) || output.stdout.is_empty() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} over {}: {why}", case.traffic, case.path()));
    }
    let document: Value =
        serde_json::from_slice(&output.stdout).map_err(told("agree printed no JSON"))?;
    if !document["cells"].is_array() {
        return Err(format!("{} over {}: agree printed no cells", case.traffic, case.path()));
    }
    Ok(before.then(document, began.elapsed()))
}

fn replace_in_page(table: &str) -> Result<(), String> {
    let text = read(PAGE)?;
    let split = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = split.ok_or(format!("{PAGE} has no markers for the table"))?;
    write(PAGE, format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}

/// The message of `trackbed` on a machine without namespaces.
const FORBIDDEN: &str = "does not let you";
/// Removed to start over.
const RESULTS: &str = "target/agreement";
const PAGE: &str = "docs/agreement.md";
const BEGIN: &str = "<!-- table -->";
const END: &str = "<!-- end of the table -->";
