//! Logs as tables.

use super::modem;
use super::sample::{DriveLog, Sample, parse_rsrp, parse_time};
use crate::motion::MotionError;
use crate::motion::coordinates::Coordinates;
use trackbed_core::text::{Column, Row, Table, decimal};

/// Parses a table, after its columns were renamed; for a drive, with the readings of modems.
pub(super) fn parse(
    text: &str,
    columns: &[(String, String)],
    for_drive: bool,
) -> Result<DriveLog, MotionError> {
    let mut table = Table::parse(text)?;
    table.rename(columns)?;
    let time = table.column(TIME);
    let gauges = if for_drive { modem::gauges(&table) } else { Vec::new() };
    let mut log = DriveLog::default();
    if for_drive {
        table.need(TIME)?;
        for row in table.rows() {
            if let Some(text) = time.and_then(|column| row.text(column)) {
                modem::read(&row, seconds(&row, text)?, &gauges, &mut log)?;
            }
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
    for row in table.rows() {
        // As in a tunnel.
        if row.text(latitude).or(row.text(longitude)).is_none() {
            log.without_position += 1;
            continue;
        }
        let place = Coordinates::new(row.number(latitude)?, row.number(longitude)?);
        let mut sample = Sample::at(row.line(), place.map_err(|why| why.in_line(row.line()))?);
        if let Some(text) = time.and_then(|column| row.text(column)) {
            sample.seconds = Some(seconds(&row, text)?);
        }
        if let Some((column, factor)) = speed.filter(|(column, _)| row.text(*column).is_some()) {
            sample.speed_m_s = Some(row.number(column)? * factor);
        }
        let cell =
            |(column, name): &(Column, String)| Some((name.clone(), row.text(*column)?.to_owned()));
        sample.cells = cells.iter().filter_map(cell).collect();
        for (column, name) in &powers {
            let Some(text) = row.text(*column) else { continue };
            let power = parse_rsrp(text).map_err(|why| why.in_line(row.line()))?;
            sample.rsrp_dbm.push((name.clone(), power));
        }
        log.samples.push(sample);
    }
    Ok(log)
}

pub(super) const CELLS: &[&str] = &["cell", "cell_id", "cellid", "pci"];
const TIME: &[&str] = &["time", "time_s", "timestamp"];
const LATITUDE: &[&str] = &["latitude", "lat"];

/// The columns `what:OPERATOR`, and the first column with one of the `plain` names, whose operator has no
/// name.
pub(super) fn of_operators(table: &Table, what: &str, plain: &[&str]) -> Vec<(Column, String)> {
    let named = table.columns_after(&format!("{what}:")).into_iter();
    let named = named.map(|(column, operator)| (column, operator.trim().to_owned()));
    table.column(plain).map(|column| (column, String::new())).into_iter().chain(named).collect()
}

fn seconds(row: &Row<'_>, text: &str) -> Result<f64, MotionError> {
    // No number of seconds since 1970 has twelve digits, that of milliseconds has.
    let number = decimal(text).map(|number| if number < 1e11 { number } else { number / 1e3 });
    number.or_else(|| parse_time(text)).ok_or_else(|| {
        let why = format!(
            "\"{text}\" is not a valid time; write seconds such as 12.5, or 2026-05-01T08:00:00Z"
        );
        MotionError::new(why).in_line(row.line())
    })
}
