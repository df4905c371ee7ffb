//! `trackbed drive`: logs of real trains as drives that a scenario can replay.

use std::fs;
use std::io::{BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, Subcommand};
use trackbed_core::text::{lines, plural};
use trackbed_net::models::Trace;
use trackbed_outward::files::{MARKS, create, open, read_text};
use trackbed_railway::handover::{Learner, Settings, Table};
use trackbed_railway::motion::DriveLog;
use trackbed_railway::radio::{drive_from_text, drive_to_text};
use trackbed_railway::recording::{Imported, Recording};
use trackbed_report::handover;

use super::handover::{column, outline};
use crate::ending::Ending;
use crate::output::{shell_word, tell};

#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: DriveCommand,
}

#[derive(Debug, Subcommand)]
enum DriveCommand {
    /// Make one drive of the logs of a train's modems and receivers
    #[command(after_long_help = include_str!("../../help/drive-import.txt"))]
    Import(ImportArguments),
    /// Draw a drive: map, throughput, handovers, and where a table expects them
    Show(ShowArguments),
}

#[derive(Debug, Args)]
struct ImportArguments {
    /// The logs; NAME= is the operator of what has no name
    #[arg(required = true, value_name = "[NAME=]FILE")]
    logs: Vec<String>,
    /// Write the drive to FILE
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Learn the handovers into the table in FILE, which is created if there is none
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Read the column with this HEADING as NAME; may be given several times
    #[arg(long = "column", value_name = "NAME=HEADING", value_parser = column)]
    columns: Vec<(String, String)>,
}

#[derive(Debug, Args)]
struct ShowArguments {
    /// The drive
    drive: PathBuf,
    /// Show where this handover table expects handovers
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Write the picture to FILE (SVG)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Imports or shows a drive.
///
/// # Errors
/// If a file cannot be read or written, or is invalid.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    match &arguments.command {
        DriveCommand::Import(arguments) => import(arguments),
        DriveCommand::Show(arguments) => show(arguments),
    }?;
    Ok(Ending::Success)
}

fn import(arguments: &ImportArguments) -> anyhow::Result<()> {
    let (mut recording, mut unused) = (Recording::default(), arguments.columns.clone());
    for log in &arguments.logs {
        let (operator, path) = match log.split_once('=') {
            Some((name, path)) if !Path::new(log).exists() => (Some(name.trim()), Path::new(path)),
            _ => (None, Path::new(log.as_str())),
        };
        read(&mut recording, path, operator, (&arguments.columns, &mut unused))
            .with_context(|| path.display().to_string())?;
    }
    if let Some((name, heading)) = unused.first() {
        bail!("--column {name}={heading}: no log has this heading");
    }
    let known = arguments.table.as_ref().filter(|path| path.exists());
    let known = known.map(|path| Table::load(path)).transpose()?;
    let imported = recording.drive(known.as_ref())?;
    imported.notes.iter().for_each(|note| tell(format_args!("note: {note}")));
    let written = create(&arguments.output)
        .and_then(|mut file| file.write_all(drive_to_text(&imported.drive).as_bytes()));
    written.with_context(|| format!("cannot write {}", arguments.output.display()))?;
    let handovers = imported.drive.timelines.iter().map(|one| one.handovers.len() as u64).sum();
    let operators = plural(imported.drive.timelines.len() as u64, "operator");
    if imported.drive.timelines.len() > 2 {
        tell("note: `run` rides over one or two operators; import those that it is to use");
    }
    let output = shell_word(&arguments.output);
    tell(format_args!("{output}: {operators}, {}", plural(handovers, "handover")));
    arguments.table.as_ref().map_or(Ok(()), |path| learn(&imported, known.as_ref(), path))
}

fn learn(imported: &Imported, known: Option<&Table>, path: &Path) -> anyhow::Result<()> {
    let both = imported.record().zip(imported.ride.as_ref());
    let (record, ride) = both.context("--table: the logs have no positions that can be used")?;
    let settings = Settings::default();
    let mut learner = match known {
        Some(table) => Learner::continuing(table, settings)?,
        None => Learner::new(Arc::clone(ride.track()), settings)?,
    };
    learner.ride(&record);
    let table = learner.table();
    table.save(path)?;
    tell(format_args!("{}: {}", shell_word(path), outline(&table)?));
    Ok(())
}

/// Names of columns and what they are.
type Columns = Vec<(String, String)>;

fn read(
    recording: &mut Recording,
    path: &Path,
    operator: Option<&str>,
    (columns, unused): (&[(String, String)], &mut Columns),
) -> anyhow::Result<()> {
    let mut head = Vec::new();
    open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    let is_encoded = MARKS.iter().any(|(mark, _)| head.starts_with(mark));
    let packed = is_encoded.then(|| read_text(path, WHOLE_MAX)).transpose()?;
    let start = match &packed {
        Some(text) => text.chars().take(HEAD_BYTES as usize).collect(),
        None => String::from_utf8_lossy(&head),
    };
    let is_trace = lines(&start).next().is_some_and(|(_, line)| line.parse::<u64>().is_ok());
    if is_trace {
        let operator = operator.context("a trace has no operator; write NAME=FILE")?;
        let trace = Trace::parse(&read_text(path, WHOLE_MAX)?).map_err(|why| anyhow!("{why}"))?;
        if trace.seconds() > DAY_S {
            bail!("the trace lasts more than a day; shorten it");
        }
        recording.take_trace(&trace.rates_bps(), operator)?;
        return Ok(());
    }
    // Each log has some of the columns.
    let is_own = |(_, heading): &&(String, String)| {
        // A heading may have spaces, or be separated by them.
        let mut fields = start.split([',', ';', '\t', '\n']).chain(start.split_whitespace());
        fields.any(|field| field.trim().trim_matches('"').eq_ignore_ascii_case(heading))
    };
    let own: Vec<(String, String)> = columns.iter().filter(is_own).cloned().collect();
    unused.retain(|column| !own.contains(column));
    let mut all = DriveLog::default();
    let take = |log: DriveLog| {
        all.without_position += log.without_position;
        all.damaged += log.damaged;
        all.unreachable += log.unreachable;
        recording.take(&log, operator)
    };
    match packed {
        Some(text) => DriveLog::read_pieces(text.as_bytes(), &own, take)?,
        None => DriveLog::read_pieces(BufReader::new(open(path)?), &own, take)?,
    }
    let skipped = all.skipped();
    if !skipped.is_empty() {
        tell(format_args!("{}: read{skipped}", path.display()));
    }
    Ok(())
}

fn show(arguments: &ShowArguments) -> anyhow::Result<()> {
    let text = read_text(&arguments.drive, WHOLE_MAX);
    let text = text.with_context(|| format!("cannot read {}", arguments.drive.display()))?;
    let drive = drive_from_text(&text).map_err(|why| anyhow!("{why}"))?;
    let table = arguments.table.as_ref().map(|path| Table::load(path)).transpose()?;
    let picture = handover::drive_svg(&drive, table.as_ref()).map_err(|why| anyhow!("{why}"))?;
    let path = &arguments.output;
    fs::write(path, picture).with_context(|| format!("cannot write {}", path.display()))?;
    tell(format_args!("picture: {}", shell_word(path)));
    Ok(())
}

const HEAD_BYTES: u64 = 65_536;
const WHOLE_MAX: u64 = 256_000_000;
const DAY_S: u64 = 86_400;
