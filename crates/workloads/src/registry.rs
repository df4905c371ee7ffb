//! Every workload: one line each.

use crate::{Workload, bulk, flow, idle, messages, page, streaming, telemetry, verification};

/// Every workload, in the order of lists.
pub fn registry() -> &'static [&'static Workload] {
    ALL
}

const ALL: &[&Workload] = &[
    &messages::ENTRY,
    &telemetry::ENTRY,
    &idle::ENTRY,
    &page::ENTRY,
    &bulk::ENTRY,
    &flow::ENTRY,
    &streaming::ENTRY,
    &verification::ENTRY,
];

/// The workload called `name`.
pub fn find(name: &str) -> Option<&'static Workload> {
    registry().iter().copied().find(|workload| workload.name == name)
}
