//! How far the virtual and the emulated substrate agree, over a grid of paths: the table of
//! `docs/agreement.md`.

use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::cargo::cargo;
use crate::ledger::Ledger;

/// How much of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every path, with the runs that the intervals need; half an hour. The page is rewritten.
    Full,
    /// The rest of an interrupted [`Extent::Full`]. Only with the same build, because runs of two
    /// versions cannot be distinguished afterwards.
    Rest,
    /// A few quick paths; a minute. The table is only printed.
    Short,
}

/// A path and its transfer.
struct Path {
    /// In Mbit/s.
    rate: u32,
    /// One way, in ms.
    delay: u32,
    /// In percent, each way.
    loss: f64,
    /// The queue, in bandwidth-delay products (rate times both delays).
    queue: f64,
    /// In bytes.
    size: u32,
}

const fn path(rate: u32, delay: u32, loss: f64, queue: f64, size: u32) -> Path {
    Path { rate, delay, loss, queue, size }
}

/// Rates of 1 to 100 Mbit/s, delays of 5 to 200 ms, losses of 0 to 5 %, queues of 0.25 to 4
/// bandwidth-delay products, transfers of 10 kB to 20 MB: each value beside several of the others,
/// and no transfer longer than some ten seconds. The first are those of the short form.
const GRID: [Path; 24] = [
    path(10, 20, 0.0, 1.0, 100_000),
    path(50, 10, 0.0, 1.0, 1_000_000),
    path(10, 10, 5.0, 1.0, 100_000),
    path(1, 5, 0.0, 4.0, 10_000),
    path(1, 50, 0.0, 1.0, 100_000),
    path(1, 200, 0.0, 0.25, 100_000),
    path(10, 5, 0.0, 4.0, 1_000_000),
    path(10, 100, 0.0, 1.0, 1_000_000),
    path(50, 50, 0.0, 1.0, 1_000_000),
    path(50, 50, 0.0, 0.25, 20_000_000),
    path(100, 5, 0.0, 1.0, 20_000_000),
    path(100, 20, 0.0, 0.25, 20_000_000),
    path(100, 200, 0.0, 1.0, 20_000_000),
    path(1, 20, 1.0, 4.0, 100_000),
    path(5, 50, 2.0, 1.0, 100_000),
    path(10, 10, 1.0, 0.25, 10_000),
    path(10, 5, 0.1, 1.0, 1_000_000),
    path(10, 20, 1.0, 1.0, 1_000_000),
    path(50, 10, 0.5, 1.0, 1_000_000),
    path(50, 5, 1.0, 4.0, 1_000_000),
    path(50, 200, 0.1, 0.25, 1_000_000),
    path(100, 5, 5.0, 1.0, 100_000),
    path(100, 100, 0.5, 1.0, 100_000),
    path(100, 20, 0.1, 1.0, 20_000_000),
];

/// Paths of the short form, from the beginning.
const SHORT: usize = 3;
const RUNS_SHORT: u32 = 6;

impl Path {
    /// Without loss, runs differ little; long ones average over more losses each.
    fn runs(&self) -> u32 {
        match (self.loss > 0.0, self.size) {
            (_, 10_000_000..) => 8,
            (true, ..1_000_000) => 12,
            _ => 10,
        }
    }
}

/// Runs the grid.
///
/// # Errors
/// If a path cannot be run, or the page cannot be written. A disagreement of the substrates is a
/// result.
pub fn run(extent: Extent, ledger: &mut Ledger) -> Result<(), String> {
    let paths = match extent {
        Extent::Full | Extent::Rest => &GRID[..],
        Extent::Short => &GRID[..SHORT],
    };
    let mut rows = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let runs = match extent {
            Extent::Short => RUNS_SHORT,
            Extent::Full | Extent::Rest => path.runs(),
        };
        eprintln!("    path {} of {}, {runs} runs a cell", number + 1, paths.len());
        let document = match compare(extent, path, number, runs) {
            Err(why) if extent == Extent::Short && why.contains(FORBIDDEN) => {
                eprintln!("    SKIPPED: {why}");
                ledger.skip(&why);
                return Ok(());
            }
            document => document?,
        };
        let cells = document["cells"].as_array().ok_or("agree printed no cells")?;
        rows.extend(cells.iter().map(|cell| row(path, cell)));
        let table = format!("{}\n{}", table(&rows), summary(&rows, &document["environment"]));
        match (extent, number + 1 == paths.len()) {
            (Extent::Short, true) => println!("{table}"),
            (Extent::Short, false) => {}
            // Finished paths are kept after an interruption.
            (Extent::Full | Extent::Rest, _) => replace_in_page(&table)?,
        }
    }
    Ok(())
}

