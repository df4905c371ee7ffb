//! `trackbed check`: what files are taken for, and what is read of them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, ensure};
use clap::Args;
use serde::de::IgnoredAny;
use serde_json::Value;
use trackbed_core::Seed;
use trackbed_core::text::{lines, plural};
use trackbed_net::models::delay::parse_delay_trace;
use trackbed_net::models::parse_rates;
use trackbed_outward::files::{decompressed, read_bounded, text_of};
use trackbed_railway::handover::Table;
use trackbed_railway::motion::{DriveLog, LogFormat};
use trackbed_scenario::{Plan, Source, load};
use trackbed_v2x::json;
use trackbed_v2x::traffic::{Crossing, Recording};

use super::handover::outline;
use super::v2x;
use crate::ending::Ending;
use crate::output;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/check.txt"))]
pub struct Arguments {
    /// The files to check
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

const OR_RATES: &str = "if these are seconds and Mbit/s, write the heading time_s rate_Mbit/s above them, separated as they are";

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
            // A scenario's errors say so themselves.
            format!("error: {}", format!("{why:#}").trim_start_matches("error: "))
        });
        output::print(&format!("{}: {kind}: {said}\n", path.display()))?;
    }
    Ok(ending)
}

/// What a file is taken for, and what is read of it.
fn look(path: &Path, bytes: &[u8]) -> (&'static str, anyhow::Result<String>) {
    let planned = |kind| planned(kind, path);
    if trackbed_measure::pcapng::is_capture(bytes) {
        return ("capture", capture(bytes, || planned("background")));
    }
    let binary = v2x::unhex(bytes);
    let (text, described) = (text_of(bytes.to_vec()), json::describe(&binary));
    let Some(text) = text.as_deref().ok().filter(|_| described.is_err()) else {
        let said = described.map(|_| count(binary.len(), "byte"));
        return ("V2X message or certificate", said.map_err(|why| anyhow!("{why}")));
    };
    let first = lines(text).next().map_or("", |(_, line)| line);
    let is_numbers = first.split_whitespace().all(|word| word.parse::<f64>().is_ok());
    let has_unit = |unit: &str| first.to_lowercase().contains(unit);
    let has_separator = first.contains([',', ';', '\t']);
    let mut headings = first
        .split(|c: char| ",;\t".contains(c) || !has_separator && c.is_whitespace())
        .map(|heading| heading.trim().to_lowercase());
    let has_place = headings.any(|heading| matches!(heading.as_str(), "lat" | "latitude"));
    let key = first.split_once('=').map_or(first, |(key, _)| key.trim());
    let is_list = first.starts_with('[') && serde_json::from_str::<IgnoredAny>(text).is_ok();
    let is_toml = path.extension().is_some_and(|ending| ending == "toml")
        || first.starts_with('[')
        || key != first && key.chars().all(|c| c.is_alphanumeric() || "._-\"".contains(c));
    match LogFormat::of_text(text) {
        LogFormat::Gpx if text.contains("<fcd-export") => ("vehicles (SUMO)", vehicles(text)),
        LogFormat::Gpx => ("drive (GPX)", drive(text)),
        LogFormat::Nmea => ("drive (NMEA)", drive(text)),
        _ if first.starts_with('{') && text.contains("\"FeatureCollection\"") => {
            let table = Table::parse(text).map_err(anyhow::Error::from);
            ("handover table", table.and_then(|table| outline(&table)))
        }
        _ if first.starts_with('{') && text.contains("\"entries\"") => {
            ("page (HAR)", planned("page (HAR)").and_then(|plan| page(&plan, text)))
        }
        _ if first.starts_with('{') && text.contains("\"cpu_us_per_verification\"") => {
            ("board", planned("board").map(|_| "as trackbed verify measured it".to_owned()))
        }
        _ if text.contains("-----BEGIN ") => {
            let all = count(text.matches("-----BEGIN CERTIFICATE").count(), "certificate");
            ("PEM", planned("PEM").map(|_| format!("{all} and a key")))
        }
        _ if first.starts_with('{') || is_list => {
            ("payload", planned("payload").map(|_| count(text.len(), "byte")))
        }
        _ if is_toml && text.contains("[[object]]") => {
            ("page (manifest)", planned("page (manifest)").and_then(|plan| page(&plan, "")))
        }
        _ if is_toml => ("scenario", scenario(path)),
        _ if has_place => ("drive (table)", drive(text)),
        _ if is_numbers && first.contains(char::is_whitespace) => {
            let read = parse_delay_trace(text).map_err(|why| anyhow!("{why}; {OR_RATES}"));
            ("delays", read.map(|_| format!("{}; {OR_RATES}", until(text, ' ', " ms"))))
        }
        _ if is_numbers && !first.is_empty() => {
            ("trace", planned("trace").map(|_| until(text, ' ', " ms")))
        }
        _ if ["bit", "bps"].into_iter().any(has_unit) => {
            match planned("rates").and_then(|_| rates(text)) {
                // Perhaps of several modems.
                Err(why) => drive(text)
                    .map_or_else(|_| ("rates", Err(why)), |said| ("drive (table)", Ok(said))),
                said => ("rates", said),
            }
        }
        _ if has_unit("%") => ("losses", planned("losses").map(|_| until(text, ',', ""))),
        // Seconds, and bytes with their unit.
        _ if first.starts_with(|c: char| c.is_ascii_digit()) && first.ends_with('B') => {
            ("background", planned("background").map(|_| until(text, ',', "")))
        }
        _ => {
            let marked = |(_, mark, _): &(&str, &str, &str)| !mark.is_empty() && has_unit(mark);
            match (has_separator.then(|| drive(text)), kinds().find(marked)) {
                (Some(Ok(said)), _) => ("drive (table)", Ok(said)),
                (_, Some((kind, ..))) => {
                    (kind, planned(kind).map(|_| count(lines(text).count(), "line")))
                }
                (Some(Err(why)), _) => ("drive (table)", Err(why)),
                _ => ("unknown", Err(anyhow!("no known kind; `trackbed check --help` lists them"))),
            }
        }
    }
}

