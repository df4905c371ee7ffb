//! Logs of drives: positions in the order of the drive, and radio measurements there.

mod gpx;
mod nmea;
mod sample;
mod table;

use std::path::Path;

use crate::motion::error::MotionError;

pub use nmea::NmeaReader;
pub use sample::{DriveLog, Sample};

/// The formats of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// A table of comma-separated values: `latitude` and `longitude` in degrees; if known
    /// `time` (seconds, or RFC 3339), `speed_m_s` or `speed_km_h`, and for each operator
    /// `cell:NAME` and `rsrp:NAME` (`cell` and `rsrp` where there is one operator).
    Csv,
    /// GPX 1.0 or 1.1: the points of tracks, or of routes if there are none. A point's
    /// `extensions` may hold elements `cell` and `rsrp`, with an attribute `operator` each.
    Gpx,
    /// NMEA 0183: RMC and GGA sentences. The serving cell is in a preceding proprietary sentence:
    /// `$PTRKC,OPERATOR,CELL,RSRP*hh`, RSRP in dBm or empty.
    Nmea,
}

impl LogFormat {
    /// The format by the extension of a file's name: `.csv`, `.gpx`, `.nmea` or `.log`.
    ///
    /// # Errors
    /// If the extension is another one.
    pub fn of_file(path: &Path) -> Result<LogFormat, MotionError> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("csv") => Ok(LogFormat::Csv),
            Some("gpx") => Ok(LogFormat::Gpx),
            Some("nmea" | "log") => Ok(LogFormat::Nmea),
            _ => Err(MotionError::new("unknown file extension; use .csv, .gpx, .nmea or .log")),
        }
    }

    /// The format by the first character of a text: GPX with `<`, NMEA with `$`, anything else is a table.
    pub fn of_text(text: &str) -> LogFormat {
        match text.trim_start_matches('\u{feff}').trim_start().chars().next() {
            Some('<') => LogFormat::Gpx,
            Some('$') => LogFormat::Nmea,
            _ => LogFormat::Csv,
        }
    }
}

impl DriveLog {
    /// Parses a log.
    ///
    /// # Errors
    /// If the text does not have this format, or has no position; the message names the line.
    pub fn parse(format: LogFormat, text: &str) -> Result<DriveLog, MotionError> {
        let log = match format {
            LogFormat::Csv => table::parse(text)?,
            LogFormat::Gpx => gpx::parse(text)?,
            LogFormat::Nmea => nmea::parse(text),
        };
        match log.samples.is_empty() {
            false => Ok(log),
            true if log.damaged > 0 => Err(MotionError::new(format!(
                "no position found, and {} damaged lines; is it the right format?",
                log.damaged
            ))),
            true => Err(MotionError::new("no position found; is it the right format?")),
        }
    }
}
