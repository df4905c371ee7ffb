//! Inference beside the communication: the number of frames, and their durations.

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};

use super::load::measured;
use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "fps", |records| {
        let Some([from, until]) = measured(records) else { return Vec::new() };
        let is_frame = |record: &Record| matches!(record.event, Event::Inferred { .. });
        match records.iter().any(is_frame) {
            true => vec![frames(records).count() as f64 / (until - from).as_secs_f64()],
            false => Vec::new(),
        }
    } => "inference frames completed in the measured part, divided by its length";
    "frame_ms", |records| {
        frames(records).map(|[begin, end]| ms(end - begin)).collect()
    } => "duration of each of these frames; the next one follows immediately";
};

/// The start and end of each frame completed in the measured part.
fn frames(records: &[Record]) -> impl Iterator<Item = [Time; 2]> {
    let measured = measured(records);
    let counts = move |at: Time| measured.is_some_and(|[from, until]| from <= at && at < until);
    records.iter().filter_map(move |record| match record.event {
        Event::Inferred { begin, .. } if counts(record.at) => Some([begin, record.at]),
        _ => None,
    })
}
