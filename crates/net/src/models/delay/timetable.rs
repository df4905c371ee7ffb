//! A delay that changes at given times, in a scenario or in a file.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Rng, Time, parameters, units};

use super::{DelayLaw, OVERTAKING, delay_with_order};
use crate::models::schedule::{check_rows, parse_rows};
use crate::spec::{ModelEntry, SpecError};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "delay-timetable",
    summary: "a delay that changes at given times",
    parameters: parameters! {
        "delays": Timetable, required =>
            "pairs of a start time and a delay; the first time is 0 s, and the last delay holds \
             until the end";
        "overtaking": Flag = "false" => OVERTAKING;
    },
    has_queue: false,
    example: &[("delays", "0 s: 10 ms, 5 s: 50 ms")],
    read: |arguments| {
        let rows: Vec<(Duration, Duration)> = arguments.need("delays");
        let rows = rows.into_iter().map(|(from, delay)| (Time::ZERO + from, delay));
        Ok(Arc::new(delay_with_order(Timetable::new(rows)?, arguments)))
    },
};

pub(crate) static TRACE_ENTRY: ModelEntry = ModelEntry {
    name: "delay-trace",
    summary: "a delay that follows a trace file",
    parameters: parameters! {
        "trace": File, required =>
            "a file with one line per change: the time since the start and the delay from then on, \
             both in milliseconds, decimals allowed; the first time is 0, and the last delay holds \
             until the end; lines that begin with # are comments";
        "overtaking": Flag = "false" => OVERTAKING;
    },
    has_queue: false,
    example: &[("trace", "0 10\n250.5 12.125\n")],
    read: |arguments| {
        let text: Arc<str> = arguments.need("trace");
        Ok(Arc::new(delay_with_order(parse_delay_trace(&text)?, arguments)))
    },
};

/// A delay that changes at given times. The time at which a packet is sent decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    rows: Arc<[(Time, Duration)]>,
    /// The minimum delay of all rows, stored because it is needed for every packet.
    least: Duration,
}

impl Timetable {
    /// Pairs of a start time and a delay; the last delay holds until the end.
    ///
    /// # Errors
    /// If there is no row, the first one is not at time zero, or a time is not after the one
    /// before.
    pub fn new(rows: impl IntoIterator<Item = (Time, Duration)>) -> Result<Timetable, SpecError> {
        let rows: Arc<[(Time, Duration)]> = rows.into_iter().collect();
        check_rows(&rows, "delay", true)?;
        let least = rows.iter().map(|(_, delay)| *delay).min().unwrap_or_default();
        Ok(Timetable { rows, least })
    }
}

/// Reads a trace of delays: on each line the time since the start and the delay from then on, both in
/// milliseconds with at most six decimals.
///
/// # Errors
/// If a line is not two such numbers, or the times do not begin at zero and rise.
pub fn parse_delay_trace(text: &str) -> Result<Timetable, SpecError> {
    Timetable::new(parse_rows(text, "250.5 12", Some("ms"), units::parse_duration)?)
}

impl DelayLaw for Timetable {
    fn draw(&self, now: Time, _rng: &mut Rng) -> Duration {
        let begun = self.rows.partition_point(|(from, _)| *from <= now);
        self.rows[begun - 1].1
    }

    fn least(&self) -> Duration {
        self.least
    }

    fn is_the_same_at_once(&self) -> bool {
        true
    }
}
