//! Logs of drives: positions in the order of the drive, and radio measurements there.

mod gpx;
mod modem;
mod nmea;
mod pieces;
mod sample;
mod table;

use trackbed_core::text::{lines, plural};

use crate::motion::MotionError;

pub use nmea::NmeaReader;
pub use sample::{DriveLog, Measured, Reading, Sample};

/// The formats of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// A table with a heading: `latitude` and `longitude` in degrees; if known `time` (seconds, or
    /// RFC 3339), `speed_m_s` or `speed_km_h`, and for each operator `cell:NAME` and `rsrp:NAME` (`cell`
    /// and `rsrp` where there is one operator). Lines without a position are skipped.
    Csv,
    /// GPX 1.0 or 1.1: the points of tracks, or of routes if there are none. A point's
    /// `extensions` may hold elements `cell` and `rsrp`, with an attribute `operator` each.
    Gpx,
    /// NMEA 0183: RMC and GGA sentences. The serving cell is in a preceding proprietary sentence:
    /// `$PTRKC,OPERATOR,CELL,RSRP*hh`, RSRP in dBm or empty.
    Nmea,
}

impl LogFormat {
    /// The format of a text: GPX begins with `<`, NMEA has sentences such as `$GPRMC,` in its first lines,
    /// anything else is a table.
    pub fn of_text(text: &str) -> LogFormat {
        let is_sentence = |rest: &str| {
            rest.split_once(',').is_some_and(|(name, _)| {
                name.len() == 5 && name.bytes().all(|byte| byte.is_ascii_uppercase())
            })
        };
        let mut first = lines(text).take(FIRST_LINES).map(|(_, line)| line).peekable();
        if first.peek().is_some_and(|line| line.starts_with('<')) {
            return LogFormat::Gpx;
        }
        match first.any(|line| line.split('$').skip(1).any(is_sentence)) {
            true => LogFormat::Nmea,
            false => LogFormat::Csv,
        }
    }
}

const FIRST_LINES: usize = 100;

impl DriveLog {
    /// Parses a log. `columns` are pairs of a name and the heading of the column of a table that has it.
    ///
    /// # Errors
    /// If the text does not have this format, or has no position; the message names the line.
    pub fn parse(text: &str, columns: &[(String, String)]) -> Result<DriveLog, MotionError> {
        let log = DriveLog::read(text, LogFormat::of_text(text), columns, false)?;
        match log.samples.is_empty() {
            false => Ok(log),
            true => Err(MotionError::new(format!("no position found{}; {FORMATS}", log.skipped()))),
        }
    }

    /// For a drive, the log may have no position, and has the readings of modems.
    fn read(
        text: &str,
        format: LogFormat,
        columns: &[(String, String)],
        for_drive: bool,
    ) -> Result<DriveLog, MotionError> {
        let mut log = match format {
            LogFormat::Csv => table::parse(text, columns, for_drive)?,
            LogFormat::Gpx => gpx::parse(text)?,
            LogFormat::Nmea => nmea::parse(text),
        };
        if for_drive && format != LogFormat::Csv {
            log.readings = log.samples.iter().flat_map(Sample::readings).collect();
        }
        log.drop_unreachable();
        Ok(log)
    }

    /// What was not read, in words that follow others; empty if nothing was skipped.
    pub fn skipped(&self) -> String {
        [
            (self.without_position, "line", "without a position skipped"),
            (self.damaged, "damaged line", "skipped"),
            (self.unreachable, "position", "that no train reaches ignored"),
        ]
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, what, why)| format!(", {} {why}", plural(*count, what)))
        .collect()
    }
}

const FORMATS: &str = "give a log as GPX, NMEA sentences, or a table with latitude and longitude";
