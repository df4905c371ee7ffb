//! What modems measure, in the columns of a table.

use std::mem::discriminant;

use trackbed_core::text::{Column, Row, Table};

use super::sample::{DriveLog, Measured, Reading};
use super::table::{CELLS, of_operators};
use crate::motion::MotionError;

/// A column with values of an operator's modem.
pub(super) struct Gauge {
    column: Column,
    operator: String,
    /// How numbers are read; `None`: it has the names of cells.
    number: Option<Number>,
}

#[derive(Clone, Copy)]
struct Number {
    of: fn(f64) -> Measured,
    /// Of the column's unit.
    factor: f64,
    valid: (f64, f64),
}

/// The columns of modems that a table has.
pub(super) fn gauges(table: &Table) -> Vec<Gauge> {
    let column = |names: &[&str], number: Option<Number>| {
        let found = of_operators(table, names[0], names).into_iter();
        found.map(move |(column, operator)| Gauge { column, operator, number })
    };
    let mut gauges: Vec<Gauge> = column(CELLS, None).collect();
    // Base stations log bits per second under the same heading, but no mode of the network.
    let more = table.column(&["networkmode"]).map_or(&[][..], |_| G_NETTRACK);
    for (names, of, factor, valid) in NUMBERS.iter().chain(more) {
        let number = Number { of: *of, factor: *factor, valid: *valid };
        // Where a value has several columns, the first one of the list counts.
        let is_new = |new: &Gauge| {
            let is_same = |known: Number| discriminant(&(known.of)(0.0)) == discriminant(&of(0.0));
            !gauges
                .iter()
                .any(|one| one.operator == new.operator && one.number.is_some_and(is_same))
        };
        let new: Vec<Gauge> = column(names, Some(number)).filter(is_new).collect();
        gauges.extend(new);
    }
    gauges
}

/// Whether a heading of rates, with an operator or without, means bytes.
pub(super) fn has_bytes(title: &str) -> bool {
    let name = title.split(':').next().unwrap_or_default();
    let is_known = |(names, ..): &Heading| names.iter().any(|one| one.eq_ignore_ascii_case(name));
    name.ends_with("Bps") && NUMBERS.iter().any(is_known)
}

/// Adds the readings of a row.
pub(super) fn read(
    row: &Row<'_>,
    seconds: f64,
    (gauges, carrier): (&[Gauge], Option<Column>),
    log: &mut DriveLog,
) -> Result<(), MotionError> {
    let carrier = carrier.and_then(|column| row.text(column)).unwrap_or_default();
    for Gauge { column, operator, number } in gauges {
        let Some(text) = row.text(*column) else { continue };
        let measured = match number {
            None if !is_cell(text) => continue,
            None => Measured::Cell(text.to_owned()),
            Some(Number { of, factor, valid: (low, high) }) => {
                let value = row.number(*column)? * factor;
                // Loggers write -1 for none; only throughput can be zero.
                if value == -factor || (value == 0.0 && !matches!(of(value), Measured::Rate(_))) {
                    continue;
                }
                if !(*low..=*high).contains(&value) {
                    let why = format!("\"{text}\" cannot be right; leave unknown fields empty");
                    return Err(MotionError::new(why).in_line(row.line()));
                }
                of(value)
            }
        };
        let (line, operator, carrier) = (row.line(), operator.clone(), carrier.to_owned());
        log.readings.push(Reading { line, seconds, operator, carrier, measured });
    }
    Ok(())
}

/// Whether it names a cell.
pub(super) fn is_cell(text: &str) -> bool {
    !NO_CELL.iter().any(|none| text.eq_ignore_ascii_case(none))
}

/// What modems write without service: the largest numbers of 16 and 28 bits, and words.
const NO_CELL: &[&str] = &["-1", "65535", "268435455", "fffffff", "unknown", "n.a.", "?"];

/// Headings, the value, its unit and the valid values.
type Heading = (&'static [&'static str], fn(f64) -> Measured, f64, (f64, f64));

const NUMBERS: &[Heading] = &[
    (&["rate_mbps", "throughput_mbps", "mbps"], Measured::Rate, 1e6, (0.0, 1e12)),
    (&["rate_kbps", "throughput_kbps"], Measured::Rate, 1e3, (0.0, 1e12)),
    (&["rate_bps", "throughput_bps"], Measured::Rate, 1.0, (0.0, 1e12)),
    (&["rtt_ms", "ping_ms"], Measured::RoundTrip, 1e-3, (0.0, 60.0)),
    (&["rsrp", "rsrp_dbm"], Measured::Rsrp, 1.0, (-200.0, 50.0)),
];

/// Rates in kbit/s, round trips in ms.
const G_NETTRACK: &[Heading] = &[
    (&["dl_bitrate"], Measured::Rate, 1e3, (0.0, 1e12)),
    (&["pingavg"], Measured::RoundTrip, 1e-3, (0.0, 60.0)),
];
