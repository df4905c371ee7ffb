//! How far the virtual and the emulated substrate agree, over kinds of traffic and paths: the table of
//! `docs/agreement.md`. Its rows are those of `agreement.toml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde::Deserialize;
use serde_json::Value;

use crate::ledger::Ledger;

/// How much of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every case; forty minutes. The page is rewritten.
    Full,
    /// The rest of an interrupted [`Extent::Full`], by the same program.
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
    /// Time for more pairs where they are needed.
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

/// Runs the cases.
///
/// # Errors
/// If a case cannot be run, or the page cannot be written. A disagreement of the substrates is a
/// result.
pub fn run(extent: Extent, ledger: &mut Ledger) -> Result<(), String> {
    let Cases { case: cases } = toml::from_str(include_str!("agreement.toml"))
        .map_err(|why| format!("xtask/src/agreement.toml: {why}"))?;
    let chosen: Vec<usize> = match extent {
        Extent::Full | Extent::Rest => (0..cases.len()).collect(),
        Extent::Short => SHORT.to_vec(),
    };
    let program = program(extent)?;
    let mut rows = Vec::new();
    for (place, number) in chosen.iter().enumerate() {
        let case = &cases[*number];
        eprintln!("    case {} of {}: {}", place + 1, chosen.len(), case.traffic);
        let document = match compare(&program, extent, (case, *number)) {
            Err(why) if extent == Extent::Short && why.contains(FORBIDDEN) => {
                eprintln!("    SKIPPED: {why}");
                ledger.skip(&why);
                return Ok(());
            }
            document => document?,
        };
        let cells = document["cells"].as_array().ok_or("agree printed no cells")?;
        rows.extend(cells.iter().map(|cell| row(case, cell)));
        let table = format!("{}\n{}", table(&rows), summary(&rows, &document["environment"]));
        match (extent, place + 1 == chosen.len()) {
            (Extent::Short, true) => println!("{table}"),
            (Extent::Short, false) => {}
            // Finished cases are kept after an interruption.
            (Extent::Full | Extent::Rest, _) => replace_in_page(&table)?,
        }
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
    let target = env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    let copied =
        fs::create_dir_all(RESULTS).and_then(|()| fs::copy(target.join("release/trackbed"), &kept));
    copied.map_err(|why| format!("cannot copy the program to {}: {why}", kept.display()))?;
    Ok(kept)
}

/// The document of `trackbed agree` for one case.
fn compare(
    program: &Path,
    extent: Extent,
    (case, number): (&Case, usize),
) -> Result<Value, String> {
    let out = match extent {
        Extent::Full | Extent::Rest => format!("{RESULTS}/{number}"),
        Extent::Short => format!("{RESULTS}/short-{number}"),
    };
    // Earlier results would be continued.
    if extent != Extent::Rest {
        let _ = fs::remove_dir_all(&out);
    }
    let budget = case.budget.as_deref().unwrap_or(BUDGET);
    let mut command = Command::new(program);
    command.args(["agree", &case.scenario, "--until-decided", "--json", "--quiet", "--out", &out]);
    command.args(["--budget", budget, "--runs", &case.runs.unwrap_or(RUNS).to_string()]);
    command.args(["--jobs", &case.jobs.unwrap_or(1).to_string()]);
    command.args(case.part.iter().flat_map(|part| ["--part", part]));
    command.args(case.set.iter().chain(&case.axes).flat_map(|setting| ["--set", setting]));
    let output = command.stderr(Stdio::piped()).output();
    let output = output.map_err(|why| format!("cannot start {}: {why}", program.display()))?;
    // 1 means that a cell differs, or a run failed; the document says which.
    if !matches!(output.status.code(), Some(0 | 1)) || output.stdout.is_empty() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} over {}: {why}", case.traffic, case.path()));
    }
    serde_json::from_slice(&output.stdout).map_err(|why| format!("agree printed no JSON: {why}"))
}

/// A line of the table.
struct Row {
    columns: [String; 12],
    verdict: String,
}

