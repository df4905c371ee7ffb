//! How long each message took, and whether that was in time.

use std::time::Duration;

use trackbed_core::event::{Event, Record};

use super::Metric;
use super::messages::gather;

pub(super) const METRICS: &[Metric] = metrics! {
    "rtt_ms", |records| {
        let latencies = gather(records).into_values().filter_map(|message| message.latency());
        latencies.map(|latency| latency.as_secs_f64() * 1e3).collect()
    } =>
        "for each answered message, from the time at which it was to be sent to the end of the \
         answer; in a closed loop it is to be sent when it is";
    "deadline_miss_ratio", miss_ratio =>
        "share of the messages that were not answered within the deadline after the time at which \
         they were to be sent; those given up are missed, those refused in time are not";
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

/// What is in time.
pub(super) fn deadline(records: &[Record]) -> Option<Duration> {
    records.iter().find_map(|record| match record.event {
        Event::DeadlineSet { after } => Some(after),
        _ => None,
    })
}
