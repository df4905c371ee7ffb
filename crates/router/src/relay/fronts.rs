//! The listeners for passengers' connections, and the firewall rules for a transparent front.

use std::fmt::Write as _;
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
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "# redirect TCP from {interface} to the relay\n\
         nft add table {family} trackbed\n\
         nft 'add chain {family} trackbed relay {{ type filter hook prerouting priority mangle; }}'\n\
         nft 'add rule {family} trackbed relay iifname \"{interface}\" fib daddr type local return'\n\
         nft 'add rule {family} trackbed relay iifname \"{interface}\" meta l4proto tcp tproxy to \
         :{port} meta mark set {MARK} accept'\n\
         {ip} rule add fwmark {MARK} lookup {TABLE}\n\
         {ip} route add local default dev lo table {TABLE}\n\
         # to undo this:\n\
         # nft delete table {family} trackbed\n\
         # {ip} rule del fwmark {MARK} lookup {TABLE}\n\
         # {ip} route flush table {TABLE}\n"
    );
    text
}

/// "tb" in ASCII, and as digits that `ip` accepts as a table.
const MARK: &str = "0x7462";
const TABLE: u32 = 7_462;
