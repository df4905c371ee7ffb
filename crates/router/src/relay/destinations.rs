//! The destinations to which a relay connects its clients.
//!
//! Clients must not reach what only the router can: services that listen only for the router, link-local
//! neighbours in its other networks, and the metadata service of a cloud that it may run in.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Decides which destinations are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Destinations {
    /// Addresses that are allowed in any case.
    pub allowed: Vec<IpAddr>,
}

impl Destinations {
    /// Why an address is refused; `None` if it is not.
    pub fn refusal(&self, to: IpAddr) -> Option<&'static str> {
        let to = to.to_canonical();
        if self.allowed.iter().any(|allowed| allowed.to_canonical() == to) {
            return None;
        }
        let (is_link_local, is_broadcast) = match to {
            IpAddr::V4(v4) => (v4.is_link_local(), v4.is_broadcast()),
            IpAddr::V6(v6) => (v6.is_unicast_link_local(), false),
        };
        match () {
            () if to.is_loopback() || to.is_unspecified() => Some("it is the relay's own loopback"),
            () if is_link_local => Some("it is link-local"),
            () if to == METADATA_V6 => Some("it is a cloud's metadata service"),
            () if to.is_multicast() || is_broadcast => Some("it is not a single host"),
            () if is_ours(to) => Some("it is the relay's own address"),
            () => None,
        }
    }
}

/// Whether an address belongs to this machine: the kernel's source address for it is the address itself.
pub(super) fn is_ours(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // If no descriptor is available for the check, assume that it does.
    let Ok(socket) = UdpSocket::bind((any, 0)) else { return true };
    let source = socket.connect((address, DISCARD)).and_then(|()| socket.local_addr());
    source.is_ok_and(|source| source.ip() == address)
}

/// The discard port (RFC 863); nothing is actually sent.
const DISCARD: u16 = 9;

/// Amazon's metadata service over IPv6; over IPv4, clouds use link-local addresses.
const METADATA_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254));

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: &str) -> bool {
        Destinations::default().refusal(address.parse().unwrap()).is_some()
    }

    #[test]
    fn what_only_the_router_reaches_is_refused() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "::1",
            "0.0.0.0",
            "::",
            "169.254.169.254",
            "169.254.1.1",
            "fe80::1",
            "fd00:ec2::254",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "224.0.0.1",
            "ff02::1",
            "255.255.255.255",
        ] {
            assert!(refused(address), "{address}");
        }
        for address in ["192.0.2.1", "10.1.2.3", "2001:db8::1", "fd00::1"] {
            assert!(!refused(address), "{address}");
        }
    }

    #[test]
    fn what_is_allowed_by_name_is_let_through() {
        let allowed = vec!["127.0.0.1".parse().unwrap()];
        let destinations = Destinations { allowed };
        assert_eq!(destinations.refusal("::ffff:127.0.0.1".parse().unwrap()), None);
        assert!(destinations.refusal("127.0.0.2".parse().unwrap()).is_some());
    }
}
