//! Every metric: a line for each table of them.

use std::sync::LazyLock;

use super::{
    Metric, account, age, completion, counts, disturbance, flow, handshake, latency, link, load,
    loading, page, playing, sharing, throughput, transport, verification,
};

/// Every metric, in the order of reports.
pub fn registry() -> &'static [Metric] {
    &REGISTRY
}

/// The metric called `name`.
pub fn find(name: &str) -> Option<&'static Metric> {
    REGISTRY.iter().find(|metric| metric.name == name)
}

static REGISTRY: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    [
        completion::METRICS,
        page::TIMES,
        handshake::METRICS,
        disturbance::METRICS,
        latency::METRICS,
        account::METRICS,
        age::METRICS,
        verification::METRICS,
        loading::METRICS,
        playing::METRICS,
        flow::METRICS,
        throughput::METRICS,
        transport::METRICS,
        link::METRICS,
        sharing::METRICS,
        page::OBJECTS,
        counts::METRICS,
        load::METRICS,
    ]
    .concat()
});
