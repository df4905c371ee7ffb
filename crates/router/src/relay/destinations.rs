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
    /// Why an address is refused; `None` if it is not. An IPv4 address inside an IPv6 one is judged as well,
    /// because a translator or tunnel on the way leads there.
    pub fn refusal(&self, to: IpAddr) -> Option<&'static str> {
        let to = to.to_canonical();
        let is_allowed = |to: IpAddr| self.allowed.iter().any(|of| of.to_canonical() == to);
        if is_allowed(to) {
            return None;
        }
        let inner = embedded(to).filter(|inner| !is_allowed(*inner));
        refusal(to).or_else(|| inner.and_then(refusal))
    }
}

fn refusal(to: IpAddr) -> Option<&'static str> {
    let (is_link_local, is_broadcast) = match to {
        IpAddr::V4(v4) => (v4.is_link_local(), v4.is_broadcast()),
        IpAddr::V6(v6) => (v6.is_unicast_link_local(), false),
    };
    match () {
        () if to.is_loopback() || to.is_unspecified() => Some("it is the relay's own loopback"),
        () if is_link_local => Some("it is link-local"),
        () if METADATA.contains(&to) => Some("it is a cloud's metadata service"),
        () if to.is_multicast() || is_broadcast => Some("it is not a single host"),
        () if is_ours(to) => Some("it is the relay's own address"),
        () => None,
    }
}

/// The IPv4 address in an IPv6 one: compatible (RFC 4291 section 2.5.5.1), translated (RFC 2765), NAT64
/// (RFC 6052, RFC 8215), 6to4 (RFC 3056) or Teredo (RFC 4380 section 4).
fn embedded(to: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(v6) = to else { return None };
    let bits = v6.to_bits();
    let v4 = match v6.segments() {
        [0, 0, 0, 0, 0 | 0xffff, 0, _, _] => bits,
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] | [0x64, 0xff9b, 1, ..] => bits,
        [0x2002, ..] => bits >> 80,
        [0x2001, 0, ..] => !bits,
        _ => return None,
    };
    Some(Ipv4Addr::from_bits(v4 as u32).into())
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

/// Metadata services outside link-local: of Azure, Alibaba, Oracle, Amazon, Google and Scaleway.
const METADATA: [IpAddr; 6] = [
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_router_reaches_is_refused_unless_it_is_allowed() {
        let refused = |address: &str| Destinations::default().refusal(address.parse().unwrap());
        let own = "127.0.0.1 127.9.9.9 ::1 0.0.0.0 :: ::ffff:127.0.0.1 fe80::1 169.254.1.1";
        let metadata = "169.254.169.254 fd00:ec2::254 168.63.129.16 100.100.100.200 192.0.0.192 \
                        fd20:ce::254 ::ffff:169.254.169.254";
        let inside = "::169.254.169.254 ::ffff:0:169.254.169.254 64:ff9b::169.254.169.254 \
                      64:ff9b:1::168.63.129.16 2002:a9fe:a9fe::1 2001:0:c000:201::5601:5601";
        let many = "224.0.0.1 ff02::1 255.255.255.255";
        for address in [own, metadata, inside, many].iter().flat_map(|all| all.split(' ')) {
            assert!(refused(address).is_some(), "{address}");
        }
        let hosts = "192.0.2.1 10.1.2.3 2001:db8::1 fd00::1 64:ff9b::192.0.2.1 2002:c000:201::1";
        assert_eq!(hosts.split(' ').find_map(refused), None);
        let allowed = Destinations { allowed: vec!["127.0.0.1".parse().unwrap()] };
        let refused = |address: &str| allowed.refusal(address.parse().unwrap()).is_some();
        assert_eq!(["::ffff:127.0.0.1", "127.0.0.2"].map(refused), [false, true]);
    }
}
