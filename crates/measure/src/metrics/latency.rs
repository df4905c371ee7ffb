//! How soon messages were answered, and listeners warned.

use std::time::Duration;

use trackbed_core::event::{Event, Record};

use super::messages::gather;
use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "rtt_ms", |records| {
        gather(records).into_values().filter_map(|message| message.latency()).map(ms).collect()
    } =>
        "time of each answered message from its intended time to the end of the answer; in a \
         closed loop it is intended when it is sent";
    "deadline_miss_ratio", miss_ratio =>
        "share of messages not answered within the deadline after their intended time; given-up \
         and refused messages count as missed";
    "warning_ms", |records| {
        let messages = gather(records);
        let told = |record: &Record| match record.event {
            Event::Warned { phone, message, .. } => {
                let intended = messages.get(&(phone, message))?.intended;
                Some(ms(record.at.since(intended)))
            }
            _ => None,
        };
        records.iter().filter_map(told).collect()
    } =>
        "time of each accepted message from its intended time until it has arrived completely, for \
         each listener";
};

fn miss_ratio(records: &[Record]) -> Vec<f64> {
    let Some(deadline) = deadline(records) else { return Vec::new() };
    let messages = gather(records);
    if messages.is_empty() {
        return Vec::new();
    }
    let in_time = |latency: Duration| latency <= deadline;
    let missed = messages.values().filter(|message| !message.latency().is_some_and(in_time));
    vec![missed.count() as f64 / messages.len() as f64]
}

pub(super) fn deadline(records: &[Record]) -> Option<Duration> {
    records.iter().find_map(|record| match record.event {
        Event::DeadlineSet { after } => Some(after),
        _ => None,
    })
}
