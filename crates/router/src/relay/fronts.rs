//! How connections come in, and the rules of the firewall that a transparent front needs.

use std::fmt::Write as _;
use std::net::SocketAddr;

/// Where passengers' connections come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// The firewall leads connections here, whatever their destination (TPROXY).
    Transparent(SocketAddr),
    /// Clients say by SOCKS5 where they want to go.
    Socks(SocketAddr),
}

impl Front {
    /// Where it listens.
    pub fn address(self) -> SocketAddr {
        match self {
            Front::Transparent(address) | Front::Socks(address) => address,
        }
    }
}

/// The commands that lead what comes from `interface` to a transparent front, and those that take
/// them back: nftables and iproute2.
pub fn rules(interface: &str, front: SocketAddr) -> String {
    let (port, family) = (front.port(), if front.is_ipv4() { "ip" } else { "ip6" });
    let ip = if front.is_ipv4() { "ip" } else { "ip -6" };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "# lead TCP that comes from {interface} to the relay\n\
         nft add table {family} trackbed\n\
         nft 'add chain {family} trackbed relay {{ type filter hook prerouting priority mangle; }}'\n\
         nft 'add rule {family} trackbed relay iifname \"{interface}\" fib daddr type local return'\n\
         nft 'add rule {family} trackbed relay iifname \"{interface}\" meta l4proto tcp tproxy to \
         :{port} meta mark set {MARK} accept'\n\
         {ip} rule add fwmark {MARK} lookup {TABLE}\n\
         {ip} route add local default dev lo table {TABLE}\n\
         # and back\n\
         # nft delete table {family} trackbed\n\
         # {ip} rule del fwmark {MARK} lookup {TABLE}\n\
         # {ip} route flush table {TABLE}\n"
    );
    text
}

/// "tb" in ASCII, and in digits that `ip` takes for a table.
const MARK: &str = "0x7462";
const TABLE: u32 = 7_462;
