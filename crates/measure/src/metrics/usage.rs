//! What the ends cost the machine, where they are processes of their own.

use trackbed_core::event::{Event, Record, Role};

use super::Metric;

pub(super) const CLIENT_CPU_MS: Metric = Metric {
    name: "client_cpu_ms",
    help: "processor time of the clients' process, from its start to its end; on the kernel only",
    compute: |records| processor(records, Role::Client),
};

pub(super) const SERVER_CPU_MS: Metric = Metric {
    name: "server_cpu_ms",
    help: "processor time of the server's process, from its start to its end; on the kernel only",
    compute: |records| processor(records, Role::Server),
};

pub(super) const CLIENT_MEMORY_BYTES: Metric = Metric {
    name: "client_memory_bytes",
    help: "the most resident memory of the clients' process; on the kernel only",
    compute: |records| memory(records, Role::Client),
};

pub(super) const SERVER_MEMORY_BYTES: Metric = Metric {
    name: "server_memory_bytes",
    help: "the most resident memory of the server's process; on the kernel only",
    compute: |records| memory(records, Role::Server),
};

fn processor(records: &[Record], whose: Role) -> Vec<f64> {
    let used = records.iter().filter_map(|record| match record.event {
        Event::Used { role, processor, .. } if role == whose => Some(processor),
        _ => None,
    });
    used.map(|processor| processor.as_secs_f64() * 1e3).collect()
}

fn memory(records: &[Record], whose: Role) -> Vec<f64> {
    let used = records.iter().filter_map(|record| match record.event {
        Event::Used { role, memory_bytes, .. } if role == whose => Some(memory_bytes as f64),
        _ => None,
    });
    used.collect()
}
