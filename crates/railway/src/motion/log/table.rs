//! Logs as tables.

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
    let time = table.column(TIME);
    let gauges = if for_drive { modem::gauges(&table) } else { Vec::new() };
    let mut log = DriveLog::default();
    if for_drive {
        table.need(TIME)?;
        let mut all = table.columns_after("").into_iter();
        if let Some((_, title)) = all.find(|(_, title)| modem::has_bytes(title)) {
            let why = format!("the column {title} has bytes; write bits, as in rate_kbps");
            return Err(MotionError::new(why).in_line(1));
        }
        let gauges = (&gauges[..], table.column(&["operator", "operatorname"]));
        for row in table.rows() {
            if let Some(time) = time.filter(|time| row.text(*time).is_some()) {
                modem::read(&row, row.seconds(time, None)?, gauges, &mut log)?;
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
        if let Some(time) = time.filter(|time| row.text(*time).is_some()) {
            sample.seconds = Some(row.seconds(time, None)?);
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

/// G-NetTrack's `CellID` is the number of the sector alone; `RawCellID` has the site too.
pub(super) const CELLS: &[&str] = &["cell", "rawcellid", "cell_id", "cellid", "pci"];
const TIME: &[&str] = &["time", "time_s", "timestamp"];
const LATITUDE: &[&str] = &["latitude", "lat"];

/// The columns `what:OPERATOR`, and the first column with one of the `plain` names, whose operator has no
/// name.
pub(super) fn of_operators(table: &Table, what: &str, plain: &[&str]) -> Vec<(Column, String)> {
    let named = table.columns_after(&format!("{what}:")).into_iter();
    let named = named.map(|(column, operator)| (column, operator.trim().to_owned()));
    table.column(plain).map(|column| (column, String::new())).into_iter().chain(named).collect()
}
