//! The IP version of a run, and its server's address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The IP version of both endpoints. Every host has addresses of both versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpVersion {
    /// RFC 791.
    #[default]
    V4,
    /// RFC 8200.
    V6,
}

impl IpVersion {
    /// The names in scenarios.
    pub const NAMES: [&str; 2] = ["4", "6"];

    /// The version that scenarios call `name`.
    pub fn from_name(name: &str) -> Option<IpVersion> {
        [IpVersion::V4, IpVersion::V6]
            .into_iter()
            .zip(Self::NAMES)
            .find(|(_, n)| *n == name)
            .map(|(v, _)| v)
    }

    /// The address of this version among a host's addresses, IPv4 first.
    pub fn of(self, [v4, v6]: [IpAddr; 2]) -> IpAddr {
        if self == IpVersion::V4 { v4 } else { v6 }
    }

    /// The server's listening address.
    pub fn server(self) -> SocketAddr {
        let [v4, v6] = SERVER_ADDRESSES;
        SocketAddr::new(if self == IpVersion::V4 { v4 } else { v6 }, SERVER_PORT)
    }
}

/// The server's port, that of HTTPS.
pub const SERVER_PORT: u16 = 443;

/// The server's addresses, IPv4 first.
pub const SERVER_ADDRESSES: [IpAddr; 2] = [IpAddr::V4(SERVER_V4), IpAddr::V6(SERVER_V6)];

const SERVER_V4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
