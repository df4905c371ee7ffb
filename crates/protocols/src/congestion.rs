//! All congestion controllers. Adding one to `congestion/` of the TCP engine, or to the table of
//! the QUIC engine (`quic_transport/congestion.rs`), adds it here.

use std::sync::LazyLock;

use trackbed_connection::{Capabilities, Transport};

use crate::quic_transport::QUIC_CONGESTION;

/// A congestion controller: a value of
/// [`TransportParameters::congestion`](crate::TransportParameters::congestion). Controllers of
/// different transports may have the same name; then they follow the same algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// The name that scenarios use.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Which connections can have it.
    pub of: CongestionOf,
    /// Whether a run with it can be repeated from its seed.
    pub repeatable: bool,
}

/// The connections that a congestion controller is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionOf {
    /// TCP, and each path of Multipath TCP.
    Tcp,
    /// Multipath TCP: it couples the paths of a connection.
    CoupledTcp,
    /// QUIC, and each path of Multipath QUIC.
    Quic,
}

impl CongestionOf {
    /// Whether connections of a protocol that can do this have such a controller.
    pub fn fits(self, can: &Capabilities) -> bool {
        match self {
            CongestionOf::Tcp => can.transport == Transport::Tcp,
            CongestionOf::CoupledTcp => can.transport == Transport::Tcp && can.multipath,
            CongestionOf::Quic => can.transport == Transport::Udp,
        }
    }

    /// The transport's name for lists.
    pub const fn transport(self) -> &'static str {
        match self {
            CongestionOf::Tcp | CongestionOf::CoupledTcp => "TCP",
            CongestionOf::Quic => "QUIC",
        }
    }
}

/// The controller of TCP that only the kernel has, not the engine of virtual time.
pub const KERNEL_CONGESTION: &str = "bbr";

/// Every congestion controller, in the order of lists.
pub fn congestion() -> &'static [Congestion] {
    static ALL: LazyLock<Vec<Congestion>> = LazyLock::new(|| {
        let tcp = trackbed_tcp::algorithms().iter().map(|entry| Congestion {
            name: entry.name,
            summary: entry.summary,
            of: if entry.is_coupled { CongestionOf::CoupledTcp } else { CongestionOf::Tcp },
            repeatable: true,
        });
        let quic = QUIC_CONGESTION.iter().map(|entry| Congestion {
            name: entry.name,
            summary: entry.summary,
            of: CongestionOf::Quic,
            repeatable: entry.repeatable,
        });
        let kernel = Congestion {
            name: KERNEL_CONGESTION,
            summary: "BBR of Linux: windows from the bandwidth and the round-trip time; emulated and live",
            of: CongestionOf::Tcp,
            repeatable: true,
        };
        tcp.chain([kernel]).chain(quic).collect()
    });
    &ALL
}
