//! Endpoints: local addresses for the path manager, and their roles.

use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;

use bitflags::bitflags;
use netlink_packet_core::DefaultNla;

use crate::mptcp_pm::attributes::{Attributes, addr, address, nest, number, pm};

/// A local address for subflows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its number, 1 to 255; 0 leaves the choice to the kernel.
    pub id: u8,
    /// The address.
    pub address: IpAddr,
    /// The port that is announced with it, if it differs from the connection's.
    pub port: Option<u16>,
    /// Its roles.
    pub flags: EndpointFlags,
    /// The index of the interface that its subflows are bound to.
    pub interface: Option<NonZeroU32>,
}

impl Endpoint {
    /// An address on any interface, with the next free number.
    pub fn new(address: IpAddr, flags: EndpointFlags) -> Endpoint {
        Endpoint { id: 0, address, port: None, flags, interface: None }
    }

    pub(crate) fn emit(&self) -> DefaultNla {
        let family = if self.address.is_ipv4() { AF_INET } else { AF_INET6 };
        let mut inner = vec![
            number(addr::FAMILY, family.to_ne_bytes()),
            address(addr::V4, addr::V6, self.address),
            number(addr::FLAGS, self.flags.bits().to_ne_bytes()),
        ];
        if self.id != 0 {
            inner.push(number(addr::ID, [self.id]));
        }
        inner.extend(self.port.map(|port| number(addr::PORT, port.to_ne_bytes())));
        let interface = self.interface.map(|index| index.get().to_ne_bytes());
        inner.extend(interface.map(|index| number(addr::INTERFACE, index)));
        nest(pm::ADDRESS, &inner)
    }

    /// `None` if it has no address.
    pub(crate) fn parse(attributes: Attributes<'_>) -> Option<Endpoint> {
        Some(Endpoint {
            id: attributes.u8(addr::ID).unwrap_or(0),
            address: attributes.address(addr::V4, addr::V6)?,
            port: attributes.u16(addr::PORT).filter(|port| *port != 0),
            flags: EndpointFlags::from_bits_retain(attributes.u32(addr::FLAGS).unwrap_or(0)),
            interface: attributes.u32(addr::INTERFACE).and_then(NonZeroU32::new),
        })
    }
}

bitflags! {
    /// A set of roles of an endpoint.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct EndpointFlags: u32 {
        /// Announced to the peer by ADD_ADDR (RFC 8684 section 3.4.1).
        const SIGNAL = 1;
        /// Subflows are opened from here.
        const SUBFLOW = 1 << 1;
        /// Its subflows carry data only if there is no other (RFC 8684 section 3.3.8).
        const BACKUP = 1 << 2;
        /// Subflows are opened from here to every address of the peer.
        const FULLMESH = 1 << 3;
        /// Created by the kernel for a subflow opened by a program.
        const IMPLICIT = 1 << 4;
        /// Used for addresses that the peer announces, not to open subflows otherwise (Linux 6.18).
        const LAMINAR = 1 << 5;
    }
}

/// In the notation of `ip mptcp endpoint`.
impl fmt::Display for EndpointFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        f.write_str(&names.join(" "))
    }
}

/// Limits for the path manager, per connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Subflows besides the first; at most 8.
    pub subflows: u32,
    /// Announced addresses of the peer to which subflows are opened; at most 8.
    pub add_addresses_accepted: u32,
}

/// `AF_INET` and `AF_INET6` of linux/socket.h.
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_the_names_of_ip_mptcp() {
        let flags = EndpointFlags::SUBFLOW | EndpointFlags::BACKUP;
        assert_eq!(flags.to_string(), "subflow backup");
    }
}
