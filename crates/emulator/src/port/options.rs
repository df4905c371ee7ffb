//! The options of an interface, and received packets.

use std::time::Duration;

use trackbed_core::packet::Offload;
use trackbed_net::Link;

/// The options of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortOptions<'a> {
    /// Its name in the host.
    pub name: &'a str,
    /// The largest packet in bytes, IP header included.
    pub mtu: u32,
    /// Whether packets of one flow may travel in one piece.
    pub supers: SuperPackets,
    /// The kind of device.
    pub device: DeviceKind,
}

/// The directions in which packets of one flow may travel in one piece, up to 64 kB:
/// *super-packets*, which the kernel makes anyway and cuts for a network card. They cost less
/// processor time, and make no difference to a link that releases packets that arrive together at
/// the same time ([`Link::takes_super_packets`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuperPackets {
    /// Packets that the host sends. All links on their way must support them, and lead to ports
    /// that have `to_host`.
    pub from_host: bool,
    /// Packets that the host receives.
    pub to_host: bool,
}

/// The device between the host's kernel and this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceKind {
    /// A pair of virtual Ethernet devices, or a TUN device if the machine refuses that.
    #[default]
    Any,
    /// A pair of virtual Ethernet devices: the kernel notes when each packet came, and many are
    /// delivered in one system call.
    Veth,
    /// A TUN device: needs `/dev/net/tun`, but neither packet sockets nor virtual Ethernet. A
    /// packet counts as sent when it is read.
    Tun,
}

/// A packet that a host has sent, still in the kernel's memory.
pub(super) struct Received<'a> {
    /// When, since 1970-01-01T00:00:00Z.
    pub(super) arrived: Duration,
    pub(super) packet: &'a [u8],
    /// The work left to do on it; `None` if it is incomplete.
    pub(super) offload: Option<Offload>,
}

impl SuperPackets {
    /// For a host that sends through `out` and receives through `back`.
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
    /// Single packets, with any device that the machine allows.
    pub fn new(name: &'a str, mtu: u32) -> PortOptions<'a> {
        let (supers, device) = (SuperPackets::default(), DeviceKind::Any);
        PortOptions { name, mtu, supers, device }
    }
}
