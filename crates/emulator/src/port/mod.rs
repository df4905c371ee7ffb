//! Ports, where packets of a namespace enter and leave the emulation.

mod options;
mod rooms;
mod tun;
mod veth;
mod virtio;

use std::io;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;

use trackbed_core::packet::Offload;
use trackbed_core::{Packet, Time};

use crate::clock::Calendar;
use crate::namespace::{NamespaceError, NetNamespace, set_sysctl};
use options::Received;
pub use options::{DeviceKind, PortOptions, SuperPackets};
use rooms::Rooms;
use tun::TunPort;
use veth::VethPort;

/// A separate namespace that holds the far ends of all interfaces.
#[derive(Debug)]
pub struct Backstage {
    namespace: NetNamespace,
    ports: u32,
}

/// The emulation's side of one interface.
#[derive(Debug)]
pub struct Port {
    device: Device,
    mtu: u32,
    supers: SuperPackets,
    rooms: Rooms,
    outgoing: Vec<Packet>,
    /// Packets lost because one end could not take them in time.
    overflow: u64,
}

#[derive(Debug)]
enum Device {
    Veth(VethPort),
    Tun(Box<TunPort>),
}

impl Backstage {
    /// An empty one.
    ///
    /// # Errors
    /// If this process may not create namespaces.
    pub fn new() -> Result<Backstage, NamespaceError> {
        Ok(Backstage { namespace: NetNamespace::new()?, ports: 0 })
    }

    /// Creates an interface called `name` in the namespace `host`, up but without addresses, and
    /// returns our side of it.
    ///
    /// Checksums and segments are completed before a packet leaves the host: a link model sees what
    /// a cable would carry.
    ///
    /// # Errors
    /// If an interface of that name exists, or the kernel refuses something.
    pub fn attach(
        &mut self,
        host: &NetNamespace,
        name: &str,
        mtu: u32,
    ) -> Result<Port, NamespaceError> {
        self.attach_with(host, &PortOptions::new(name, mtu))
    }

    /// The same for an interface of any kind. If super-packets are allowed, a link model may see
    /// many packets in one piece; its counters count what a cable would carry.
    ///
    /// # Errors
    /// If an interface of that name exists, or the kernel refuses something.
    pub fn attach_with(
        &mut self,
        host: &NetNamespace,
        options: &PortOptions<'_>,
    ) -> Result<Port, NamespaceError> {
        let number = self.ports;
        self.ports += 1;
        let veth = || VethPort::open(&self.namespace, number, host, options).map(Device::Veth);
        let tun = || TunPort::open(host, options).map(|port| Device::Tun(Box::new(port)));
        let device = match options.device {
            DeviceKind::Veth => veth()?,
            DeviceKind::Tun => tun()?,
            // If neither can be made, the error of the better one is reported.
            DeviceKind::Any => veth().or_else(|why| tun().map_err(|_| why))?,
        };
        host.run(|| keep_quiet(options.name))?;
        let PortOptions { mtu, supers, .. } = *options;
        let (rooms, outgoing) = (Rooms::new(), Vec::new());
        Ok(Port { device, mtu, supers, rooms, outgoing, overflow: 0 })
    }
}

/// Stops an interface from sending packets by itself.
fn keep_quiet(name: &str) {
    // No router discovery, and only the given addresses. These settings only save a few packets; a
    // machine on which they cannot be set has no IPv6 or forbids it.
    for (setting, value) in [("accept_ra", "0"), ("addr_gen_mode", "1"), ("dad_transmits", "0")] {
        let _ = set_sysctl(&format!("ipv6/conf/{name}/{setting}"), value);
    }
}

impl Port {
    /// Whether [`Port::receive`] would return a packet. Needs no system call with virtual Ethernet.
    pub fn is_ready(&mut self) -> bool {
        match &mut self.device {
            Device::Veth(port) => port.is_ready(),
            Device::Tun(port) => port.is_ready(),
        }
    }

    /// The next packet that the host has sent, and when. Packets other than IP, and link-local
    /// ones, are ignored.
    pub fn receive(&mut self, calendar: Calendar) -> Option<(Time, Packet)> {
        loop {
            let rooms = &mut self.rooms;
            let take = |received: Received<'_>| {
                let offload = received.offload?;
                Some((received.arrived, rooms.keep(received.packet), offload))
            };
            let taken = match &mut self.device {
                Device::Veth(port) => port.receive(take),
                Device::Tun(port) => port.receive(take),
            };
            let Some((arrived, bytes, offload)) = taken? else {
                self.overflow += 1;
                continue;
            };
            match Packet::carry(bytes) {
                Ok(packet) if !stays_on_link(packet.destination()) => {
                    return Some((calendar.time(arrived), packet.with_offload(offload)));
                }
                _ => continue,
            }
        }
    }

    /// Queues a packet for [`Port::flush`]. One larger than the host's MTU is lost and counted, and
    /// so is a super-packet for a host that must not get any.
    pub fn queue(&mut self, packet: Packet) {
        let complete = packet.offload() == Offload::default();
        match (complete || self.supers.to_host) && packet.longest_segment() <= self.mtu as usize {
            true => self.outgoing.push(packet),
            false => self.overflow += 1,
        }
    }

    /// Delivers all queued packets to the host. Refused ones are lost and counted.
    pub fn flush(&mut self) {
        let mut waiting = &self.outgoing[..];
        while !waiting.is_empty() {
            let sent = match &self.device {
                Device::Veth(port) => port.send(waiting),
                Device::Tun(port) => port.send(waiting),
            };
            waiting = match sent {
                Some(sent) => &waiting[sent..],
                None => {
                    self.overflow += 1;
                    &waiting[1..]
                }
            };
        }
        self.outgoing.clear();
    }

    /// The number of packets lost since the last call because the emulation did not fetch them in
    /// time, or the host did not take them.
    ///
    /// # Errors
    /// If the kernel does not report it.
    pub fn take_overflow(&mut self) -> io::Result<u64> {
        let dropped = match &mut self.device {
            Device::Veth(port) => port.take_overflow(),
            Device::Tun(port) => port.take_overflow(),
        };
        Ok(std::mem::take(&mut self.overflow) + dropped?)
    }

    /// Descriptors that become readable when the host has sent something.
    pub(crate) fn sources(&self) -> Vec<BorrowedFd<'_>> {
        match &self.device {
            Device::Veth(port) => port.sources().collect(),
            Device::Tun(port) => port.sources().collect(),
        }
    }
}

/// Multicast that no router forwards (RFC 5771 section 4, RFC 4291 section 2.7) and link-local
/// addresses: traffic that does not cross a link between networks.
fn stays_on_link(destination: IpAddr) -> bool {
    match destination {
        IpAddr::V4(to) => to.octets()[..3] == [224, 0, 0] || to.is_broadcast(),
        IpAddr::V6(to) => {
            let first = to.segments()[0];
            first == 0xff02 || first & 0xffc0 == 0xfe80
        }
    }
}
