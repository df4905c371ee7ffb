//! UDP sockets of the simulated world, and those for whole packets of SCTP.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::task::{Context, Poll, Waker};

use trackbed_core::Packet;
use trackbed_net::NodeId;

use super::options;
use super::ports::Ports;
use super::sockets::{Carrier, OVERHEAD, Udp};
use super::world::{self, HostState, World, send};
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

    fn poll_send(&self, cx: &mut Context<'_>, datagram: &Datagram<'_>) -> Poll<io::Result<()>> {
        let polled = world::reach(self.run, |world| world.udp_poll_send(self.key, cx, datagram))?;
        note_pending(polled, "to send on", SocketKind::Udp, self.key)
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
        self.udp_serial += 1;
        let key = self.udp.insert(Udp {
            node,
            carrier,
            local,
            serial: self.udp_serial,
            received: VecDeque::new(),
            received_charge: 0,
            overflowed: 0,
            sending_charge: 0,
            may_fragment: false,
            reader: Waiter::default(),
            writers: Vec::new(),
        }) as u32;
        carrier.ports(host).bind(local, key);
        Ok((key, local))
    }

    fn udp_close(&mut self, key: u32) {
        let socket = self.udp.remove(key as usize);
        socket.carrier.ports(self.host(socket.node)).release(socket.local, key);
    }

    fn udp_poll_send(
        &mut self,
        key: u32,
        cx: &Context<'_>,
        datagram: &Datagram<'_>,
    ) -> Poll<io::Result<()>> {
        let socket = &mut self.udp[key as usize];
        let host = &self.hosts[socket.node.index()];
        let source = match datagram.source {
            Some(source) if !host.owns(source) => {
                return Poll::Ready(Err(not_an_address(&host.name, source)));
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
        if socket.sending_charge >= SEND_BUFFER {
            if !socket.writers.iter().any(|waker| waker.will_wake(cx.waker())) {
                socket.writers.push(cx.waker().clone());
            }
            return Poll::Pending;
        }
        let charged = Some((key, socket.serial));
        let mut rest = datagram.payload;
        loop {
            let (first, behind) = rest.split_at(size.min(rest.len()));
            let packet = socket.carrier.emit(source, datagram.destination, datagram.ecn, first);
            let mtu = options::mtu(&self.network, source.ip()) as usize;
            let mut leave = |packet: Packet| {
                let packet_charge = packet.len() + OVERHEAD;
                if send(&mut self.network, &mut self.egress, socket.node, packet, charged) {
                    socket.sending_charge += packet_charge;
                }
            };
            if socket.may_fragment && packet.len() > mtu {
                self.fragment_serial = self.fragment_serial.wrapping_add(1);
                packet.fragments(mtu, self.fragment_serial).into_iter().for_each(leave);
            } else {
                leave(packet);
            }
            rest = behind;
            if rest.is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// The interface has sent a packet of `len` bytes that the socket was charged for.
    pub(super) fn udp_sent(&mut self, key: u32, serial: u64, len: usize) {
        let socket = self.udp.get_mut(key as usize).filter(|socket| socket.serial == serial);
        if let Some(socket) = socket {
            socket.sending_charge -= len + OVERHEAD;
            // As in Linux, once a good part of the buffer is free again (sock_writeable).
            if socket.sending_charge < SEND_BUFFER / 2 {
                socket.writers.drain(..).for_each(Waker::wake);
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

/// The Linux default of `net.core.wmem_default` in bytes.
const SEND_BUFFER: usize = 212_992;
