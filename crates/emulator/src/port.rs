//! Where packets of a namespace come into the emulation and leave it again.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use bytes::BytesMut;
use trackbed_core::{Packet, Time};
use trackbed_linux::ethtool::{Offload, set_offload};
use trackbed_linux::{PacketSocket, RingSize};

use crate::clock::Calendar;
use crate::namespace::{Interface, NamespaceError, NetNamespace, Step, Veth, set_sysctl};

/// The namespace in which the far ends of all interfaces are, out of everybody's sight.
#[derive(Debug)]
pub struct Backstage {
    namespace: NetNamespace,
    ports: u32,
}

/// The emulation's side of one interface.
#[derive(Debug)]
pub struct Port {
    socket: PacketSocket,
    mac: [u8; 6],
    peer_mac: [u8; 6],
    /// Memory that the next packets are copied to.
    room: BytesMut,
    outgoing: Vec<Packet>,
    /// Frames that were lost because one end could not take them in time.
    overflow: u64,
}

impl Backstage {
    /// An empty one.
    ///
    /// # Errors
    /// If this process may not make namespaces.
    pub fn new() -> Result<Backstage, NamespaceError> {
        Ok(Backstage { namespace: NetNamespace::new()?, ports: 0 })
    }

    /// Puts an interface called `name` into the namespace `host`, up but without addresses, and
    /// returns our side of it.
    ///
    /// Checksums and segments are made before a packet leaves the host: what a link model sees is
    /// what a cable would carry.
    ///
    /// # Errors
    /// If there is an interface of that name, or the kernel refuses something.
    pub fn attach(
        &mut self,
        host: &NetNamespace,
        name: &str,
        mtu: u32,
    ) -> Result<Port, NamespaceError> {
        let number = self.ports;
        self.ports += 1;
        let own_name = format!("port{number}");
        let [high, low] = (number as u16).to_be_bytes();
        // Locally administered; unique here.
        let mac = [0x02, 0, 0, high, low, 0xfe];
        let peer_mac = [0x02, 0, 0, high, low, 0x01];
        let veth = Veth { name: &own_name, mac, peer_name: name, peer_mac, mtu };
        let socket = self.namespace.run(|| {
            let interface = Interface::pair(&veth, host)?;
            // Nobody speaks here, and a machine that does not know the setting has no IPv6.
            let _ = set_sysctl(&format!("ipv6/conf/{own_name}/disable_ipv6"), "1");
            interface.set_up()?;
            let frame = mtu as usize + ETHERNET_HEADER;
            let socket = PacketSocket::open(interface.index(), RingSize { frame, frames: FRAMES });
            socket.map_err(|why| NamespaceError::new(Step::PacketSocket, why))
        })??;
        host.run(|| silence(name).and_then(|()| Interface::named(name)?.set_up()))??;
        let (room, outgoing) = (BytesMut::new(), Vec::new());
        Ok(Port { socket, mac, peer_mac, room, outgoing, overflow: 0 })
    }
}

/// Keeps an interface from speaking on its own, and from leaving work to a card that there is not.
fn silence(name: &str) -> Result<(), NamespaceError> {
    // Routers are not looked for, and there is no address but those that are given. These settings
    // only spare a few packets; a machine where they cannot be set has no IPv6 or forbids it.
    for (setting, value) in [("accept_ra", "0"), ("addr_gen_mode", "1"), ("dad_transmits", "0")] {
        let _ = set_sysctl(&format!("ipv6/conf/{name}/{setting}"), value);
    }
    for offload in [
        Offload::TcpSegmentation,
        Offload::GenericSegmentation,
        Offload::GenericReceive,
        Offload::TransmitChecksum,
        Offload::ScatterGather,
    ] {
        set_offload(name, offload, false).map_err(|why| {
            NamespaceError::new(Step::Configure(format!("cannot switch {offload:?} off")), why)
        })?;
    }
    Ok(())
}

impl Port {
    /// Whether [`Port::receive`] would give a packet. Costs no system call.
    pub fn is_ready(&self) -> bool {
        self.socket.is_ready()
    }

    /// The next packet that the host has sent, and when. What is no IP packet, and what is only
    /// for the nearest neighbours, is passed over.
    pub fn receive(&mut self, calendar: Calendar) -> Option<(Time, Packet)> {
        loop {
            let frame = self.socket.receive()?;
            let arrived = frame.arrived;
            let Some(packet) = frame.bytes().get(ETHERNET_HEADER..) else { continue };
            if frame.length > frame.bytes().len() {
                self.overflow += 1;
                continue;
            }
            if self.room.capacity() < packet.len() {
                self.room = BytesMut::with_capacity(ROOM_BYTES.max(packet.len()));
            }
            self.room.extend_from_slice(packet);
            drop(frame);
            match Packet::carry(self.room.split().freeze()) {
                Ok(packet) if !stays_on_link(packet.destination()) => {
                    return Some((calendar.time(arrived), packet));
                }
                _ => continue,
            }
        }
    }

    /// Lays a packet ready for [`Port::flush`].
    pub fn queue(&mut self, packet: Packet) {
        self.outgoing.push(packet);
    }

    /// Hands the host all packets that lie ready. What it refuses is lost and counted.
    pub fn flush(&mut self) {
        if self.outgoing.is_empty() {
            return;
        }
        let header = |kind: u16| {
            let mut header = [0; ETHERNET_HEADER];
            header[..6].copy_from_slice(&self.peer_mac);
            header[6..12].copy_from_slice(&self.mac);
            header[12..].copy_from_slice(&kind.to_be_bytes());
            header
        };
        let (v4, v6) = (header(ETHERTYPE_IPV4), header(ETHERTYPE_IPV6));
        let mut waiting = &self.outgoing[..];
        while !waiting.is_empty() {
            let frames = waiting.iter().map(|packet| {
                let header = if packet.bytes()[0] >> 4 == 4 { &v4 } else { &v6 };
                (&header[..], &packet.bytes()[..])
            });
            match self.socket.send(frames.take(BATCH)) {
                Ok(sent) if sent > 0 => waiting = &waiting[sent.min(waiting.len())..],
                _ => {
                    self.overflow += 1;
                    waiting = &waiting[1..];
                }
            }
        }
        self.outgoing.clear();
    }

    /// The number of frames that were lost since the last call because the emulation did not fetch
    /// them in time, or the host did not take them.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn take_overflow(&mut self) -> io::Result<u64> {
        let dropped = u64::from(self.socket.statistics()?.dropped);
        Ok(std::mem::take(&mut self.overflow) + dropped)
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Multicast that no router passes on (RFC 5771 section 4, RFC 4291 section 2.7) and link-local
/// addresses: neighbours' talk, which does not cross a link between networks.
fn stays_on_link(destination: IpAddr) -> bool {
    match destination {
        IpAddr::V4(to) => to.octets()[..3] == [224, 0, 0] || to.is_broadcast(),
        IpAddr::V6(to) => {
            let first = to.segments()[0];
            first == 0xff02 || first & 0xffc0 == 0xfe80
        }
    }
}

const ETHERNET_HEADER: usize = 14;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;

/// A tenth of a second at 500 Mbit/s.
const FRAMES: usize = 4_096;
/// Frames in one system call.
const BATCH: usize = 64;
/// Packets share memory of this size, which is given back when the last of them is gone.
const ROOM_BYTES: usize = 1 << 17;
