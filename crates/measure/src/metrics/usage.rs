//! The resources of the endpoints' processes.

use std::time::Duration;

use trackbed_core::event::{Event, Record, Role};

use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "client_cpu_ms", |records| used(records, Role::Client, |processor, _| ms(processor)) =>
        "processor time of the clients' processes together over their lifetime; emulated substrate only";
    "server_cpu_ms", |records| used(records, Role::Server, |processor, _| ms(processor)) =>
        "processor time of the server's process over its lifetime; emulated substrate only";
    "client_memory_bytes", |records| used(records, Role::Client, |_, bytes| bytes as f64) =>
        "peak resident memory of the clients' processes, shared pages counted for each; emulated substrate only";
    "server_memory_bytes", |records| used(records, Role::Server, |_, bytes| bytes as f64) =>
        "peak resident memory of the server's process; emulated substrate only";
};

fn used(records: &[Record], whose: Role, of: fn(Duration, u64) -> f64) -> Vec<f64> {
    let used = records.iter().filter_map(|record| match record.event {
        Event::Used { role, processor, memory_bytes, .. } if role == whose => {
            Some(of(processor, memory_bytes))
        }
        _ => None,
    });
    used.collect()
}
