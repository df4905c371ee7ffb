//! Ports on a pair of virtual Ethernet devices, through packet sockets.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use trackbed_core::Packet;
use trackbed_core::packet::Offload;
use trackbed_linux::ethtool::switch_features_off;
use trackbed_linux::{PacketSocket, Reception, RingSize, VirtioHeader};

use super::options::{PortOptions, Received, SuperPackets};
use super::virtio;
use crate::namespace::{Interface, NamespaceError, NetNamespace, Step, Veth, set_sysctl};

/// Our end of a pair of devices.
#[derive(Debug)]
pub(super) struct VethPort {
    socket: PacketSocket,
    /// Receives packets longer than the MTU, if allowed: a ring with room for a super-packet in
    /// each slot would be large and hold few small ones.
    long: Option<PacketSocket>,
    supers: SuperPackets,
    /// Ethernet headers for IPv4 and IPv6.
    headers: [[u8; ETHERNET_HEADER]; 2],
}

impl VethPort {
    /// Creates the pair, one end here in the calling thread's namespace, the other in `host`.
    pub(super) fn open(
        backstage: &NetNamespace,
        number: u32,
        host: &NetNamespace,
        options: &PortOptions<'_>,
    ) -> Result<VethPort, NamespaceError> {
        let PortOptions { name, mtu, supers, .. } = *options;
        let own_name = format!("port{number}");
        let [high, low] = (number as u16).to_be_bytes();
        // Locally administered; unique here.
        let mac = [0x02, 0, 0, high, low, 0xfe];
        let peer_mac = [0x02, 0, 0, high, low, 0x01];
        let veth = Veth { name: &own_name, mac, peer_name: name, peer_mac, mtu };
        let ours = backstage.run(|| Interface::pair(&veth, host))??;
        let set_up = || {
            let sockets = backstage.run(|| prepare(&ours, options))??;
            host.run(|| configure(options))??;
            Ok::<_, NamespaceError>(sockets)
        };
        let (socket, long) = match set_up() {
            Ok(sockets) => sockets,
            Err(why) => {
                // The name is free again for a device of another kind.
                backstage.run(|| ours.remove())??;
                return Err(why);
            }
        };
        let header = |kind: u16| {
            let mut header = [0; ETHERNET_HEADER];
            header[..6].copy_from_slice(&peer_mac);
            header[6..12].copy_from_slice(&mac);
            header[12..].copy_from_slice(&kind.to_be_bytes());
            header
        };
        let headers = [header(ETHERTYPE_IPV4), header(ETHERTYPE_IPV6)];
        Ok(VethPort { socket, long, supers, headers })
    }

    pub(super) fn is_ready(&self) -> bool {
        self.socket.is_ready() || self.long.as_ref().is_some_and(PacketSocket::is_ready)
    }

    pub(super) fn receive<T>(&mut self, take: impl FnOnce(Received<'_>) -> T) -> Option<T> {
        let has_header = self.supers.any();
        let frame = self.next_socket()?.receive()?;
        let whole = frame.length == frame.bytes().len();
        let packet = frame.bytes().get(ETHERNET_HEADER..).unwrap_or_default();
        let offload = match has_header {
            true => virtio::read(frame.virtio(), ETHERNET_HEADER),
            false => Some(Offload::default()),
        };
        let offload = offload.filter(|_| whole);
        Some(take(Received { arrived: frame.arrived, packet, offload }))
    }

    /// The socket with the earliest frame.
    fn next_socket(&mut self) -> Option<&mut PacketSocket> {
        let Some(long) = &mut self.long else { return Some(&mut self.socket) };
        let mut short_at = self.socket.next_arrival();
        let long_at = long.next_arrival();
        if short_at.is_none() && long_at.is_some() {
            // An earlier short frame may have arrived since the first check.
            short_at = self.socket.next_arrival();
        }
        match (short_at, long_at) {
            (Some(short), Some(at)) if at < short => Some(long),
            (None, Some(_)) => Some(long),
            _ => Some(&mut self.socket),
        }
    }

    /// Delivers as many packets as the kernel takes at once; `None` if it refuses the first.
    pub(super) fn send(&self, packets: &[Packet]) -> Option<usize> {
        let packets = &packets[..packets.len().min(BATCH)];
        let sent = match self.supers.any() {
            true => self.send_with_virtio(packets),
            false => self.socket.send(
                packets
                    .iter()
                    .map(|packet| (&self.ethernet_header(packet)[..], &packet.bytes()[..])),
            ),
        };
        match sent {
            Ok(sent) if sent > 0 => Some(sent.min(packets.len())),
            Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => {
                // The host has not read earlier packets yet.
                let mut writable = [PollFd::new(&self.socket, PollFlags::OUT)];
                let patience = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
                poll(&mut writable, Some(&patience)).is_ok_and(|ready| ready > 0).then_some(0)
            }
            _ => None,
        }
    }

    fn send_with_virtio(&self, packets: &[Packet]) -> std::io::Result<usize> {
        let header = |packet: &Packet| {
            let mut header = [0; VirtioHeader::BYTES + ETHERNET_HEADER];
            let (left, ethernet) = header.split_at_mut(VirtioHeader::BYTES);
            left.copy_from_slice(&virtio::write(packet, ETHERNET_HEADER).to_bytes());
            ethernet.copy_from_slice(self.ethernet_header(packet));
            header
        };
        let headers: Vec<_> = packets.iter().map(header).collect();
        let frames = headers.iter().zip(packets);
        self.socket.send(frames.map(|(header, packet)| (&header[..], &packet.bytes()[..])))
    }

    fn ethernet_header(&self, packet: &Packet) -> &[u8; ETHERNET_HEADER] {
        &self.headers[usize::from(packet.bytes()[0] >> 4 != 4)]
    }

    /// Frames dropped by full rings since the last call.
    pub(super) fn take_overflow(&mut self) -> std::io::Result<u64> {
        let sockets = std::iter::once(&self.socket).chain(&self.long);
        sockets.map(|socket| socket.take_dropped().map(u64::from)).sum()
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.socket.as_fd()).chain(self.long.as_ref().map(AsFd::as_fd))
    }
}

