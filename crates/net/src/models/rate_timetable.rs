//! Serialisation at a rate that changes at given times, with a queue in front.

use std::sync::Arc;

use trackbed_core::{Arguments, Bitrate, Rng, Time, parameters};

use super::rate::Rate;
use super::schedule::{Act, check_rows, parse_rows, scheduled};
use crate::link::Link;
use crate::queue::{QueueEntry, QueueModel};
use crate::spec::{Model, ModelEntry, SpecError, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "rate-timetable",
    summary: "sends packets one at a time, at a rate that changes at given times; the others wait \
              in a queue",
    parameters: parameters! {
        "rates": File, required =>
            "a file with one line per change: the time, a comma and the rate from then on, as in \
             \"5 s, 10 Mbit/s\"; the first time is 0, and the last rate holds until the end; at \
             0 bit/s packets wait; lines that begin with # are comments. Or a table with a heading \
             such as time_s,rate_Mbit/s: times are seconds, milliseconds or since 1970, and count \
             from the first line; where the rate is unknown, the last one holds";
    },
    has_queue: true,
    example: &[("rates", "0 s, 50 Mbit/s\n5 s, 10 Mbit/s\n"), ("queue_packets", "100")],
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn Model>, SpecError> {
    let text: Arc<str> = arguments.need("rates");
    Ok(Arc::new(RateTimetable::of(parse_rates(&text)?, QueueEntry::model(arguments)?)?))
}

/// Reads the rows of a timetable of rates: a time, a comma and a rate on each line, or a table with units in its
/// heading.
///
/// # Errors
/// If a line is not such a row; the message names it.
pub fn parse_rates(text: &str) -> Result<Vec<(Time, Bitrate)>, SpecError> {
    parse_rows(text, "5 s, 10 Mbit/s", None, str::parse)
}

/// Sends as [`Rate`] does, at a rate that changes at given times, also for the rest of the packet
/// that is being sent. A rate set while the link runs holds until the next entry of the timetable.
#[derive(Clone, Debug)]
pub struct RateTimetable {
    rows: Arc<[(Time, Bitrate)]>,
    queue: Arc<dyn QueueModel>,
}

impl RateTimetable {
    /// Pairs of a start time and a rate; the last rate holds until the end, and at rate zero
    /// packets wait. The queue is `queue`.
    ///
    /// # Errors
    /// If there is no row, the first one is not at time zero, or a time is not after the one
    /// before.
    pub fn new(
        rows: impl IntoIterator<Item = (Time, Bitrate)>,
        queue: impl QueueModel + 'static,
    ) -> Result<RateTimetable, SpecError> {
        RateTimetable::of(rows.into_iter().collect(), Arc::new(queue))
    }

    fn of(
        rows: Vec<(Time, Bitrate)>,
        queue: Arc<dyn QueueModel>,
    ) -> Result<RateTimetable, SpecError> {
        check_rows(&rows, "rate", true)?;
        Ok(RateTimetable { rows: rows.into(), queue })
    }
}

impl Model for RateTimetable {
    fn stage(&self) -> Stage {
        Stage::Queue
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        let first = Rate { rate: self.rows[0].1, queue: Arc::clone(&self.queue) };
        let acts = self.rows[1..].iter().map(|(at, rate)| (*at, Act::Rate(*rate)));
        scheduled(acts, first.wrap(rng, inner))
    }
}
