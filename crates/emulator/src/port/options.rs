//! What an interface is to be, and what comes out of it.

use std::time::Duration;

use trackbed_core::packet::Offload;
use trackbed_net::Link;

/// What an interface is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortOptions<'a> {
    /// Its name in the host.
    pub name: &'a str,
    /// The largest packet in bytes, IP header included.
    pub mtu: u32,
    /// Whether packets may come and go in one piece with others of their flow.
    pub supers: SuperPackets,
    /// By what means.
    pub device: DeviceKind,
}

/// Which way packets of one flow may travel in one piece, up to 64 kB: *super-packets*, which the
/// kernel makes anyway and cuts for a network card. It costs the processor less, and makes no
/// difference to a link that lets packets through that come together together
/// ([`Link::takes_super_packets`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuperPackets {
    /// What the host sends. All links that it meets must take them, and lead to ports that have
    /// `to_host`.
    pub from_host: bool,
    /// What the host is given.
    pub to_host: bool,
}

/// What carries packets between the host's kernel and us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceKind {
    /// A pair of virtual Ethernet devices, or a TUN device where the machine refuses that.
    #[default]
    Any,
    /// A pair of virtual Ethernet devices: the kernel notes when each packet came, and many are
    /// handed over in one system call.
    Veth,
    /// A TUN device: needs `/dev/net/tun`, and neither packet sockets nor virtual Ethernet. A packet
    /// counts as sent when we read it.
    Tun,
}

/// A packet that a host has sent, as it lies in the kernel's memory.
pub(super) struct Received<'a> {
    /// When, since 1970-01-01T00:00:00Z.
    pub(super) arrived: Duration,
    pub(super) packet: &'a [u8],
    /// What is left to do to it; `None` if it did not come whole.
    pub(super) offload: Option<Offload>,
}

impl SuperPackets {
    /// For a host that sends through `out` and gets what comes through `back`.
    pub fn between(out: &dyn Link, back: &dyn Link) -> SuperPackets {
        let (from_host, to_host) = (out.takes_super_packets(), back.takes_super_packets());
        SuperPackets { from_host, to_host }
    }

    /// For the host at the other end.
    pub fn reverse(self) -> SuperPackets {
        SuperPackets { from_host: self.to_host, to_host: self.from_host }
    }

    pub(super) fn any(self) -> bool {
        self.from_host || self.to_host
    }
}

impl<'a> PortOptions<'a> {
    /// Single packets, by whatever means the machine allows.
    pub fn new(name: &'a str, mtu: u32) -> PortOptions<'a> {
        let (supers, device) = (SuperPackets::default(), DeviceKind::Any);
        PortOptions { name, mtu, supers, device }
    }
}
