//! UDP sockets of the simulated world, and those for whole packets of SCTP.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::task::{Context, Poll};

use trackbed_core::Packet;
use trackbed_net::NodeId;

use super::options;
use super::ports::Ports;
use super::sockets::{Carrier, Udp};
use super::world::{self, HostState, World};
use crate::clock;
use crate::executor::{SocketKind, Waiter, note_pending};
use crate::host::{check_datagram, not_an_address};
use crate::socket::{Datagram, ReceivedMeta, UdpSocket};

#[derive(Debug)]
pub(super) struct SimulatedUdpSocket {
    run: u64,
    key: u32,
    local: SocketAddr,
}

impl SimulatedUdpSocket {
    pub(super) fn bind(
        run: u64,
        node: NodeId,
        carrier: Carrier,
        local: SocketAddr,
    ) -> io::Result<Self> {
        let (key, local) = world::reach(run, |world| world.udp_bind(node, carrier, local))??;
        Ok(SimulatedUdpSocket { run, key, local })
    }
}

impl UdpSocket for SimulatedUdpSocket {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [ReceivedMeta],
    ) -> Poll<io::Result<usize>> {
        let polled = world::reach(self.run, |world| {
            world.udp[self.key as usize].poll_recv(cx, buffers, meta)
        })?;
        note_pending(polled, "to receive from", SocketKind::Udp, self.key).map(Ok)
    }

    /// The network takes every packet at once: queues are in its links.
    fn poll_send(&self, _cx: &mut Context<'_>, datagram: &Datagram<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(world::reach(self.run, |world| world.udp_send(self.key, datagram))?)
    }

    fn allow_fragments(&self) -> io::Result<()> {
        world::reach(self.run, |world| world.udp[self.key as usize].may_fragment = true)
    }
}

impl Drop for SimulatedUdpSocket {
    fn drop(&mut self) {
        world::with(self.run, |world| world.udp_close(self.key));
    }
}

impl Carrier {
    fn ports(self, host: &mut HostState) -> &mut Ports {
        match self {
            Carrier::Udp => &mut host.udp_ports,
            Carrier::Sctp => &mut host.sctp_ports,
        }
    }
}

impl World {
    fn udp_bind(
        &mut self,
        node: NodeId,
        carrier: Carrier,
        local: SocketAddr,
    ) -> io::Result<(u32, SocketAddr)> {
        let host = &mut self.hosts[node.index()];
        if !host.owns(local.ip()) {
            return Err(not_an_address(&host.name, local.ip()));
        }
        let local = carrier.ports(host).choose(local, |_| true)?;
        let key = self.udp.insert(Udp {
            node,
            carrier,
            local,
            received: VecDeque::new(),
            received_charge: 0,
            overflowed: 0,
            may_fragment: false,
            reader: Waiter::default(),
        }) as u32;
        carrier.ports(host).bind(local, key);
        Ok((key, local))
    }

    fn udp_close(&mut self, key: u32) {
        let socket = self.udp.remove(key as usize);
        socket.carrier.ports(self.host(socket.node)).release(socket.local, key);
    }

    fn udp_send(&mut self, key: u32, datagram: &Datagram<'_>) -> io::Result<()> {
        let socket = &self.udp[key as usize];
        let host = &self.hosts[socket.node.index()];
        let source = match datagram.source {
            Some(source) if !host.owns(source) => {
                return Err(not_an_address(&host.name, source));
            }
            Some(source) => Some(source),
            None if socket.local.ip().is_unspecified() => {
                host.source_for(datagram.destination.ip())
            }
            None => Some(socket.local.ip()),
        };
        let size = datagram.segment_size.unwrap_or(datagram.payload.len()).max(1);
        let source = source.filter(|source| !source.is_unspecified());
        let header_len = socket.carrier.header_len();
        let source = check_datagram(source, datagram.destination, size, header_len)?;
        let source = SocketAddr::new(source, socket.local.port());
        let mut rest = datagram.payload;
        loop {
            let (first, behind) = rest.split_at(size.min(rest.len()));
            let packet = socket.carrier.emit(source, datagram.destination, datagram.ecn, first);
            let mtu = options::mtu(&self.network, source.ip()) as usize;
            let mut leave = |packet| self.network.send(clock::now(), socket.node, packet);
            if socket.may_fragment && packet.len() > mtu {
                self.fragment_serial = self.fragment_serial.wrapping_add(1);
                packet.fragments(mtu, self.fragment_serial).into_iter().for_each(leave);
            } else {
                leave(packet);
            }
            rest = behind;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    pub(super) fn deliver_datagram(&mut self, node: NodeId, carrier: Carrier, packet: &Packet) {
        let Some(datagram) = carrier.parse(packet) else { return };
        let key = carrier.ports(self.host(node)).lookup(datagram.destination);
        if let Some(key) = key {
            self.udp[key as usize].receive(datagram);
        }
    }
}
