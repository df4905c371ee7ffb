//! `trackbed report`, and `run --report`

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use trackbed_analysis::paper::{self, Held};
use trackbed_archive::files::PAGE;
use trackbed_archive::{Recorded, RecordedError, RecordedRuns, Results as _, read_about};
use trackbed_lab::timeline::{self, Seen};
use trackbed_measure::results::{Document, VIRTUAL};
use trackbed_report::methods;
use trackbed_report::page::{Builder, Limit, Origin, Watched};
use trackbed_scenario::Plan;
use trackbed_substrate::Cancel;

use super::paper::with_single_runs;
use crate::ending::Ending;
use crate::output::{self, no_place, shell_word, tell, write_file, write_own};
use crate::patience::Patience;
use crate::shell;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/report.txt"))]
pub struct Arguments {
    /// The run directory
    pub directory: PathBuf,
    /// Write the report to FILE [default: report.html in the run directory]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print only the paragraph on methods, as for a paper: design, seeds, statistics, software
    #[arg(long, conflicts_with_all = ["out", "open"])]
    pub methods: bool,
    /// Open the report in a browser
    #[arg(long)]
    pub open: bool,
}

/// Writes the report about a run directory.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    if arguments.methods {
        let (about, (document, _)) =
            (read_about(&arguments.directory)?, trackbed_analysis::open(&arguments.directory)?);
        output::print(&format!("{}\n", methods(&document, about.build.as_deref())))?;
        return Ok(Ending::Success);
    }
    let path = write(&arguments.directory, arguments.out.as_deref())?;
    if arguments.open {
        open(&path);
    }
    Ok(Ending::Success)
}

/// Writes the report about the run directory `directory` to `out` or into it, and prints and returns its path.
pub fn write(directory: &Path, out: Option<&Path>) -> anyhow::Result<PathBuf> {
    let about = read_about(directory)?;
    let (document, runs) = trackbed_analysis::open(directory)?;
    let words: Vec<String> = about.command.iter().map(|word| shell::word(word)).collect();
    let is_repeatable = document.substrate == VIRTUAL;
    let settings = about.overrides.join(", ");
    let origin = Origin {
        command: words.join(" "),
        replay: if is_repeatable {
            format!("trackbed replay {}", shell_word(directory))
        } else {
            String::new()
        },
        scenario: about.text,
        build: about.build,
        notes: (!settings.is_empty())
            .then(|| ("settings".to_owned(), settings))
            .into_iter()
            .collect(),
    };
    let mut page = Builder::new(&document, origin);
    for cell in 0..document.cells.len() as u32 {
        let mut of_cell = runs.of(cell)?.into_owned();
        of_cell.retain(|run| run.run < document.runs);
        page.cell(cell, &of_cell)?;
    }
    match Recorded::read(directory) {
        Ok(recorded) => {
            let cancel = Cancel::default();
            let _patience = Patience::begin(REPEATING, &cancel);
            limits(&recorded.plan).into_iter().for_each(|limit| page.limit(limit));
            study(&recorded.plan, &document, &runs, &cancel)?
                .into_iter()
                .for_each(|held| page.study(held));
            if is_repeatable {
                watch(&recorded.plan, &mut page, &cancel)?;
            }
            if cancel.is_cancelled() {
                tell(
                    "note: single runs that take long to repeat are not shown; `trackbed replay` repeats one",
                );
            }
        }
        Err(RecordedError::Test(_)) => {}
        // Runs of directories from other versions cannot be repeated.
        Err(why) => tell(format_args!("note: the report lacks deadlines and single runs: {why}")),
    }
    let path = out.map_or_else(|| directory.join(PAGE), Path::to_owned);
    let write = |file: &mut (dyn io::Write + Send)| {
        file.write_all(page.finish().as_bytes()).with_context(|| no_place(&path))
    };
    match out {
        Some(_) => write_file(&path, write)?,
        None => write_own(&path, write)?,
    }
    tell(format_args!("report: {}", shell_word(&path)));
    Ok(path)
}

/// The comparison of the scenario's study with the runs.
fn study(
    plan: &Plan,
    document: &Document,
    runs: &RecordedRuns,
    cancel: &Cancel,
) -> anyhow::Result<Option<Held>> {
    let Some(name) = &plan.paper else { return Ok(None) };
    let held = paper::hold(name, plan, document, runs, false)?;
    Ok(held.map(|held| with_single_runs(held, name, plan, document, cancel)))
}

/// The deadline of answers and verdicts, if it is the same for all cells.
fn limits(plan: &Plan) -> Vec<Limit> {
    let mut deadlines = plan.cells.iter().map(|cell| cell.workload.deadline());
    let Some(Some(deadline)) = deadlines.next() else { return Vec::new() };
    if deadlines.any(|other| other != Some(deadline)) {
        return Vec::new();
    }
    let limit = |metric: &str| Limit {
        metric: metric.to_owned(),
        value: deadline.as_secs_f64() * 1e3,
        label: format!("deadline {deadline:?}"),
    };
    ["rtt_ms", "verdict_ms"].map(limit).into()
}

/// Repeats a typical run of a few cells for the figures of single runs.
fn watch(plan: &Plan, page: &mut Builder<'_>, cancel: &Cancel) -> anyhow::Result<()> {
    for (cell, run) in page.typical_runs() {
        let seen = timeline::of(&plan.cells[cell as usize], plan.seed, run, cancel);
        let Some(Seen { timeline, bars }) = seen else { continue };
        page.run(&Watched { cell, run, timeline, bars })?;
    }
    Ok(())
}

/// Opens a file with the desktop's default program.
pub fn open(path: &Path) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started =
        Command::new(opener).arg(path).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if started.is_err() {
        tell(format_args!("cannot find {opener}; open {} yourself", path.display()));
    }
}

/// Runs of a page are repeated for at most this long.
const REPEATING: Duration = Duration::from_secs(60);
