//! UDP sockets of the kernel: udp(7), ip(7), ipv6(7).

use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::task::{Context, Poll};

use noq_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustix::io::Errno;
use rustix::net::{self, SocketType, sockopt};
use trackbed_core::packet::{Ecn, ip_header_len};

use super::descriptor;
use super::source::{Detail, Source, Way};
use super::super_datagram::SuperDatagram;
use super::world::{self, World};
use crate::executor::{SocketKind, SocketRef, Wait, note};
use crate::socket::{Datagram, ReceivedMeta, UdpSocket};

/// The handle of a UDP socket.
#[derive(Debug)]
pub(super) struct KernelUdpSocket {
    run: u64,
    key: u32,
    local: SocketAddr,
}

impl KernelUdpSocket {
    /// A socket that hears `peer` alone, if there is one.
    pub(super) fn bind(run: u64, local: SocketAddr, peer: Option<IpAddr>) -> io::Result<Self> {
        let socket = descriptor::open(local, SocketType::DGRAM, None)?;
        net::bind(&socket, &local)?;
        let local = descriptor::local_addr(&socket)?;
        grow_buffers(&socket);
        // Sets "don't fragment" and asks for the ECN field and the destination of what arrives.
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        if state.may_fragment() {
            let message = "the kernel cannot set \"don't fragment\" on UDP sockets";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let batches = state.max_gso_segments() > NonZeroUsize::MIN;
        let udp = Udp { local, peer, state, batches, received: SuperDatagram::default() };
        let source = Source::new(socket, Detail::Udp(udp));
        let key = world::with(run, |world| world.insert(source)).ok_or_else(world::ended)??;
        Ok(KernelUdpSocket { run, key, local })
    }

    fn poll<T>(
        &self,
        what: &'static str,
        act: impl FnOnce(&mut World) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let polled = world::with(self.run, act).ok_or_else(world::ended)?;
        if polled.is_pending() {
            note(Wait::Socket(what, SocketRef { kind: SocketKind::Udp, key: self.key }));
        }
        polled
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
        self.poll("to receive from", |world| {
            world.poll(self.key, Way::Read, cx, |source| {
                let (descriptor, udp) = source.udp()?;
                let received = udp.receive_wanted(descriptor, buffers, meta)?;
                if received.was_last {
                    source.block(Way::Read);
                }
                world::spend(received.count);
                Ok(received.count)
            })
        })
    }

    fn poll_send(&self, cx: &mut Context<'_>, datagram: &Datagram<'_>) -> Poll<io::Result<()>> {
        self.poll("to send on", |world| {
            check(world, self.local, datagram)?;
            world.poll(self.key, Way::Write, cx, |source| {
                let (descriptor, udp) = source.udp()?;
                udp.send(descriptor, datagram)
            })
        })
    }

    fn max_receive_segments(&self) -> NonZeroUsize {
        SEGMENTS_MAX
    }
}

impl Drop for KernelUdpSocket {
    fn drop(&mut self) {
        world::with(self.run, |world| world.remove(self.key));
    }
}

/// Moves what came from `peer` to the first of `count` filled buffers; returns how many are left.
fn keep_of(
    peer: IpAddr,
    count: usize,
    buffers: &mut [IoSliceMut<'_>],
    meta: &mut [ReceivedMeta],
) -> usize {
    let mut kept = 0;
    for at in 0..count {
        if meta[at].source.ip().to_canonical() != peer {
            continue;
        }
        if kept < at {
            let (front, back) = buffers.split_at_mut(at);
            let len = meta[at].len;
            front[kept][..len].copy_from_slice(&back[0][..len]);
            meta[kept] = meta[at];
        }
        kept += 1;
    }
    kept
}

/// A UDP socket below its handle.
pub(super) struct Udp {
    local: SocketAddr,
    /// The only one that it hears, if not all.
    peer: Option<IpAddr>,
    state: UdpSocketState,
    /// Whether the kernel and the network device take batches (UDP_SEGMENT).
    batches: bool,
    /// What was received for buffers that hold a datagram each.
    received: SuperDatagram,
}

/// What a call has received.
struct Received {
    /// How many buffers it has filled.
    count: usize,
    /// Whether there was no more.
    was_last: bool,
}

impl Udp {
    /// Receives until something is among it from whoever is heard.
    fn receive_wanted(
        &mut self,
        socket: BorrowedFd<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [ReceivedMeta],
    ) -> io::Result<Received> {
        loop {
            let received = self.receive(socket, buffers, meta)?;
            let Some(peer) = self.peer else { return Ok(received) };
            let count = keep_of(peer, received.count, buffers, meta);
            if count > 0 {
                return Ok(Received { count, ..received });
            }
        }
    }

    fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [ReceivedMeta],
    ) -> io::Result<Received> {
        let large = buffers.iter().all(|buffer| buffer.len() >= SuperDatagram::LEN_MAX);
        if !large || !self.received.is_empty() {
            let count = self.receive_split(socket, buffers, meta)?;
            return Ok(Received { count, was_last: false });
        }
        let mut received = [RecvMeta::default(); BATCH_SIZE];
        let received = &mut received[..buffers.len()];
        let count = self.state.recv(UdpSockRef::from(&socket), buffers, received)?;
        for (meta, received) in meta.iter_mut().zip(&received[..count]) {
            *meta = self.meta(received);
        }
        Ok(Received { count, was_last: count < buffers.len() })
    }

    /// The kernel may join datagrams (UDP_GRO) where the caller's buffers hold but one, and would
    /// cut what does not fit.
    fn receive_split(
        &mut self,
        socket: BorrowedFd<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [ReceivedMeta],
    ) -> io::Result<usize> {
        let mut count = 0;
        for (buffer, meta) in buffers.iter_mut().zip(meta) {
            if self.received.is_empty() {
                match self.received.fill(&self.state, socket) {
                    Ok(()) => {}
                    // Told again by the next call, if it is still true then.
                    Err(_) if count > 0 => break,
                    Err(error) => return Err(error),
                }
            }
            let received = self.received.take_first(buffer);
            *meta = self.meta(&received);
            count += 1;
        }
        Ok(count)
    }

    fn meta(&self, received: &RecvMeta) -> ReceivedMeta {
        ReceivedMeta {
            source: received.addr,
            destination: received.dst_ip.unwrap_or(self.local.ip()),
            ecn: received.ecn.map_or(Ecn::NotCapable, |ecn| Ecn::from_bits(ecn as u8)),
            len: received.len,
            stride: received.stride,
        }
    }

    fn send(&mut self, socket: BorrowedFd<'_>, datagram: &Datagram<'_>) -> io::Result<()> {
        let payload = datagram.payload;
        let size = datagram.segment_size.unwrap_or(payload.len()).max(1);
        if payload.len() <= size {
            return self.send_one(socket, datagram, payload);
        }
        let batch = match self.batches {
            true => (room(self.local.ip()) / size).clamp(1, SEGMENTS_MAX.get()),
            false => 1,
        };
        for (at, part) in payload.chunks(size * batch).enumerate() {
            match self.send_batch(socket, datagram, part, size) {
                // What of a batch finds no room is lost, as in any full queue.
                Err(error) if at > 0 && error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                result => result?,
            }
        }
        Ok(())
    }

    /// Sends datagrams of `size` bytes, the last of which may be shorter.
    fn send_batch(
        &mut self,
        socket: BorrowedFd<'_>,
        datagram: &Datagram<'_>,
        payload: &[u8],
        size: usize,
    ) -> io::Result<()> {
        if payload.len() <= size {
            return self.send_one(socket, datagram, payload);
        }
        let transmit = transmit(datagram, payload, Some(size));
        match self.state.try_send(UdpSockRef::from(&socket), &transmit) {
            Err(error) if is(&error, Errno::INVAL) || is(&error, Errno::IO) => {
                // The device cannot segment, or the segments exceed its MTU. The library then gives
                // up batches, and the ECN field with them; a fresh state does not.
                self.batches = is(&error, Errno::INVAL);
                self.state = UdpSocketState::new(UdpSockRef::from(&socket))?;
                for part in payload.chunks(size) {
                    self.send_one(socket, datagram, part)?;
                }
                Ok(())
            }
            result => lost_if_too_long(result),
        }
    }

    fn send_one(
        &self,
        socket: BorrowedFd<'_>,
        datagram: &Datagram<'_>,
        payload: &[u8],
    ) -> io::Result<()> {
        let transmit = transmit(datagram, payload, None);
        lost_if_too_long(self.state.try_send(UdpSockRef::from(&socket), &transmit))
    }
}

/// For the diagnosis of a stall.
impl fmt::Display for Udp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UDP {}", self.local)
    }
}

