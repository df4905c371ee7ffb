//! The IP version of a run, and its server's address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use trackbed_core::named;

named! {
    /// The IP version of both endpoints. Every host has addresses of both versions.
    #[derive(Default)]
    pub enum IpVersion {
        /// RFC 791.
        #[default]
        V4 = "4",
        /// RFC 8200.
        V6 = "6",
    }
}

impl IpVersion {
    /// The address of this version among a host's addresses, IPv4 first.
    pub fn of(self, [v4, v6]: [IpAddr; 2]) -> IpAddr {
        if self == IpVersion::V4 { v4 } else { v6 }
    }

    /// The server's listening address.
    pub fn server(self) -> SocketAddr {
        SocketAddr::new(self.of(SERVER_ADDRESSES), SERVER_PORT)
    }
}

/// The server's port, that of HTTPS.
pub const SERVER_PORT: u16 = 443;

/// The server's addresses, IPv4 first.
pub const SERVER_ADDRESSES: [IpAddr; 2] = [IpAddr::V4(SERVER_V4), IpAddr::V6(SERVER_V6)];

const SERVER_V4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
