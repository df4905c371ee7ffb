//! The state of each kind of socket on top of a [`Source`](super::source::Source).

use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::os::fd::{BorrowedFd, OwnedFd};

use noq_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustix::io::Errno;
use trackbed_core::Time;
use trackbed_core::packet::{Ecn, ip_header_len};
use trackbed_linux::tcp_info::tcp_info;

use super::options::Ends;
use super::super_datagram::SuperDatagram;
use super::{descriptor, multipath};
use crate::clock::now;
use crate::socket::{Datagram, ReceivedMeta, TcpInfo};

pub(super) struct Tcp {
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    pub(super) opened_here: bool,
    pub(super) is_multipath: bool,
    pub(super) end_read: bool,
    /// The statistics at the abort, for multipath also at intervals: closed subflows lose theirs.
    pub(super) last: TcpInfo,
    /// When that was, if it is renewed.
    pub(super) told: Time,
}

impl Tcp {
    pub(super) fn new(socket: &OwnedFd, remote: SocketAddr, opened_here: bool) -> io::Result<Tcp> {
        let local = descriptor::local_addr(socket)?;
        let is_multipath = multipath::is_spoken(socket);
        let last = TcpInfo::default();
        Ok(Tcp { local, remote, opened_here, is_multipath, end_read: false, last, told: now() })
    }

    pub(super) fn ends(&self) -> Ends {
        Ends { opened_here: self.opened_here, end_read: self.end_read }
    }

    pub(super) fn describe(
        &self,
        socket: Option<&OwnedFd>,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        write!(f, "TCP {} > {}, ", self.local, self.remote)?;
        match socket.map(tcp_info) {
            Some(Ok(info)) => write!(
                f,
                "{:?}, {} B not sent yet, {} segments not acknowledged",
                info.state, info.bytes_not_sent, info.unacked
            ),
            Some(Err(_)) => f.write_str("the kernel reports no state"),
            None => f.write_str("aborted"),
        }
    }
}

pub(super) struct Udp {
    pub(super) local: SocketAddr,
    /// The only accepted peer, if any.
    pub(super) peer: Option<IpAddr>,
    pub(super) state: UdpSocketState,
    /// Whether the kernel and the network device take batches (UDP_SEGMENT).
    pub(super) batches: bool,
    /// Datagrams received for buffers that hold one each.
    pub(super) received: SuperDatagram,
}

pub(super) struct Received {
    pub(super) count: usize,
    /// Whether no more was available.
    pub(super) was_last: bool,
}

impl Udp {
    /// Receives until a datagram comes from an accepted peer.
    pub(super) fn receive_wanted(
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

    /// The kernel may join datagrams (UDP_GRO); buffers that hold only one would cut the rest.
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
                    // The next call reports it again if it still applies.
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

    pub(super) fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        datagram: &Datagram<'_>,
    ) -> io::Result<()> {
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
                // The part of a batch without room is lost, as in any full queue.
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

/// A datagram that exceeds the MTU of the first link is lost there, as on any other link of its
/// path, and path MTU discovery (RFC 8899) detects both.
fn lost_if_too_long(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if noq_udp::is_msg_size_err(&error) => Ok(()),
        result => result,
    }
}

/// The longest payload of a datagram in bytes.
fn room(address: IpAddr) -> usize {
    usize::from(u16::MAX) - ip_header_len(address) - UDP_HEADER_LEN
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

pub(super) const UDP_HEADER_LEN: usize = 8;

/// The most datagrams that the kernel sends in a batch or joins (UDP_MAX_SEGMENTS, UDP_GRO_CNT_MAX).
pub(super) const SEGMENTS_MAX: NonZeroUsize = NonZeroUsize::new(64).unwrap();
