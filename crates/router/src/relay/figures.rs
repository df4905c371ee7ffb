//! The relay's metrics.

use trackbed_outward::{Counter, Gauge, Metrics};

use crate::relay::carry::Meters;

/// The metrics of the relay.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pub(crate) multipath: Counter,
    pub(crate) plain: Counter,
    pub(crate) unreachable: Counter,
    pub(crate) refused: Counter,
    pub(crate) broken: Counter,
    pub(crate) idle: Counter,
    pub(crate) open: Gauge,
    pub(crate) meters: Meters,
}

impl Figures {
    pub(crate) fn new(metrics: &Metrics) -> Figures {
        let connected = |transport| {
            let help = "Relayed connections, by the transport of the destination.";
            metrics.counter("trackbed_relay_connections_total", help, &[("transport", transport)])
        };
        let failed = |reason| {
            let help = "Connections that could not be relayed, or broke.";
            metrics.counter("trackbed_relay_failures_total", help, &[("reason", reason)])
        };
        let bytes = |direction| {
            let help = "Relayed bytes.";
            metrics.counter("trackbed_relay_bytes_total", help, &[("direction", direction)])
        };
        Figures {
            multipath: connected("mptcp"),
            plain: connected("tcp"),
            unreachable: failed("unreachable"),
            refused: failed("refused"),
            broken: failed("broken"),
            idle: failed("idle"),
            open: metrics.gauge("trackbed_relay_open", "Open connections.", &[]),
            meters: Meters { up: bytes("up"), down: bytes("down") },
        }
    }
}
