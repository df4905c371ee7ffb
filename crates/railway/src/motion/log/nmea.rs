//! NMEA 0183 sentences.

use nmea::ParseResult;
use nmea::sentences::FixType;
use nmea::sentences::rmc::RmcStatusOfFix;
use trackbed_core::text::lines;

use super::sample::{DriveLog, Sample, parse_rsrp};
use crate::motion::MotionError;
use crate::motion::coordinates::Coordinates;

pub(super) fn parse(text: &str) -> DriveLog {
    let (mut reader, mut log) = (NmeaReader::default(), DriveLog::default());
    for (number, line) in lines(text) {
        reader.line = number - 1;
        match reader.read(line) {
            Ok(Some(sample)) => log.samples.push(sample),
            Ok(None) => {}
            Err(_) => log.damaged += 1,
        }
    }
    let midnight = reader.midnight.unwrap_or_default();
    log.samples
        .iter_mut()
        .for_each(|sample| sample.seconds = sample.seconds.map(|at| midnight + at));
    log
}

/// Reads sentences one by one.
#[derive(Clone, Debug, Default)]
pub struct NmeaReader {
    line: u64,
    /// The time of day of the last position, in seconds, and the days before it.
    last: Option<f64>,
    days: i32,
    /// Seconds from 1970 to the midnight before the first position, if a sentence had the date.
    midnight: Option<f64>,
    cells: Vec<(String, String)>,
    rsrp_dbm: Vec<(String, f64)>,
}

impl NmeaReader {
    /// Reads the next line; what a logger wrote before and after the sentence does not matter. The first of
    /// several sentences with the same time gives a position; sentences of other kinds or without a fix, and
    /// empty lines, give none.
    ///
    /// # Errors
    /// If the line is not a sentence, or its checksum is wrong. Readers of a live receiver can continue.
    pub fn read(&mut self, line: &str) -> Result<Option<Sample>, MotionError> {
        self.line += 1;
        // Some receivers write two.
        let start = line.find("$G").or_else(|| line.find('$'));
        let start = start.map_or(0, |at| at + usize::from(line[at..].starts_with("$$")));
        let line = line[start..].trim();
        let end = line.find('*').map_or(line.len(), |star| star + 3);
        let line = line.get(..end).unwrap_or(line);
        if line.is_empty() {
            return Ok(None);
        }
        if let Some(rest) = line.strip_prefix("$PTRKC,") {
            let fields = checked(line, rest).map_err(|why| why.in_line(self.line))?;
            self.cell(fields);
            return Ok(None);
        }
        let parsed = nmea::parse_str(line);
        let mut date = None;
        let (time, place, speed_m_s) = match parsed {
            Ok(ParseResult::RMC(rmc)) if rmc.status_of_fix != RmcStatusOfFix::Invalid => {
                let speed = rmc.speed_over_ground.map(|knots| f64::from(knots) * METRES_A_SECOND);
                date = rmc.fix_date;
                (rmc.fix_time, rmc.lat.zip(rmc.lon), speed)
            }
            Ok(ParseResult::GGA(gga)) if !matches!(gga.fix_type, None | Some(FixType::Invalid)) => {
                (gga.fix_time, gga.latitude.zip(gga.longitude), None)
            }
            Ok(_) | Err(nmea::Error::DisabledSentence | nmea::Error::Unsupported(_)) => {
                return Ok(None);
            }
            // A manufacturer's own.
            Err(_) if line.starts_with("$P") && checked(line, line).is_ok() => return Ok(None),
            Err(why) => {
                let why = format!("{why}; it is not an NMEA sentence, or a damaged one");
                return Err(MotionError::new(why).in_line(self.line));
            }
        };
        let (Some(time), Some((latitude, longitude))) = (time, place) else { return Ok(None) };
        let place = Coordinates::new(latitude, longitude).map_err(|why| why.in_line(self.line))?;
        let seconds = self.seconds(time);
        if let Some(date) = date {
            let midnight = date.and_time(chrono::NaiveTime::MIN).and_utc().timestamp() as f64;
            self.midnight.get_or_insert(midnight - f64::from(self.days) * 2.0 * HALF_DAY_S);
        }
        let Some(seconds) = seconds else { return Ok(None) };
        Ok(Some(Sample {
            seconds: Some(seconds),
            speed_m_s,
            cells: self.cells.clone(),
            rsrp_dbm: self.rsrp_dbm.clone(),
            ..Sample::at(self.line, place)
        }))
    }

    /// Seconds since the midnight before the first position; `None` for a repeated time.
    fn seconds(&mut self, time: chrono::NaiveTime) -> Option<f64> {
        use chrono::Timelike as _;
        let of_day =
            f64::from(time.num_seconds_from_midnight()) + f64::from(time.nanosecond()) / 1e9;
        match self.last.replace(of_day) {
            Some(last) if last == of_day => return None,
            // A receiver may repeat a time, but does not go back by half a day. The second of two
            // receivers may be still before midnight.
            Some(last) if of_day < last - HALF_DAY_S => self.days += 1,
            Some(last) if of_day > last + HALF_DAY_S => self.days -= 1,
            _ => {}
        }
        Some(of_day + f64::from(self.days) * 2.0 * HALF_DAY_S)
    }

    fn cell(&mut self, fields: &str) {
        let mut fields = fields.split(',').map(str::trim);
        let operator = fields.next().unwrap_or_default().to_owned();
        let cell = fields.next().unwrap_or_default();
        let power = fields.next().and_then(|text| parse_rsrp(text).ok());
        self.cells.retain(|(name, _)| *name != operator);
        self.rsrp_dbm.retain(|(name, _)| *name != operator);
        self.rsrp_dbm.extend(power.map(|power| (operator.clone(), power)));
        if !cell.is_empty() {
            self.cells.push((operator, cell.to_owned()));
        }
    }
}

/// The fields of a proprietary sentence, if its checksum is correct: the exclusive or of all bytes between
/// `$` and `*`.
fn checked<'a>(line: &str, rest: &'a str) -> Result<&'a str, MotionError> {
    let (fields, sum) = rest.split_once('*').unwrap_or((rest, ""));
    let body = line.trim_start_matches('$').split('*').next().unwrap_or_default();
    let expected = body.bytes().fold(0, |sum, byte| sum ^ byte);
    match u8::from_str_radix(sum, 16) {
        Ok(found) if found == expected => Ok(fields),
        _ => Err(MotionError::new(format!("the checksum is not {expected:02X}; was it damaged?"))),
    }
}

/// A knot: 1,852 m per hour.
const METRES_A_SECOND: f64 = 1852.0 / 3600.0;
const HALF_DAY_S: f64 = 43_200.0;