/// The document of `trackbed agree` for one path.
fn compare(extent: Extent, path: &Path, number: usize, runs: u32) -> Result<Value, String> {
    let bytes_per_rtt = f64::from(path.rate) * 1e6 / 8.0 * 2.0 * f64::from(path.delay) / 1e3;
    let out = match extent {
        Extent::Full | Extent::Rest => format!("{RESULTS}/{number}"),
        Extent::Short => format!("{RESULTS}/short-{number}"),
    };
    // Earlier results would be continued.
    if extent != Extent::Rest {
        let _ = fs::remove_dir_all(&out);
    }
    let settings = [
        format!("link.rate={}Mbit/s", path.rate),
        format!("link.delay={}ms", path.delay),
        format!("link.loss={}%", path.loss),
        format!("link.queue={}B", (bytes_per_rtt * path.queue).round()),
        format!("workload.size={}B", path.size),
    ];
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--bin", "trackbed", "--"]);
    command.args(["agree", "xtask/src/agreement.toml", "--json", "--out", &out]);
    command.args(["--runs", &runs.to_string()]);
    for setting in &settings {
        command.args(["--set", setting]);
    }
    let output = command.stderr(Stdio::piped()).output();
    let output = output.map_err(|why| format!("cannot start cargo: {why}"))?;
    // 1 means that a cell differs, or a run failed; the document says which.
    if !matches!(output.status.code(), Some(0 | 1)) || output.stdout.is_empty() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|why| format!("agree printed no JSON: {why}"))
}

/// A line of the table.
struct Row {
    columns: [String; 12],
    verdict: String,
}

const TITLES: [&str; 12] = [
    "Mbit/s",
    "ms",
    "loss",
    "queue",
    "bytes",
    "ends",
    "virtual ms",
    "kernel ms",
    "n",
    "ratio",
    "90 % interval",
    "verdict",
];

fn row(path: &Path, cell: &Value) -> Row {
    let number = |key: &str| cell[key].as_f64().unwrap_or(f64::NAN);
    let time = |value: f64| if value < 1e3 { format!("{value:.1}") } else { format!("{value:.0}") };
    let verdict = cell["verdict"].as_str().unwrap_or("?").to_owned();
    let end = |index: usize| cell["ci90"][index].as_f64().unwrap_or(f64::NAN);
    Row {
        columns: [
            path.rate.to_string(),
            path.delay.to_string(),
            format!("{} %", path.loss),
            format!("{} BDP", path.queue),
            path.size.to_string(),
            cell["name"].as_str().unwrap_or("?").to_owned(),
            time(number("virtually")),
            time(number("emulated")),
            cell["pairs"].to_string(),
            format!("{:.3}", number("ratio")),
            format!("{:.3} to {:.3}", end(0), end(1)),
            format!("{verdict} ({:.0} %)", number("margin") * 100.0),
        ],
        verdict,
    }
}

/// The rows as a table in Markdown.
fn table(rows: &[Row]) -> String {
    let line = |columns: &[String]| format!("| {} |\n", columns.join(" | "));
    let mut text = line(&TITLES.map(str::to_owned));
    text.push_str(&line(&TITLES.map(|_| "---:".to_owned())));
    rows.iter().for_each(|row| text.push_str(&line(&row.columns)));
    text
}

fn summary(rows: &[Row], environment: &Value) -> String {
    let count = |verdict: &str| rows.iter().filter(|row| row.verdict == verdict).count();
    let fact = |name: &str| environment[name].as_str().unwrap_or("unknown").to_owned();
    let mut text = String::new();
    writeln!(
        text,
        "{} of {} equivalent, {} different, {} undecided. Linux {}, {} cores, {}.",
        count("equivalent"),
        rows.len(),
        count("different"),
        count("undecided"),
        fact("kernel"),
        fact("cores"),
        fact("processor"),
    )
    .expect("writing to a String cannot fail");
    text
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