const TITLES: [&str; 12] = [
    "traffic",
    "path",
    "cell",
    "metric",
    "virtual",
    "kernel",
    "n",
    "ratio",
    "interval",
    "with computing",
    "correlation",
    "verdict",
];

fn row(case: &Case, cell: &Value) -> Row {
    let number = |key: &str| cell[key].as_f64().unwrap_or(f64::NAN);
    let value = |value: f64| match value {
        _ if value < 10.0 => format!("{value:.2}"),
        _ if value < 1e3 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    let text = |key: &str| cell[key].as_str().unwrap_or("?").to_owned();
    let optional = |key: &str, digits| {
        cell[key].as_f64().map_or_else(String::new, |value| format!("{value:.digits$}"))
    };
    let end = |index: usize| cell["ci90"][index].as_f64().unwrap_or(f64::NAN);
    let margin = number("margin");
    let mut verdict = format!("{} ({:.0} %)", text("verdict").replace('_', " "), margin * 100.0);
    if let Some(pairs) = cell["pairs_to_decide"].as_u64() {
        write!(verdict, ", {pairs} pairs").expect("a String takes everything");
    }
    if text("verdict") == "different" {
        let name = format!("{} {}", text("name"), text("metric"));
        let known = case.causes.iter().find(|(part, _)| name.contains(*part));
        let cause = known.map_or("unknown", |(_, cause)| cause);
        write!(verdict, ": {cause}").expect("a String takes everything");
    }
    Row {
        columns: [
            case.traffic.clone(),
            case.path(),
            text("name"),
            text("metric"),
            value(number("virtually")),
            value(number("emulated")),
            cell["pairs"].to_string(),
            format!("{:.3}", number("ratio")),
            interval([end(0), end(1)]),
            cell["with_computing"].as_object().map_or_else(String::new, |with| {
                let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
                let ends = [0, 1].map(|end| number(&with["ci90"][end]));
                format!("{:.3}, {}", number(&with["ratio"]), interval(ends))
            }),
            optional("correlation", 2),
            verdict,
        ],
        verdict: text("verdict"),
    }
}

/// An interval that could not be computed is from 0 to 1e12.
fn interval([low, high]: [f64; 2]) -> String {
    if high > 1e6 { "unknown".to_owned() } else { format!("{low:.3} to {high:.3}") }
}

/// The rows as a table in Markdown.
fn table(rows: &[Row]) -> String {
    let line = |columns: &[String]| format!("| {} |\n", columns.join(" | "));
    let mut text = line(&TITLES.map(str::to_owned));
    text.push_str(&line(&TITLES.map(|title| match title {
        "traffic" | "path" | "cell" | "metric" | "verdict" => "---".to_owned(),
        _ => "---:".to_owned(),
    })));
    rows.iter().for_each(|row| text.push_str(&line(&row.columns)));
    text
}

fn summary(rows: &[Row], environment: &Value) -> String {
    let count = |verdict: &str| rows.iter().filter(|row| row.verdict == verdict).count();
    let fact = |name: &str| environment[name].as_str().unwrap_or("unknown").to_owned();
    format!(
        "{} of {} equivalent, {} more with computing, {} different, {} undecided. Linux {}, {} cores, {}.\n",
        count("equivalent"),
        rows.len(),
        count("equivalent_with_computing"),
        count("different"),
        count("undecided"),
        fact("kernel"),
        fact("cores"),
        fact("processor"),
    )
}

/// Replaces the table in the page.
fn replace_in_page(table: &str) -> Result<(), String> {
    let text = fs::read_to_string(PAGE).map_err(|why| format!("{PAGE}: {why}"))?;
    let split = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = split.ok_or(format!("{PAGE} has no markers for the table"))?;
    let text = format!("{before}{BEGIN}\n\n{table}\n{END}{after}");
    fs::write(PAGE, text).map_err(|why| format!("{PAGE}: {why}"))
}

/// The message of `trackbed` on a machine without namespaces.
const FORBIDDEN: &str = "does not let you";
/// Removed to start over.
const RESULTS: &str = "target/agreement";
const PAGE: &str = "docs/agreement.md";
const BEGIN: &str = "<!-- table -->";
const END: &str = "<!-- end of the table -->";
