//! The listeners for passengers' connections, and the firewall rules for a transparent front.

use std::net::SocketAddr;

/// A listener for passengers' connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front {
    /// Whether the firewall redirects connections here, whatever their destination (TPROXY). Otherwise clients
    /// name their destination by SOCKS5.
    pub is_transparent: bool,
    /// The address that it listens on.
    pub address: SocketAddr,
}

/// The commands that redirect TCP from `interface` to a transparent front, and those that undo this, for
/// nftables and iproute2.
pub fn rules(interface: &str, front: SocketAddr) -> String {
    let (port, family) = (front.port(), if front.is_ipv4() { "ip" } else { "ip6" });
    let ip = if front.is_ipv4() { "ip" } else { "ip -6" };
    format!(
        include_str!("rules.txt"),
        interface = interface,
        family = family,
        ip = ip,
        port = port,
        mark = MARK,
        table = TABLE
    )
}

/// "tb" in ASCII, and as digits that `ip` accepts as a table.
const MARK: &str = "0x7462";
const TABLE: u32 = 7_462;
