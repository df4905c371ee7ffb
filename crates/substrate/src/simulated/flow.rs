//! The names of connections.

use std::net::{IpAddr, SocketAddr};

use trackbed_net::NodeId;

/// The addresses and ports of a connection as a key that is quick to hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flow {
    local: u128,
    remote: u128,
    ports: u32,
    node: u32,
}

impl Flow {
    pub(super) fn new(node: NodeId, local: SocketAddr, remote: SocketAddr) -> Flow {
        Flow {
            local: bits(local.ip()),
            remote: bits(remote.ip()),
            ports: (u32::from(local.port()) << 16) | u32::from(remote.port()),
            node: node.index() as u32,
        }
    }
}

/// IPv4 addresses become IPv4-mapped IPv6 ones (RFC 4291 section 2.5.5.2).
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}
