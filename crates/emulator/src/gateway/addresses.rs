//! The addresses of a gateway, and the limit of its flows.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Once;

use super::names;
use crate::namespace::Address;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses {
    /// The gateway itself, in both families.
    pub(crate) own: [IpAddr; 2],
    /// Those behind the link.
    pub(crate) inside: [Address; 2],
}

impl Addresses {
    pub(super) fn are_inside(&self, address: IpAddr) -> bool {
        self.inside.iter().any(|network| contains(*network, address))
    }

    /// Whether a gateway can reach this address on behalf of the command.
    pub(super) fn are_outside(&self, address: IpAddr) -> bool {
        let single = match address {
            IpAddr::V4(to) => !to.is_multicast() && !to.is_broadcast() && !to.is_unspecified(),
            IpAddr::V6(to) => !to.is_multicast() && !to.is_unspecified(),
        };
        self.own.contains(&address) || single && !address.is_loopback() && !self.are_inside(address)
    }

    /// The gateway's address of the same family as `like`.
    pub(super) fn own_like(&self, like: IpAddr) -> IpAddr {
        if like.is_ipv4() == self.own[0].is_ipv4() { self.own[0] } else { self.own[1] }
    }

    /// The address on the machine's network for an address behind the link: the gateway's own
    /// address stands for the machine's loopback address, so that local servers can be reached.
    pub(super) fn seen_from_outside(&self, to: SocketAddr) -> SocketAddr {
        let loopback: IpAddr = match to {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        let ip = if self.own.contains(&to.ip()) { loopback } else { to.ip() };
        SocketAddr::new(ip, to.port())
    }

    /// Whether this is the name server of the command's resolver.
    pub(super) fn is_name_server(&self, to: SocketAddr) -> bool {
        to.port() == names::PORT && self.own.contains(&to.ip())
    }
}

pub(crate) fn contains((network, prefix): Address, address: IpAddr) -> bool {
    let same = match (network, address) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        _ => return false,
    };
    same >= u32::from(prefix)
}

/// Warns, once, that there are more than `room` flows.
pub(super) fn tell_full(room: usize) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        let remedy = if room < DOORS_MAX { " with this `ulimit -Hn`" } else { "" };
        eprintln!(
            "trackbed: the command has more outgoing connections than the {room} that the gateway holds \
             at once{remedy}; some have to wait"
        );
    });
}

/// Maximum destinations and connections at a time.
pub(super) const DOORS_MAX: usize = 4_096;
