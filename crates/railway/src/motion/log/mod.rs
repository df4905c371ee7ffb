//! Logs of drives: positions in the order in which they were passed, and what the radio said there.

mod gpx;
mod nmea;
mod table;

use std::path::Path;

use crate::motion::coordinates::Coordinates;
use crate::motion::error::MotionError;

pub use nmea::NmeaReader;

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// A table of comma-separated values: `latitude` and `longitude` in degrees; if known
    /// `time` (seconds, or RFC 3339), `speed_m_s` or `speed_km_h`, and for each operator
    /// `cell:NAME` and `rsrp:NAME` (`cell` and `rsrp` where there is one operator).
    Csv,
    /// GPX 1.0 or 1.1: the points of tracks, or of routes if there are none. A point's
    /// `extensions` may hold elements `cell` and `rsrp`, with an attribute `operator` each.
    Gpx,
    /// NMEA 0183: RMC and GGA sentences. The serving cell stands in sentences of ours before them:
    /// `$PTRKC,OPERATOR,CELL,RSRP*hh`, RSRP in dBm or empty.
    Nmea,
}

impl LogFormat {
    /// The format by the ending of a file's name: `.csv`, `.gpx`, `.nmea` or `.log`.
    ///
    /// # Errors
    /// If it has another one.
    pub fn of_file(path: &Path) -> Result<LogFormat, MotionError> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("csv") => Ok(LogFormat::Csv),
            Some("gpx") => Ok(LogFormat::Gpx),
            Some("nmea" | "log") => Ok(LogFormat::Nmea),
            _ => Err(MotionError::new(
                "the name does not tell the format; let it end in .csv, .gpx, .nmea or .log",
            )),
        }
    }

    /// The format by how a text begins: GPX with `<`, NMEA with `$`, anything else is a table.
    pub fn of_text(text: &str) -> LogFormat {
        match text.trim_start_matches('\u{feff}').trim_start().chars().next() {
            Some('<') => LogFormat::Gpx,
            Some('$') => LogFormat::Nmea,
            _ => LogFormat::Csv,
        }
    }
}

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
    fn at(line: u64, coordinates: Coordinates) -> Sample {
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

impl DriveLog {
    /// Reads a log.
    ///
    /// # Errors
    /// If the text is not of this format, or has no position; the message names the line.
    pub fn parse(format: LogFormat, text: &str) -> Result<DriveLog, MotionError> {
        let log = match format {
            LogFormat::Csv => table::parse(text)?,
            LogFormat::Gpx => gpx::parse(text)?,
            LogFormat::Nmea => nmea::parse(text),
        };
        match log.samples.is_empty() {
            false => Ok(log),
            true if log.damaged > 0 => Err(MotionError::new(format!(
                "no position in it, and {} damaged lines; is it the right format?",
                log.damaged
            ))),
            true => Err(MotionError::new("no position in it; is it the right format?")),
        }
    }
}

/// A time as RFC 3339 writes it, in seconds since 1970.
fn parse_rfc3339(text: &str) -> Option<f64> {
    let time = chrono::DateTime::parse_from_rfc3339(text.trim()).ok()?;
    Some(time.timestamp() as f64 + f64::from(time.timestamp_subsec_nanos()) / 1e9)
}

/// A received power in dBm, if the text is one.
fn parse_rsrp(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|dbm| (-200.0..=50.0).contains(dbm))
}
