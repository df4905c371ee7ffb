//! Timelines as text.
//!
//! ```text
//! # trackbed radio timeline 1
//! at,operator,direction,change,value
//! 0 ms,A,up,rate,25 Mbit/s
//! 12256 ms,A,down,service,held
//! 12256 ms,A,both,handover,x2 from=A2; to=A3; report=12200 ms; end=12306 ms; ...
//! ```
//!
//! Changes: `rate`, `delay`, `loss`, `service` (`up`, `held`, `lost`), `flush` (a size), `handover`, and of the
//! train (`-,both`) `position` (latitude and longitude in degrees).
//! Lines are in order of time. Empty lines and lines that begin with `#` are ignored.

use std::fmt::Write as _;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::text::lines_below;
use trackbed_core::units::{format_duration, parse_duration};

use crate::motion::Coordinates;
use crate::radio::RadioError;
use crate::radio::timeline::{
    Handover, HandoverKind, LinkChange, LinkDirection, RadioTimeline, RecordedDrive, Service, What,
};

const HEADING: &str = "at,operator,direction,change,value";

/// The text of the timelines of a drive, without the received signal.
pub fn timelines_to_text(timelines: &[RadioTimeline]) -> String {
    text(timelines, Vec::new())
}

fn text(timelines: &[RadioTimeline], mut lines: Vec<(Time, String)>) -> String {
    for timeline in timelines {
        let operator = &timeline.operator;
        lines.extend(timeline.changes.iter().map(|LinkChange { at, direction, what }| {
            let what = match what {
                What::Rate(rate) => format!("rate,{rate}"),
                What::Delay(delay) => format!("delay,{}", format_duration(*delay)),
                What::Loss(loss) => format!("loss,{loss}"),
                What::Service(service) => format!("service,{service}"),
                What::Flush(bytes) => format!("flush,{bytes}"),
            };
            (*at, format!("{},{operator},{direction},{what}", moment(*at)))
        }));
        lines.extend(timeline.handovers.iter().map(|handover| {
            let Handover { kind, from, to, report, command, end, .. } = handover;
            let (begin, until) = handover.disturbed;
            let (begin_m, until_m) = handover.disturbed_m;
            let text = format!(
                "{},{operator},both,handover,{} from={from}; to={to}; report={}; end={}; \
                 disturbed={}; undisturbed={}; chainage_m={}; disturbed_m={begin_m}; \
                 undisturbed_m={until_m}",
                moment(*command),
                kind.name(),
                moment(*report),
                moment(*end),
                moment(begin),
                moment(until),
                handover.chainage_m,
            );
            (*command, text)
        }));
    }
    lines.sort_by_key(|(at, _)| *at);
    let mut text = format!("# trackbed radio timeline 1\n{HEADING}\n");
    for (_, line) in lines {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The text of a drive: its timelines, and the train's positions.
pub fn drive_to_text(drive: &RecordedDrive) -> String {
    let mut lines: Vec<(Time, String)> = Vec::new();
    lines.extend(drive.positions.iter().map(|(at, place)| {
        let (latitude, longitude) = (place.latitude_deg(), place.longitude_deg());
        (*at, format!("{},-,both,position,{latitude} {longitude}", moment(*at)))
    }));
    text(&drive.timelines, lines)
}

/// The received signal as a table of comma-separated values, with one line per measurement.
pub fn signal_to_text(timelines: &[RadioTimeline]) -> String {
    let mut text = "at_ms,operator,chainage_m,serving,rsrp_dbm,neighbour_dbm,sinr_db\n".to_owned();
    for timeline in timelines {
        for sample in &timeline.signal {
            let _ = writeln!(
                text,
                "{:.3},{},{:.1},{},{:.2},{:.2},{:.2}",
                sample.at.as_millis_f64(),
                timeline.operator,
                sample.chainage_m,
                sample.serving,
                sample.rsrp_dbm,
                sample.neighbour_dbm,
                sample.sinr_db
            );
        }
    }
    text
}

/// Parses timelines of a model or of a recorded drive; operators are in the order of their first lines.
///
/// # Errors
/// If a line is invalid, or the lines are not in order of time; the message names the line.
pub fn timelines_from_text(text: &str) -> Result<Vec<RadioTimeline>, RadioError> {
    drive_from_text(text).map(|drive| drive.timelines)
}

/// As [`timelines_from_text`], with the train's positions.
///
/// # Errors
/// As [`timelines_from_text`].
pub fn drive_from_text(text: &str) -> Result<RecordedDrive, RadioError> {
    let refuse = |line: u64, why: String| {
        Err(RadioError::new("radio timeline", format!("line {line}: {why}")))
    };
    let lines = lines_below(text, HEADING).map_err(RadioError::of("radio timeline"))?;
    let mut drive = RecordedDrive::default();
    let mut last = Time::ZERO;
    for (number, line) in lines {
        let row = match row(line) {
            Ok(row) if row.at < last => {
                return refuse(number, "the lines are not in order; sort them by time".to_owned());
            }
            Ok(row) => row,
            Err(why) => return refuse(number, why),
        };
        last = row.at;
        if let Some(place) = row.position {
            drive.positions.push((row.at, place));
            continue;
        }
        let timelines = &mut drive.timelines;
        let known = timelines.iter().position(|timeline| timeline.operator == row.operator);
        let index = known.unwrap_or(timelines.len());
        if known.is_none() {
            let operator = row.operator.to_owned();
            timelines.push(RadioTimeline { operator, ..RadioTimeline::default() });
        }
        let timeline = &mut timelines[index];
        let kind = |change: &LinkChange| {
            (change.at, change.direction, std::mem::discriminant(&change.what))
        };
        let is_repeated = |change: &LinkChange| {
            let present = timeline.changes.iter().rev();
            present.take_while(|old| old.at == row.at).any(|old| kind(old) == kind(change))
        };
        if row.changes.iter().any(is_repeated) {
            let why = "the same value is changed twice at one time; keep one change";
            return refuse(number, why.to_owned());
        }
        timeline.changes.extend(row.changes);
        timeline.handovers.extend(row.handover);
    }
    Ok(drive)
}

struct Row<'a> {
    at: Time,
    operator: &'a str,
    changes: Vec<LinkChange>,
    handover: Option<Handover>,
    position: Option<Coordinates>,
}

fn row(line: &str) -> Result<Row<'_>, String> {
    let fields: Vec<&str> = line.splitn(5, ',').map(str::trim).collect();
    let [at, operator, direction, change, value] = fields[..] else {
        return Err(format!("\"{line}\" does not have five fields; write one like {EXAMPLE}"));
    };
    let at = time(at)?;
    if operator.is_empty() {
        return Err(format!("no operator; write one like {EXAMPLE}"));
    }
    let directions: &[LinkDirection] = match direction {
        "up" => &[LinkDirection::Up],
        "down" => &[LinkDirection::Down],
        "both" => &LinkDirection::BOTH,
        _ => return Err(format!("\"{direction}\" is not a direction; write up, down or both")),
    };
    let said = |why: trackbed_core::units::QuantityError| why.to_string();
    let what = match change {
        "rate" => What::Rate(value.parse().map_err(said)?),
        "delay" => What::Delay(parse_duration(value).map_err(said)?),
        "loss" => What::Loss(value.parse().map_err(said)?),
        "flush" => What::Flush(value.parse().map_err(said)?),
        "service" => {
            let unknown = || format!("unknown service \"{value}\"; write up, held or lost");
            What::Service(Service::from_name(value).ok_or_else(unknown)?)
        }
        "handover" => {
            let handover = Some(handover(at, value)?);
            return Ok(Row { at, operator, changes: Vec::new(), handover, position: None });
        }
        "position" => {
            let position = Some(position(value)?);
            return Ok(Row { at, operator, changes: Vec::new(), handover: None, position });
        }
        _ => {
            return Err(format!(
                "unknown change \"{change}\"; write rate, delay, loss, service, flush, handover or \
                 position"
            ));
        }
    };
    let changes = directions.iter().map(|&direction| LinkChange { at, direction, what });
    Ok(Row { at, operator, changes: changes.collect(), handover: None, position: None })
}

