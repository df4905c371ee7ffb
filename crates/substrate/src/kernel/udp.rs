//! UDP sockets of the kernel: udp(7), ip(7), ipv6(7).

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};

use noq_udp::{BATCH_SIZE, UdpSockRef, UdpSocketState};
use rustix::net::{self, SocketType, sockopt};

use super::descriptor;
use super::handle::Handle;
use super::sockets::{SEGMENTS_MAX, UDP_HEADER_LEN, Udp};
use super::source::{Detail, Source, Way};
use super::super_datagram::SuperDatagram;
use super::world;
use crate::executor::SocketKind;
use crate::host::check_datagram;
use crate::socket::{Datagram, ReceivedMeta, UdpSocket};

#[derive(Debug)]
pub(super) struct KernelUdpSocket {
    handle: Handle,
    local: SocketAddr,
}

impl KernelUdpSocket {
    /// A socket that accepts only `peer`, if given.
    pub(super) fn bind(run: u64, local: SocketAddr, peer: Option<IpAddr>) -> io::Result<Self> {
        let socket = descriptor::open(local, SocketType::DGRAM, None)?;
        net::bind(&socket, &local)?;
        let local = descriptor::local_addr(&socket)?;
        grow_buffers(&socket);
        // Sets "don't fragment", and requests each datagram's ECN field and destination.
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        if state.may_fragment() {
            let message = "the kernel cannot set \"don't fragment\" on UDP sockets";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let batches = state.max_gso_segments() > NonZeroUsize::MIN;
        let udp = Udp { local, peer, state, batches, received: SuperDatagram::default() };
        let source = Source::new(socket, Detail::Udp(udp));
        Ok(KernelUdpSocket { handle: Handle::new(run, SocketKind::Udp, source)?, local })
    }
}

impl UdpSocket for KernelUdpSocket {
    fn local_addr(&self) -> SocketAddr {
        self.local
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [ReceivedMeta],
    ) -> Poll<io::Result<usize>> {
        let room = buffers.len().min(meta.len()).min(BATCH_SIZE);
        let (buffers, meta) = (&mut buffers[..room], &mut meta[..room]);
        self.handle.poll("to receive from", Way::Read, cx, |source| {
            let (descriptor, udp) = source.udp()?;
            let received = udp.receive_wanted(descriptor, buffers, meta)?;
            if received.was_last {
                source.block(Way::Read);
            }
            world::spend(received.count);
            Ok(received.count)
        })
    }

    fn poll_send(&self, cx: &mut Context<'_>, datagram: &Datagram<'_>) -> Poll<io::Result<()>> {
        check(self.handle.run, self.local, datagram)?;
        self.handle.poll("to send on", Way::Write, cx, |source| {
            let (descriptor, udp) = source.udp()?;
            udp.send(descriptor, datagram)
        })
    }

    fn allow_fragments(&self) -> io::Result<()> {
        let act =
            |source: &mut Source| trackbed_linux::socket::allow_fragments(source.descriptor()?);
        self.handle.reach(act)?
    }

    /// One where there are many hosts: the buffers for more take megabytes at each.
    fn max_receive_segments(&self) -> NonZeroUsize {
        let are_many = world::with(self.handle.run, |world| world.hosts > HOSTS_WITH_SEGMENTS);
        if are_many == Some(true) { NonZeroUsize::MIN } else { SEGMENTS_MAX }
    }
}

/// Refuses input for which the kernel's own error would be unclear.
fn check(run: u64, local: SocketAddr, datagram: &Datagram<'_>) -> io::Result<()> {
    let Datagram { source, destination, payload, segment_size, .. } = *datagram;
    let source = Some(source.unwrap_or(local.ip()));
    let source = source.filter(|source| source.is_ipv4() == local.is_ipv4());
    let size = segment_size.unwrap_or(payload.len()).min(payload.len());
    let source = check_datagram(source, destination, size, UDP_HEADER_LEN)?;
    if source != local.ip() && !world::reach(run, |world| world.is_local(source))? {
        let message =
            format!("{source} is not an address of this machine; use one of its addresses");
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, message));
    }
    Ok(())
}

/// Enlarges the buffers for bursts as far as this process may: excess datagrams are lost.
fn grow_buffers(socket: &OwnedFd) {
    // Beyond the system's limits (net.core.rmem_max) only for the privileged.
    if sockopt::set_socket_recv_buffer_size_force(socket, BUFFER).is_err() {
        let _ = sockopt::set_socket_recv_buffer_size(socket, BUFFER);
    }
    if sockopt::set_socket_send_buffer_size_force(socket, BUFFER).is_err() {
        let _ = sockopt::set_socket_send_buffer_size(socket, BUFFER);
    }
}

/// In bytes: what arrives in 33 ms at 1 Gbit/s.
const BUFFER: usize = 4 << 20;

/// Each socket of the QUIC engine takes about 3 MB of buffers for them.
const HOSTS_WITH_SEGMENTS: usize = 16;
