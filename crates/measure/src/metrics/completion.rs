//! The completion time.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};

use super::account::window;
use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "completion_ms",
        |records| spans(records).values().copied().map(ms).collect() =>
        "time of each phone from the start of the measured part (with several phones: from its first \
         attempt to connect), connection set-up included, to its last answer, the last byte of its \
         transfer or the end of a third-party client";
};

/// The time of each phone that got an answer or a transfer, or finished. Workloads with a schedule
/// have none, because the schedule determines it.
pub(super) fn spans(records: &[Record]) -> BTreeMap<u32, Duration> {
    if window(records).is_some() {
        return BTreeMap::new();
    }
    let mut start = None;
    let mut first_attempts = BTreeMap::new();
    let mut ends: BTreeMap<u32, Time> = BTreeMap::new();
    for record in records {
        match record.event {
            Event::Started => start = Some(record.at),
            Event::ConnectStarted { phone, .. } => {
                first_attempts.entry(phone).or_insert(record.at);
            }
            Event::Answered { phone, .. }
            | Event::Transferred { phone, .. }
            | Event::Completed { phone } => {
                ends.insert(phone, record.at);
            }
            _ => {}
        }
    }
    let alone = first_attempts.len() <= 1;
    let begin = |phone| if alone { start } else { first_attempts.get(phone).copied() };
    ends.iter().filter_map(|(phone, end)| Some((*phone, *end - begin(phone)?))).collect()
}
