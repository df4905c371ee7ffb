//! The resources of the endpoints' processes.

use trackbed_core::event::{Event, Record, Role};

use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "client_cpu_ms", |records| processor(records, Role::Client) =>
        "processor time of the clients' processes together over their lifetime; emulated substrate only";
    "server_cpu_ms", |records| processor(records, Role::Server) =>
        "processor time of the server's process over its lifetime; emulated substrate only";
    "client_memory_bytes", |records| memory(records, Role::Client) =>
        "peak resident memory of the clients' processes, shared pages counted for each; emulated substrate only";
    "server_memory_bytes", |records| memory(records, Role::Server) =>
        "peak resident memory of the server's process; emulated substrate only";
};

fn processor(records: &[Record], whose: Role) -> Vec<f64> {
    let used = records.iter().filter_map(|record| match record.event {
        Event::Used { role, processor, .. } if role == whose => Some(ms(processor)),
        _ => None,
    });
    used.collect()
}

fn memory(records: &[Record], whose: Role) -> Vec<f64> {
    let used = records.iter().filter_map(|record| match record.event {
        Event::Used { role, memory_bytes, .. } if role == whose => Some(memory_bytes as f64),
        _ => None,
    });
    used.collect()
}
