//! The contents of a log in any format.

use trackbed_core::text::decimal;

use crate::motion::MotionError;
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
    /// The positions, in order of their times, if all have one.
    pub samples: Vec<Sample>,
    /// The number of skipped damaged lines. Only in NMEA are they skipped, because receivers start in the
    /// middle of a line and lose bytes; in other formats they are errors.
    pub damaged: u64,
    /// The number of skipped lines of a table without a position.
    pub without_position: u64,
    /// The number of skipped positions that no train reaches.
    pub unreachable: u64,
}

/// Parses a time (RFC 3339, or a date and a time without a zone) to seconds since 1970.
pub(super) fn parse_time(text: &str) -> Option<f64> {
    let zoned = chrono::DateTime::parse_from_rfc3339(text).map(|time| time.to_utc());
    let formats = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y.%m.%d_%H.%M.%S"];
    let plain = |format| Some(chrono::NaiveDateTime::parse_from_str(text, format).ok()?.and_utc());
    let time = zoned.ok().or_else(|| formats.into_iter().find_map(plain))?;
    Some(time.timestamp() as f64 + f64::from(time.timestamp_subsec_nanos()) / 1e9)
}

/// Parses the received power of a serving cell.
pub(super) fn parse_rsrp(text: &str) -> Result<f64, MotionError> {
    decimal(text.trim()).filter(|dbm| (-200.0..=50.0).contains(dbm)).ok_or_else(|| {
        let advice = "write dBm such as -93.5, or nothing where it is unknown";
        MotionError::new(format!("\"{text}\" is not a valid RSRP; {advice}"))
    })
}
