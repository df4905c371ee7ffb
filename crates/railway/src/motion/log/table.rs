//! Logs as tables of comma-separated values.

use super::sample::{DriveLog, Sample, parse_rfc3339, parse_rsrp};
use crate::motion::coordinates::Coordinates;
use crate::motion::error::MotionError;
use crate::motion::table::{Column, Row, Table};

pub(super) fn parse(text: &str) -> Result<DriveLog, MotionError> {
    let table = Table::parse(text)?;
    let latitude = table.need(&["latitude", "lat"])?;
    let longitude = table.need(&["longitude", "lon"])?;
    let time = table.column(&["time", "time_s"]);
    let speed = table.column(&["speed_m_s"]).map(|column| (column, 1.0));
    let speed = speed.or(table.column(&["speed_km_h"]).map(|column| (column, 1.0 / 3.6)));
    let (cells, powers) = (of_operators(&table, "cell"), of_operators(&table, "rsrp"));
    let mut log = DriveLog::default();
    for row in table.rows() {
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
            let power = parse_rsrp(text).ok_or_else(|| {
                let why =
                    format!("\"{text}\" is not a valid RSRP; write dBm such as -93.5, or nothing");
                MotionError::new(why).in_line(row.line())
            })?;
            sample.rsrp_dbm.push((name.clone(), power));
        }
        log.samples.push(sample);
    }
    Ok(log)
}

/// The columns `what:OPERATOR`, and the plain column `what`, whose operator has no name.
fn of_operators(table: &Table, what: &str) -> Vec<(Column, String)> {
    let named = table.columns_after(&format!("{what}:")).into_iter();
    let named = named.map(|(column, operator)| (column, operator.trim().to_owned()));
    table.column(&[what]).map(|column| (column, String::new())).into_iter().chain(named).collect()
}

fn seconds(row: &Row<'_>, text: &str) -> Result<f64, MotionError> {
    let number = text.parse().ok().filter(|seconds: &f64| seconds.is_finite());
    number.or_else(|| parse_rfc3339(text)).ok_or_else(|| {
        let why = format!(
            "\"{text}\" is not a valid time; write seconds such as 12.5, or 2026-05-01T08:00:00Z"
        );
        MotionError::new(why).in_line(row.line())
    })
}
