//! What a log holds, whatever its format.

use crate::motion::coordinates::Coordinates;

/// A position of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The line of the text in which it stands, counted from 1.
    pub line: u64,
    /// When it was, in seconds since any beginning.
    pub seconds: Option<f64>,
    /// Where it was.
    pub coordinates: Coordinates,
    /// The speed, in metres a second.
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

/// What was logged on a drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveLog {
    /// The positions, in order.
    pub samples: Vec<Sample>,
    /// How many damaged lines were passed over. Only NMEA has such: receivers begin in the midst of
    /// a line, and lose bytes. What is wrong in another format is an error.
    pub damaged: u64,
}

/// A time as RFC 3339 writes it, in seconds since 1970.
pub(super) fn parse_rfc3339(text: &str) -> Option<f64> {
    let time = chrono::DateTime::parse_from_rfc3339(text.trim()).ok()?;
    Some(time.timestamp() as f64 + f64::from(time.timestamp_subsec_nanos()) / 1e9)
}

/// A received power in dBm, if the text is one.
pub(super) fn parse_rsrp(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|dbm| (-200.0..=50.0).contains(dbm))
}
