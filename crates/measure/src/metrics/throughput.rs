//! Bytes per second.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use trackbed_core::event::{Event, Record};

use super::account::window;
use super::completion::spans;
use super::messages::gather;
use super::{Metric, time_of};

pub(super) const METRICS: &[Metric] = metrics! {
    "throughput_mbps", |records| {
        let bytes = useful_bytes(records);
        let rate =
            |(phone, span): (&u32, &Duration)| mbps(bytes.get(phone).copied().unwrap_or(0), *span);
        // The bytes sent by a third-party client are unknown.
        let completed = |record: &Record| match record.event {
            Event::Completed { phone } => Some(phone),
            _ => None,
        };
        let others: BTreeSet<u32> = records.iter().filter_map(completed).collect();
        let ours = |(phone, _): &(&u32, &Duration)| !others.contains(phone);
        match window(records) {
            Some(window) => bytes.values().filter_map(|bytes| mbps(*bytes, window)).collect(),
            None => spans(records).iter().filter(ours).filter_map(rate).collect(),
        }
    } =>
        "bytes of each phone's accepted messages, or of its transfer, over its completion time or \
         the measured window of a schedule, in 10^6 bit/s; without headers and retransmissions";
    "total_throughput_mbps", |records| {
        let bytes = useful_bytes(records).values().sum();
        if let Some(window) = window(records) {
            return mbps(bytes, window).into_iter().collect();
        }
        let started = time_of(records, &Event::Started);
        let last = records.iter().rev().find(|record| {
            matches!(record.event, Event::Answered { .. } | Event::Transferred { .. })
        });
        let (Some(started), Some(last)) = (started, last) else { return Vec::new() };
        mbps(bytes, last.at - started).into_iter().collect()
    } =>
        "the same bytes of all phones together, over the time from the start of the measured part \
         to the last answer or last byte of all, or over the measured window";
};

fn useful_bytes(records: &[Record]) -> BTreeMap<u32, u64> {
    let mut bytes = BTreeMap::new();
    for ((phone, _), message) in gather(records) {
        if message.latency().is_some() {
            *bytes.entry(phone).or_default() += message.bytes;
        }
    }
    for record in records {
        match record.event {
            Event::Transferred { phone, bytes: arrived, intact: true } => {
                *bytes.entry(phone).or_default() += arrived;
            }
            // A phone without an answer has a rate too.
            Event::Scheduled { phone, .. } => *bytes.entry(phone).or_default() += 0,
            _ => {}
        }
    }
    bytes
}

fn mbps(bytes: u64, span: Duration) -> Option<f64> {
    (!span.is_zero()).then(|| bytes as f64 * 8.0 / span.as_secs_f64() / 1e6)
}
