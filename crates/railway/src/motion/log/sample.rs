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

    /// What modems measured here, if the time is known.
    pub(super) fn readings(&self) -> Vec<Reading> {
        let Some(seconds) = self.seconds else { return Vec::new() };
        let cells = self.cells.iter().map(|(name, cell)| (name, Measured::Cell(cell.clone())));
        let powers = self.rsrp_dbm.iter().map(|(name, dbm)| (name, Measured::Rsrp(*dbm)));
        let reading = |(name, measured): (&String, Measured)| Reading {
            line: self.line,
            seconds,
            operator: name.clone(),
            carrier: String::new(),
            measured,
        };
        cells.chain(powers).map(reading).collect()
    }
}

/// What a modem measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The line in the text, counted from 1.
    pub line: u64,
    /// The time, as of [`Sample::seconds`].
    pub seconds: f64,
    /// The operator; empty if it has no name.
    pub operator: String,
    /// The operator in a column of its own; empty without one.
    pub carrier: String,
    /// The value.
    pub measured: Measured,
}

/// The values of modems.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// The serving cell.
    Cell(String),
    /// Its reference signal received power, in dBm.
    Rsrp(f64),
    /// Throughput, in bits per second.
    Rate(f64),
    /// The round-trip time, in seconds.
    RoundTrip(f64),
}

/// The log of a drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveLog {
    /// The positions, in order of their times, if all have one.
    pub samples: Vec<Sample>,
    /// What modems measured, with a position or without one; only of logs read for a drive.
    pub readings: Vec<Reading>,
    /// The number of skipped damaged lines. Only in NMEA are they skipped, because receivers start in the
    /// middle of a line and lose bytes; in other formats they are errors.
    pub damaged: u64,
    /// The number of skipped lines of a table without a position.
    pub without_position: u64,
    /// The number of skipped positions that no train reaches.
    pub unreachable: u64,
}

impl DriveLog {
    /// Sorts the positions by time, and drops those that no train reaches from the others: receivers begin
    /// at 0, 0 and jump by kilometres. Kept is the longest series of positions that follow from each other.
    pub(super) fn drop_unreachable(&mut self) {
        let samples = &mut self.samples;
        // A drawn track may have one time at nearly all of its points, which says nothing.
        let middle = samples.get(samples.len() / 2).and_then(|sample| sample.seconds);
        let same = samples.iter().filter(|sample| sample.seconds == middle).count();
        if samples.len() > 1 && 10 * same >= 9 * samples.len() {
            samples.iter_mut().for_each(|sample| sample.seconds = None);
        }
        if samples.iter().all(|sample| sample.seconds.is_some()) {
            // Stable, for the positions of several receivers at one time.
            samples.sort_by(|a, b| a.seconds.partial_cmp(&b.seconds).expect("finite numbers"));
        }
        let mut series: Vec<Vec<usize>> = Vec::new();
        for (index, sample) in samples.iter().enumerate() {
            let follows = |series: &&mut Vec<usize>| {
                let place = samples[series[series.len() - 1]].coordinates;
                let stays = |at: &&usize| samples[**at].coordinates == place;
                // Loggers repeat an old position until they get another one.
                let first = series.iter().rev().take(REPEATED_MAX).take_while(stays).last();
                first.is_some_and(|first| reaches(&samples[*first], sample))
            };
            let longest = series.iter_mut().filter(follows).max_by_key(|series| series.len());
            match longest {
                Some(series) => series.push(index),
                None => series.push(vec![index]),
            }
            if series.len() > SERIES_MAX {
                // The last one has only begun.
                let shortest = (0..SERIES_MAX).min_by_key(|at| series[*at].len());
                series.remove(shortest.unwrap_or(0));
            }
        }
        let longest = series.into_iter().max_by_key(Vec::len).unwrap_or_default();
        self.unreachable = (samples.len() - longest.len()) as u64;
        *samples = longest.into_iter().map(|index| samples[index].clone()).collect();
    }
}

/// Whether a train can go from one position to the other.
fn reaches(from: &Sample, to: &Sample) -> bool {
    let distance_m = from.coordinates.distance_m(to.coordinates);
    match from.seconds.zip(to.seconds) {
        Some((from_s, to_s)) => distance_m <= ERROR_MAX_M + SPEED_MAX_M_S * (to_s - from_s).abs(),
        None => distance_m <= GAP_MAX_M,
    }
}

/// Faster than any train: 540 km/h.
const SPEED_MAX_M_S: f64 = 150.0;
/// Errors of positions under bridges and between houses.
const ERROR_MAX_M: f64 = 100.0;
/// Between two positions without times; longer than any tunnel.
const GAP_MAX_M: f64 = 100_000.0;
/// A position is repeated at most this often.
const REPEATED_MAX: usize = 60;
/// Bounds the time for a log of nonsense.
const SERIES_MAX: usize = 8;

/// Parses the received power of a serving cell.
pub(super) fn parse_rsrp(text: &str) -> Result<f64, MotionError> {
    decimal(text.trim()).filter(|dbm| (-200.0..=50.0).contains(dbm)).ok_or_else(|| {
        let advice = "write dBm such as -93.5, or nothing where it is unknown";
        MotionError::new(format!("\"{text}\" is not a valid RSRP; {advice}"))
    })
}
