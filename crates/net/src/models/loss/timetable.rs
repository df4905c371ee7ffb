//! Independent loss whose probability changes at given times.

use std::sync::Arc;

use trackbed_core::{Ratio, Rng, Time, parameters};

use super::{Loss, LossLaw, LossProcess};
use crate::models::gate::PacketRng;
use crate::models::schedule::{check_rows, parse_rows};
use crate::spec::{ModelEntry, SpecError};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "loss-timetable",
    summary: "loses packets with a probability that changes at given times",
    parameters: parameters! {
        "losses": File, required =>
            "a file with one line per change: the time, a comma and the loss probability from then \
             on, as in \"5 s, 30 %\"; nothing is lost before the first time, and the last value \
             holds until the end; lines that begin with # are comments";
    },
    has_queue: false,
    example: &[("losses", "0 s, 1 %\n5 s, 30 %\n7 s, 1 %\n")],
    read: |arguments| {
        let text: Arc<str> = arguments.need("losses");
        let rows = parse_rows(&text, "5 s, 30 %", None, str::parse)?;
        Ok(Arc::new(Loss::new(LossTimetable::new(rows)?)))
    },
};

/// Independent loss whose probability changes at given times. Draws once for each packet, so that
/// runs with other probabilities use the same draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossTimetable {
    rows: Arc<[(Time, Ratio)]>,
}

impl LossTimetable {
    /// Pairs of a start time and a probability; zero before the first one.
    ///
    /// # Errors
    /// If a time is not after the one before.
    pub fn new(rows: impl IntoIterator<Item = (Time, Ratio)>) -> Result<LossTimetable, SpecError> {
        let rows: Arc<[(Time, Ratio)]> = rows.into_iter().collect();
        check_rows(&rows, "loss", false)?;
        Ok(LossTimetable { rows })
    }

    /// The same probability all the time.
    pub fn constant(probability: Ratio) -> LossTimetable {
        LossTimetable { rows: Arc::new([(Time::ZERO, probability)]) }
    }
}

impl LossLaw for LossTimetable {
    fn begin(&self, rng: Rng) -> Box<dyn LossProcess> {
        Box::new(Process { rows: Arc::clone(&self.rows), rng: PacketRng::new(rng) })
    }
}

#[derive(Debug)]
struct Process {
    rows: Arc<[(Time, Ratio)]>,
    rng: PacketRng,
}

impl LossProcess for Process {
    fn loses_next(&mut self, now: Time, size: usize) -> bool {
        let begun = self.rows.partition_point(|(from, _)| *from <= now);
        let probability = begun.checked_sub(1).map_or(Ratio::ZERO, |row| self.rows[row].1);
        self.rng.of(size).chance(probability)
    }

    /// In place of the whole timetable.
    fn set_probability(&mut self, probability: Ratio) -> bool {
        self.rows = LossTimetable::constant(probability).rows;
        true
    }
}