fn prepare(
    ours: &Interface,
    options: &PortOptions<'_>,
) -> Result<(PacketSocket, Option<PacketSocket>), NamespaceError> {
    // Nothing is sent here, and a machine without the setting has no IPv6.
    let _ = set_sysctl(&format!("ipv6/conf/{}/disable_ipv6", ours.name()), "1");
    ours.set_up()?;
    let opened = sockets(ours.index(), options.mtu, options.supers);
    opened.map_err(|why| NamespaceError::new(Step::PacketSocket, why))
}

fn configure(PortOptions { name, supers, .. }: &PortOptions<'_>) -> Result<(), NamespaceError> {
    match supers.from_host {
        true => leave_work_to_us(name)?,
        false => do_all_work(name)?,
    }
    switch_off(name, "generic receive offload", |feature| feature == "rx-gro")?;
    Interface::named(name)?.set_up()
}

fn sockets(
    interface: u32,
    mtu: u32,
    supers: SuperPackets,
) -> std::io::Result<(PacketSocket, Option<PacketSocket>)> {
    let frame = mtu + ETHERNET_HEADER as u32;
    let split = if supers.from_host { frame } else { u32::MAX };
    let virtio = supers.any();
    let short = Reception {
        ring: RingSize { frame: frame as usize + VirtioHeader::BYTES, frames: FRAMES },
        lengths: (0, split),
        virtio,
    };
    let long = Reception {
        ring: RingSize { frame: LONGEST_FRAME, frames: LONG_FRAMES },
        lengths: (split.saturating_add(1), u32::MAX),
        virtio,
    };
    let socket = PacketSocket::open(interface, &short)?;
    let long = supers.from_host.then(|| PacketSocket::open(interface, &long)).transpose()?;
    Ok((socket, long))
}

/// Makes the host finish checksums and segments before a packet leaves it.
fn do_all_work(name: &str) -> Result<(), NamespaceError> {
    [
        ("TCP segmentation", "tx-tcp"),
        ("generic segmentation", "tx-generic-segmentation"),
        ("transmit checksums", "tx-checksum-"),
        ("scattered packets", "tx-scatter-gather"),
    ]
    .into_iter()
    .try_for_each(|(what, prefix)| switch_off(name, what, |feature| feature.starts_with(prefix)))
}

/// Lets the host leave to us only what a [`VirtioHeader`] can describe: it segments packets inside
/// a tunnel itself, for example.
fn leave_work_to_us(name: &str) -> Result<(), NamespaceError> {
    let udp = has_udp_segments();
    let unwanted = |feature: &str| match feature {
        "tx-tcp-segmentation"
        | "tx-tcp6-segmentation"
        | "tx-tcp-ecn-segmentation"
        | "tx-generic-segmentation" => false,
        "tx-udp-segmentation" => !udp,
        "tx-checksum-sctp" | "tx-checksum-fcoe-crc" => true,
        other => {
            other.starts_with("tx-") && (other.contains("segmentation") || other.contains("gso"))
        }
    };
    switch_off(name, "offloads", unwanted)
}

/// From Linux 6.2 on a [`VirtioHeader`] can describe many UDP datagrams in one packet.
fn has_udp_segments() -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(2))
}

fn switch_off(
    name: &str,
    what: &str,
    unwanted: impl Fn(&str) -> bool,
) -> Result<(), NamespaceError> {
    switch_features_off(name, unwanted)
        .map_err(|why| NamespaceError::configure(format!("cannot disable {what}"), why))
}

const ETHERNET_HEADER: usize = 14;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;

/// A tenth of a second at 500 Mbit/s.
const FRAMES: usize = 4_096;
/// Super-packets, 16 MB at most.
const LONG_FRAMES: usize = 256;
/// The kernel makes no longer ones by default.
const LONGEST_FRAME: usize = (1 << 16) + ETHERNET_HEADER + VirtioHeader::BYTES;
/// Frames in one system call.
const BATCH: usize = 64;
/// How long the host may take to free room.
const PATIENCE: Duration = Duration::from_millis(1);
