//! Every workload: one line each.

use crate::{Workload, bulk, flow, idle, messages, page, streaming, telemetry, verification};

/// Every workload, in the order of lists.
pub fn registry() -> &'static [&'static dyn Workload] {
    &[
        &messages::Messages,
        &telemetry::Telemetry,
        &idle::Idle,
        &page::WebPage,
        &bulk::Bulk,
        &flow::Flow,
        &streaming::Streaming,
        &verification::Verification,
    ]
}

/// The workload called `name`.
pub fn find(name: &str) -> Option<&'static dyn Workload> {
    registry().iter().copied().find(|workload| workload.name() == name)
}
