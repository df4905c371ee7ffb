//! `trackbed check`: what files are taken for, and what is read of them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use serde_json::Value;
use trackbed_core::text::{lines, plural};
use trackbed_net::models::parse_rates;
use trackbed_outward::files::{decompressed, read_bounded};
use trackbed_railway::handover::Table;
use trackbed_railway::motion::{DriveLog, LogFormat};
use trackbed_scenario::{Override, Plan, Source, load};
use trackbed_v2x::json;

use super::v2x;
use crate::ending::Ending;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  trackbed check my.toml drive.gpx page.har
  trackbed check traces/*

Kinds: scenarios, logs of drives (GPX, NMEA, tables), handover tables, archives of pages (HAR), manifests of
pages, message payloads (JSON), Mahimahi traces, timetables of rates, losses and delays, captures of V2X
messages, V2X messages and certificates. Files may be compressed with gzip. The kind is known by the
content. A file that cannot be read has the error that a run would have; then the exit status is 1.";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The files to check
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

/// A file of the largest input, decompressed.
const BYTES_MAX: u64 = 256 << 20;

/// Prints a line for each file.
pub fn execute(arguments: &Arguments) -> anyhow::Result<Ending> {
    let mut ending = Ending::Success;
    for path in &arguments.files {
        let read = read_bounded(path, BYTES_MAX);
        let read = read.and_then(|bytes| Ok(decompressed(bytes.into(), BYTES_MAX)?.into_owned()));
        let (kind, said) = match read.context("cannot be read") {
            Ok(bytes) => look(path, &bytes),
            Err(why) => ("unknown", Err(why)),
        };
        let said = said.unwrap_or_else(|why| {
            ending = Ending::CheckFailed;
            let why = format!("{why:#}");
            // A scenario's errors say so themselves.
            format!("error: {}", why.trim_start_matches("error: "))
        });
        output::print(&format!("{}: {kind}: {said}\n", path.display()))?;
    }
    Ok(ending)
}

/// What a file is taken for, and what is read of it.
fn look(path: &Path, bytes: &[u8]) -> (&'static str, anyhow::Result<String>) {
    if v2x::is_capture(bytes) {
        return ("capture", capture(bytes));
    }
    let binary = v2x::unhex(bytes);
    let text = match (std::str::from_utf8(bytes), json::describe(&binary)) {
        (Ok(text), Err(_)) => text,
        (_, described) => {
            let said = described.map(|_| plural(binary.len() as u64, "byte"));
            return ("V2X message or certificate", said.map_err(|why| anyhow!("{why}")));
        }
    };
    let first = lines(text).next().map_or("", |(_, line)| line);
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let words = || first.split_whitespace();
    let has_unit = |unit: &str| first.to_lowercase().contains(unit);
    let key = first.split_once('=').map_or(first, |(key, _)| key.trim());
    let is_toml = path.extension().is_some_and(|ending| ending == "toml")
        || first.starts_with('[')
        || key != first && key.chars().all(|c| c.is_alphanumeric() || "._-\"".contains(c));
    let file = format!("{:?}", path.display().to_string());
    match first.chars().next() {
        Some('{') if text.contains("\"FeatureCollection\"") => ("handover table", table(text)),
        Some('{') if text.contains("\"entries\"") => ("page (HAR)", archive(text, &file)),
        Some('{') => ("payload", planned("vru", "workload.payload", &file).map(|_| bytes_of(text))),
        Some('[') if text.contains("[[object]]") => {
            let read = planned("web", "workload.manifest", &file).and_then(|plan| page(&plan));
            ("manifest", read.map(|(objects, _)| objects))
        }
        _ if LogFormat::of_text(text) == LogFormat::Gpx => ("drive (GPX)", drive(text)),
        _ if LogFormat::of_text(text) == LogFormat::Nmea => ("drive (NMEA)", drive(text)),
        _ if has_unit("lat") => ("drive (table)", drive(text)),
        _ if is_number(first) => {
            let read = planned("vru", "link.rate", &format!("{{ trace = {{ trace = {file} }} }}"));
            ("trace of a link", read.map(|_| until(text, "line", ',', " ms")))
        }
        _ if words().count() == 2 && words().all(is_number) => {
            let read = trackbed_net::models::delay::parse_delay_trace(text);
            ("delays", read.map(|_| until(text, "row", ' ', " ms")).map_err(|why| anyhow!("{why}")))
        }
        _ if has_unit("bit") => ("timetable of rates", rates(text)),
        _ if first.contains('%') && first.contains(',') => {
            let table = format!("{{ timetable = {{ losses = {file} }} }}");
            let read = planned("vru", "link.loss", &table);
            ("timetable of losses", read.map(|_| until(text, "row", ',', "")))
        }
        _ if is_toml => ("scenario", load_scenario(path)),
        _ if first.contains([',', ';', '\t']) => ("drive (table)", drive(text)),
        _ => {
            ("unknown", Err(anyhow!("no known kind of input; `trackbed check --help` lists them")))
        }
    }
}

fn load_scenario(path: &Path) -> anyhow::Result<String> {
    let plan = load(&Source::File(path.to_owned()), &[])?;
    let files =
        plan.inputs.iter().map(|input| format!(", reads {}", input.path)).collect::<String>();
    let notes = plan.notes.iter().map(|note| format!("; {note}")).collect::<String>();
    Ok(format!("{}{files}{notes}", plural(plan.cells.len() as u64, "cell")))
}

/// A built-in scenario that reads the file as a run would.
fn planned(scenario: &str, key: &str, value: &str) -> anyhow::Result<Plan> {
    Ok(load(&Source::named(scenario), &[format!("{key}={value}").parse::<Override>()?])?)
}

/// The number of rows, and the time in the last one.
fn until(text: &str, what: &str, separator: char, unit: &str) -> String {
    let last = lines(text).last().map_or("", |(_, line)| line);
    let last = last.split(separator).next().unwrap_or_default();
    format!("{} until {last}{unit}", plural(lines(text).count() as u64, what))
}

fn rates(text: &str) -> anyhow::Result<String> {
    let rows = parse_rates(text).map_err(|why| anyhow!("{why}"))?;
    let until = rows.last().map_or(0.0, |(at, _)| at.as_nanos() as f64 / 1e9);
    let of_rates = lines(text).filter(|(_, line)| line.starts_with(|c: char| c.is_ascii_digit()));
    let said = format!("{} until {until} s", plural(rows.len() as u64, "rate"));
    Ok(match of_rates.count().saturating_sub(rows.len()) {
        0 => said,
        others => format!("{said}, {} without a rate skipped", plural(others as u64, "line")),
    })
}

fn bytes_of(text: &str) -> String {
    plural(text.len() as u64, "byte")
}

fn table(text: &str) -> anyhow::Result<String> {
    super::handover::outline(&Table::parse(text)?)
}

fn drive(text: &str) -> anyhow::Result<String> {
    let log = DriveLog::parse(text, &[])?;
    let times = || log.samples.iter().filter_map(|sample| sample.seconds);
    let span = match (times().next(), times().next_back()) {
        (Some(first), Some(last)) => format!(" in {:.0} s", last - first),
        _ => " without times".to_owned(),
    };
    let positions = plural(log.samples.len() as u64, "position");
    Ok(format!("{positions}{span}{}", log.skipped()))
}

fn archive(text: &str, file: &str) -> anyhow::Result<String> {
    let (said, objects) = page(&planned("web", "workload.har", file)?)?;
    let archive: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
    let entries = archive["log"]["entries"].as_array().map_or(0, Vec::len);
    Ok(match entries.saturating_sub(objects) {
        0 => said,
        others => format!(
            "{said}, {} of other pages, without an answer or not over HTTP skipped",
            plural(others as u64, "request")
        ),
    })
}

/// The objects of a plan's page.
fn page(plan: &Plan) -> anyhow::Result<(String, usize)> {
    let Some(objects) = plan.cells.first().and_then(|cell| cell.workload.page()) else {
        bail!("the scenario loads no page");
    };
    let bytes: u64 = objects.iter().map(|object| object.bytes).sum();
    Ok((format!("{} of {bytes} bytes", plural(objects.len() as u64, "object")), objects.len()))
}

fn capture(bytes: &[u8]) -> anyhow::Result<String> {
    let (messages, packets, end) = v2x::messages(bytes);
    if messages.is_empty() {
        bail!("no signed message in {}{end}", plural(packets as u64, "packet"));
    }
    let others = plural((packets - messages.len()) as u64, "other packet");
    Ok(format!("{}, {others} skipped{end}", plural(messages.len() as u64, "signed message")))
}