fn transmit<'a>(
    datagram: &Datagram<'_>,
    contents: &'a [u8],
    segment_size: Option<usize>,
) -> Transmit<'a> {
    Transmit {
        destination: datagram.destination,
        ecn: EcnCodepoint::from_bits(datagram.ecn as u8),
        contents,
        segment_size,
        src_ip: datagram.source,
    }
}

/// A datagram that exceeds the MTU of the first link is lost there, as it would be on any other
/// link of its way, and path MTU discovery (RFC 8899) finds out about both alike.
fn lost_if_too_long(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if noq_udp::is_msg_size_err(&error) => Ok(()),
        result => result,
    }
}

/// Refuses what the kernel would refuse with an error that says too little.
fn check(world: &mut World, local: SocketAddr, datagram: &Datagram<'_>) -> io::Result<()> {
    let invalid = |message| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    let Datagram { source, destination, payload, segment_size, .. } = *datagram;
    let source = source.unwrap_or(local.ip());
    if destination.is_ipv4() != local.is_ipv4() || source.is_ipv4() != local.is_ipv4() {
        return invalid(format!(
            "there is no source address of the family of {destination}; bind the socket to one"
        ));
    }
    let (size, room) = (segment_size.unwrap_or(payload.len()).min(payload.len()), room(local.ip()));
    if size > room {
        return invalid(format!("a datagram holds at most {room} bytes, not {size}"));
    }
    if destination.port() == 0 {
        return invalid("nobody can be reached at port 0".to_owned());
    }
    if source != local.ip() && !world.is_local(source) {
        let message = format!("{source} is not an address of this machine; use one of its own");
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, message));
    }
    Ok(())
}

/// The longest payload of a datagram in bytes.
fn room(address: IpAddr) -> usize {
    usize::from(u16::MAX) - ip_header_len(address) - UDP_HEADER_LEN
}

/// Makes room for bursts as far as this process may: what does not fit is lost.
fn grow_buffers(socket: &OwnedFd) {
    // Beyond the system's limits (net.core.rmem_max) only for the privileged.
    if sockopt::set_socket_recv_buffer_size_force(socket, BUFFER).is_err() {
        let _ = sockopt::set_socket_recv_buffer_size(socket, BUFFER);
    }
    if sockopt::set_socket_send_buffer_size_force(socket, BUFFER).is_err() {
        let _ = sockopt::set_socket_send_buffer_size(socket, BUFFER);
    }
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

const UDP_HEADER_LEN: usize = 8;

/// How many datagrams the kernel takes in a batch, and joins (UDP_MAX_SEGMENTS, UDP_GRO_CNT_MAX).
const SEGMENTS_MAX: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// In bytes: what arrives in 33 ms at 1 Gbit/s.
const BUFFER: usize = 4 << 20;
