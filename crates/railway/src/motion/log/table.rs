//! Logs as tables.

use std::collections::BTreeSet;

use super::modem;
use super::sample::{DriveLog, Sample, parse_rsrp};
use crate::motion::MotionError;
use crate::motion::coordinates::Coordinates;
use trackbed_core::text::{Column, Table};

/// Parses a table, after its columns were renamed; for a drive, with the readings of modems.
pub(super) fn parse(
    text: &str,
    columns: &[(String, String)],
    for_drive: bool,
) -> Result<DriveLog, MotionError> {
    let mut table = Table::parse(text)?;
    table.rename(columns)?;
    let seconds = table.column(TIME).map(|column| (column, None));
    let millis = table.column(TIME_MS).map(|column| (column, Some(1e-3)));
    let is_named = columns.iter().any(|(name, _)| TIME_MS.contains(&name.as_str()));
    let time = if is_named { millis } else { seconds.or(millis) };
    let gauges = if for_drive { modem::gauges(&table) } else { Vec::new() };
    let mut log = DriveLog::default();
    if for_drive {
        if time.is_none() {
            table.need(TIME)?;
        }
        let mut all = table.columns_after("").into_iter();
        if let Some((_, title)) = all.find(|(_, title)| modem::has_bytes(title)) {
            let why = format!("the column {title} has bytes; write bits, as in rate_kbps");
            return Err(MotionError::new(why).in_line(1));
        }
        let gauges = (&gauges[..], table.column(&["operator", "operatorname"]));
        let mut times = Vec::new();
        for row in table.rows() {
            if let Some((time, unit)) = time.filter(|(time, _)| row.text(*time).is_some()) {
                times.push(row.seconds(time, unit)?);
                modem::read(&row, times[times.len() - 1], gauges, &mut log)?;
            }
        }
        let is_sure = time == table.column(&["time_s"]).map(|column| (column, None));
        if !is_sure && time == seconds && are_no_seconds(&times) {
            let first = table.rows().find_map(|row| row.text(time?.0)).unwrap_or_default();
            let why = format!(
                "times such as {first} seem to be no seconds; write seconds or dates such as 2026-05-01T08:00:00Z, \
                 or name their column: --column time_s=HEADING, or time_ms=HEADING for milliseconds"
            );
            return Err(MotionError::new(why).in_line(1));
        }
    }
    if !gauges.is_empty() && table.column(LATITUDE).is_none() {
        return Ok(log);
    }
    let latitude = table.need(LATITUDE)?;
    let longitude = table.need(&["longitude", "lon", "lng", "long"])?;
    let speed = table.column(&["speed_m_s"]).map(|column| (column, 1.0));
    let speed = speed.or(table.column(&["speed_km_h"]).map(|column| (column, 1.0 / 3.6)));
    let cells = of_operators(&table, "cell", CELLS);
    let powers = of_operators(&table, "rsrp", &["rsrp", "rsrp_dbm"]);
    let carrier = table.column(&["operator", "operatorname"]).filter(|column| {
        let names: BTreeSet<_> = table.rows().filter_map(|row| row.text(*column)).collect();
        !for_drive && names.len() > 1
    });
    for row in table.rows() {
        // As in a tunnel.
        if row.text(latitude).or(row.text(longitude)).is_none() {
            log.without_position += 1;
            continue;
        }
        let place = Coordinates::new(row.number(latitude)?, row.number(longitude)?);
        let mut sample = Sample::at(row.line(), place.map_err(|why| why.in_line(row.line()))?);
        if let Some((time, unit)) = time.filter(|(time, _)| row.text(*time).is_some()) {
            sample.seconds = Some(row.seconds(time, unit)?);
        }
        if let Some((column, factor)) = speed.filter(|(column, _)| row.text(*column).is_some()) {
            sample.speed_m_s = Some(row.number(column)? * factor);
        }
        let known = |column: &Column| row.text(*column).filter(|text| modem::is_cell(text));
        let named = |name: &str| match carrier.and_then(|column| row.text(column)) {
            Some(carrier) if name.is_empty() => carrier.to_owned(),
            _ => name.to_owned(),
        };
        let cell = |(at, name): &(Column, String)| Some((named(name), known(at)?.to_owned()));
        sample.cells = cells.iter().filter_map(cell).collect();
        for (column, name) in &powers {
            let Some(text) = row.text(*column) else { continue };
            let power = parse_rsrp(text).map_err(|why| why.in_line(row.line()))?;
            sample.rsrp_dbm.extend((power != 0.0).then(|| (named(name), power)));
        }
        log.samples.push(sample);
    }
    Ok(log)
}

/// G-NetTrack's `CellID` is the number of the sector alone; `RawCellID` has the site too.
pub(super) const CELLS: &[&str] = &["cell", "rawcellid", "cell_id", "cellid", "pci"];
const TIME: &[&str] = &["time", "time_s", "timestamp"];
const TIME_MS: &[&str] = &["time_ms", "timestamp_ms", "elapsed_ms"];
const LATITUDE: &[&str] = &["latitude", "lat"];

/// The columns `what:OPERATOR`, and the first column with one of the `plain` names, whose operator has no
/// name.
pub(super) fn of_operators(table: &Table, what: &str, plain: &[&str]) -> Vec<(Column, String)> {
    let named = table.columns_after(&format!("{what}:")).into_iter();
    let named = named.map(|(column, operator)| (column, operator.trim().to_owned()));
    table.column(plain).map(|column| (column, String::new())).into_iter().chain(named).collect()
}

/// Whether these seem to be milliseconds since a start, days, or digits as of 10:16:30 without colons.
fn are_no_seconds(times: &[f64]) -> bool {
    let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.retain(|step| *step > 0.0);
    steps.sort_by(f64::total_cmp);
    if steps.len() < STEPS_MIN || times[0] >= SINCE_1970_MIN_S {
        return false;
    }
    let (middle, all) = (steps[steps.len() / 2], steps.iter().sum::<f64>());
    let is_clock = |at: &f64| at % 1e2 < 60.0 && at % 1e4 < 6e3 && *at < 24e4;
    let is_day = |at: &f64| (DAYS_MIN..2.0 * DAYS_MIN).contains(at) && all < 1.0;
    middle >= STEP_MAX_S
        || (all > 60.0 && middle <= 10.0 && times.iter().all(is_clock))
        || times.iter().all(is_day)
}

/// Numbers from here on are read by their length.
const SINCE_1970_MIN_S: f64 = 1e8;
/// So many steps show what times are.
const STEPS_MIN: usize = 10;
/// Loggers of drives have a line more often.
const STEP_MAX_S: f64 = 500.0;
/// Spreadsheets count days from 1900; these are a hundred years.
const DAYS_MIN: f64 = 36_525.0;