const EXAMPLE: &str = "12 s,A,both,service,held";

fn position(value: &str) -> Result<Coordinates, String> {
    let numbers: Vec<f64> = value.split(' ').filter_map(|number| number.parse().ok()).collect();
    let [latitude, longitude] = numbers[..] else {
        return Err(format!("\"{value}\" is not a position; write degrees, as in 48.1 11.5"));
    };
    Coordinates::new(latitude, longitude).map_err(|why| why.to_string())
}

fn handover(command: Time, value: &str) -> Result<Handover, String> {
    let (kind, rest) = value.split_once(' ').unwrap_or((value, ""));
    let kind = HandoverKind::from_name(kind)
        .ok_or_else(|| format!("\"{value}\" begins with neither x2 nor failure"))?;
    let field = |name: &str| {
        let mut pairs = rest.split(';').filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(key, _)| key.trim() == name);
        found
            .map(|(_, text)| text.trim())
            .ok_or_else(|| format!("no {name}=; write it as {HANDOVER}"))
    };
    let metres = |name: &str| {
        let text = field(name)?;
        let number = text.parse().ok().filter(|metres: &f64| metres.is_finite());
        number.ok_or_else(|| format!("{name}={text} is not a number of metres"))
    };
    let handover = Handover {
        kind,
        from: field("from")?.to_owned(),
        to: field("to")?.to_owned(),
        report: time(field("report")?)?,
        command,
        end: time(field("end")?)?,
        disturbed: (time(field("disturbed")?)?, time(field("undisturbed")?)?),
        chainage_m: metres("chainage_m")?,
        disturbed_m: (metres("disturbed_m")?, metres("undisturbed_m")?),
    };
    let (begin, until) = handover.disturbed;
    if handover.report > command || command > handover.end || begin > until {
        return Err(
            "the times are not in order; report, command and end must follow each other".into()
        );
    }
    Ok(handover)
}

const HANDOVER: &str = "x2 from=A2; to=A3; report=12200 ms; end=12306 ms; disturbed=12256 ms; \
                        undisturbed=12306 ms; chainage_m=1020; disturbed_m=1020; undisturbed_m=1024";

fn time(text: &str) -> Result<Time, String> {
    parse_duration(text).map(|span| Time::ZERO + span).map_err(|why| why.to_string())
}

fn moment(at: Time) -> String {
    format_duration(Duration::from_nanos(at.as_nanos()))
}
