//! The contents of a log in any format.

use crate::motion::coordinates::Coordinates;

/// A position of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The line in the text, counted from 1.
    pub line: u64,
    /// The time, in seconds since any start.
    pub seconds: Option<f64>,
    /// The coordinates.
    pub coordinates: Coordinates,
    /// The speed, in metres per second.
    pub speed_m_s: Option<f64>,
    /// The serving cell of each operator; an operator without a name has an empty one.
    pub cells: Vec<(String, String)>,
    /// The serving cell's reference signal received power of each operator, in dBm.
    pub rsrp_dbm: Vec<(String, f64)>,
}

impl Sample {
    pub(super) fn at(line: u64, coordinates: Coordinates) -> Sample {
        Sample {
            line,
            seconds: None,
            coordinates,
            speed_m_s: None,
            cells: Vec::new(),
            rsrp_dbm: Vec::new(),
        }
    }
}

/// The log of a drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveLog {
    /// The positions, in order.
    pub samples: Vec<Sample>,
    /// The number of skipped damaged lines. Only in NMEA are they skipped, because receivers start in the
    /// middle of a line and lose bytes; in other formats they are errors.
    pub damaged: u64,
}

/// Parses an RFC 3339 time to seconds since 1970.
pub(super) fn parse_rfc3339(text: &str) -> Option<f64> {
    let time = chrono::DateTime::parse_from_rfc3339(text.trim()).ok()?;
    Some(time.timestamp() as f64 + f64::from(time.timestamp_subsec_nanos()) / 1e9)
}

pub(super) fn parse_rsrp(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|dbm| (-200.0..=50.0).contains(dbm))
}