/// The kinds, the marks in the first lines of those that nothing else tells from drives, and scenarios.
fn kinds() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    include_str!("check.txt").lines().filter_map(|line| {
        let (kind, rest) = line.split_once('|')?;
        let (mark, scenario) = rest.split_once('|')?;
        Some((kind.trim(), mark.trim(), scenario.trim()))
    })
}

/// A scenario reads the file as a run would.
fn planned(kind: &str, path: &Path) -> anyhow::Result<Plan> {
    let known = kinds().find(|(known, ..)| *known == kind).context("it is in check.txt")?;
    let scenario = known.2.replace("\\n", "\n");
    let scenario = scenario.replace("FILE", &format!("{:?}", path.display().to_string()));
    let plan = load(&Source::recorded("a scenario", &scenario), &[]);
    plan.map_err(|why| anyhow!("{}", why.to_string().lines().next().unwrap_or_default()))
}

fn count(number: usize, what: &str) -> String {
    plural(number as u64, what)
}

fn scenario(path: &Path) -> anyhow::Result<String> {
    let plan = load(&Source::File(path.to_owned()), &[])?;
    let files = plan.inputs.iter().map(|input| format!("; reads {}", input.path));
    let notes = plan.notes.iter().map(|note| format!("; {note}"));
    Ok([count(plan.cells.len(), "cell")].into_iter().chain(files).chain(notes).collect())
}

/// The number of lines with content, and the time in the last one.
fn until(text: &str, separator: char, unit: &str) -> String {
    let is_end = |c: char| c == separator || separator == ' ' && c.is_whitespace();
    let last = lines(text).last().and_then(|(_, line)| line.split(is_end).next());
    format!("{} until {}{unit}", count(lines(text).count(), "line"), last.unwrap_or_default())
}

fn rates(text: &str) -> anyhow::Result<String> {
    let rows = parse_rates(text).map_err(|why| anyhow!("{why}"))?;
    let end = rows.last().map_or(0.0, |(at, _)| at.as_nanos() as f64 / 1e9);
    let of_rates = lines(text).filter(|(_, line)| line.starts_with(|c: char| c.is_ascii_digit()));
    let others = of_rates.count().saturating_sub(rows.len());
    let skipped = if others > 0 {
        format!(", {} without a rate skipped", count(others, "line"))
    } else {
        String::new()
    };
    Ok(format!("{} until {end} s{skipped}", count(rows.len(), "rate")))
}

fn drive(text: &str) -> anyhow::Result<String> {
    let log = match DriveLog::parse(text, &[]) {
        Ok(log) => log,
        Err(why) => {
            let mut readings = 0;
            let count_them = |log: DriveLog| {
                readings += log.readings.len();
                Ok(())
            };
            let read = DriveLog::read_pieces(text.as_bytes(), &[], count_them);
            ensure!(read.is_ok() && readings > 0, why);
            return Ok(format!("{} of a modem without a position", count(readings, "value")));
        }
    };
    let times = || log.samples.iter().filter_map(|sample| sample.seconds);
    let span = times().next().zip(times().next_back());
    let span = span.map_or_else(String::new, |(first, last)| format!(" in {:.0} s", last - first));
    Ok(format!("{}{span}{}", count(log.samples.len(), "position"), log.skipped()))
}

/// The objects of a plan's page; `archive` has more entries if some are skipped.
fn page(plan: &Plan, archive: &str) -> anyhow::Result<String> {
    let objects = plan.cells.first().and_then(|cell| cell.workload.page()).unwrap_or_default();
    let bytes: u64 = objects.iter().map(|object| object.bytes).sum();
    let said = format!("{} of {bytes} bytes", count(objects.len(), "object"));
    let archive: Value =
        serde_json::from_str(archive.trim_start_matches('\u{feff}')).unwrap_or_default();
    let entries = archive["log"]["entries"].as_array().map_or(0, Vec::len);
    Ok(match entries.saturating_sub(objects.len()) {
        0 => said,
        others => {
            let others = count(others, "request");
            format!(
                "{said}, {others} of other pages, from the cache again, unanswered or not over HTTP skipped"
            )
        }
    })
}

fn vehicles(text: &str) -> anyhow::Result<String> {
    let (crossing, seed) = (Crossing::default(), Seed::of_run(1, 0));
    let mut turns = Recording::new(text.as_bytes(), crossing, None, &seed);
    let sent = turns.try_fold(0, |sent, turn| turn.map(|_| sent + 1));
    Ok(format!("send {}", count(sent.map_err(|why| anyhow!("{why}"))?, "message")))
}

/// Messages, or else the background of a link.
fn capture(bytes: &[u8], background: impl Fn() -> anyhow::Result<Plan>) -> anyhow::Result<String> {
    let mut messages = 0;
    let (packets, unread, end) = v2x::messages(bytes, |_| {
        messages += 1;
        Ok(())
    })?;
    let all = count(packets, "packet");
    if messages == 0 {
        return background().map(|_| format!("background of {all}; no signed message"));
    }
    let others = count(packets - messages - unread, "other packet");
    Ok(format!("{}, {others} skipped{end}", count(messages, "signed message")))
}
