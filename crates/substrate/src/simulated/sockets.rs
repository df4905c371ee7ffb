//! Sockets of the simulated world below their handles: their state and their waiting tasks.

use std::collections::VecDeque;
use std::fmt;
use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use trackbed_core::packet::{Ecn, IpHeader, UdpDatagram, ip_header_len, protocol};
use trackbed_core::{Packet, Time};
use trackbed_net::NodeId;
use trackbed_tcp::Config;
use trackbed_tcp::multipath::MultipathConfig;

use super::flow::Flow;
use super::options;
use super::transport::Transport;
use crate::executor::Waiter;
use crate::socket::{ReceivedMeta, TcpInfo};

#[derive(Debug)]
pub(super) struct Tcp {
    pub(super) connection: Transport,
    pub(super) node: NodeId,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    pub(super) timer: u32,
    pub(super) owner: Owner,
    /// By which the peer names the connection when it opens another subflow, until it is released.
    pub(super) token: Option<u32>,
    /// The addresses of subflows besides the first.
    pub(super) joined: Vec<(SocketAddr, SocketAddr)>,
    pub(super) reader: Waiter,
    pub(super) writer: Waiter,
    pub(super) read: u64,
    pub(super) written: u64,
    /// When a connection without an owner is given up if the peer does not close it too.
    pub(super) orphaned_until: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A stream, or the future that waits for the connection to be established.
    Stream,
    /// A listener: the connection is being established or waits to be accepted.
    Listener(u32),
    /// No owner: it closes in the background.
    Orphan,
}

impl Tcp {
    pub(super) fn info(&self) -> TcpInfo {
        options::info(&self.connection.stats())
    }

    pub(super) fn flow(&self) -> Flow {
        Flow::new(self.node, self.local, self.remote)
    }

    /// Whether unread data has arrived. Consumes a byte of it if so.
    pub(super) fn has_unread(&mut self, now: Time) -> bool {
        matches!(self.connection.read(now, 1), Ok(Some(data)) if !data.is_empty())
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        [self.connection.poll_timeout(), self.orphaned_until].into_iter().flatten().min()
    }
}

/// For the diagnosis of a stall.
impl fmt::Display for Tcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = self.connection.stats();
        write!(
            f,
            "TCP {} > {}, {:?}, {} B not sent yet, {} B not acknowledged, {} B received and not \
             read",
            self.local,
            self.remote,
            self.connection.state(),
            self.written.saturating_sub(stats.bytes_sent),
            stats.bytes_sent.saturating_sub(stats.bytes_acknowledged),
            stats.bytes_received.saturating_sub(self.read),
        )
    }
}

#[derive(Debug)]
pub(super) struct Listener {
    pub(super) node: NodeId,
    pub(super) local: SocketAddr,
    pub(super) config: Config,
    /// Of connections on several paths, if they are wanted.
    pub(super) multipath: Option<MultipathConfig>,
    pub(super) backlog: usize,
    pub(super) established: VecDeque<u32>,
    /// Connection requests that were ignored because the backlog was full.
    pub(super) ignored: u64,
    pub(super) acceptor: Waiter,
}

impl Listener {
    /// The settings of the connection that a SYN opens; `None` to ignore it: the peer tries again.
    ///
    /// As on Linux with SYN cookies, only connections that are established count against the
    /// backlog, and one more than the backlog is accepted.
    pub(super) fn config_for_syn(&mut self) -> Option<Config> {
        if self.established.len() > self.backlog {
            self.ignored += 1;
            return None;
        }
        Some(self.config.clone())
    }

    pub(super) fn push_established(&mut self, key: u32) {
        self.established.push_back(key);
        self.acceptor.wake();
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "TCP listener {}, {} connections not accepted, {} ignored",
            self.local,
            self.established.len(),
            self.ignored
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    Udp,
    /// Packets of SCTP, which have their ports in front as UDP has (RFC 9260 section 3.1).
    Sctp,
}

impl Carrier {
    pub(super) fn header_len(self) -> usize {
        match self {
            Carrier::Udp => 8,
            Carrier::Sctp => 0,
        }
    }

    pub(super) fn emit(
        self,
        source: SocketAddr,
        destination: SocketAddr,
        ecn: Ecn,
        bytes: &[u8],
    ) -> Packet {
        let (protocol, fill) = match self {
            Carrier::Udp => return UdpDatagram::emit(source, destination, ecn, bytes),
            Carrier::Sctp => (protocol::SCTP, |out: &mut [u8]| out.copy_from_slice(bytes)),
        };
        let (source, destination) = (source.ip(), destination.ip());
        Packet::build(&IpHeader { source, destination, protocol, ecn }, bytes.len(), fill)
    }

    /// The datagram in a packet; `None` if it is too short or, except for SCTP, damaged.
    pub(super) fn parse(self, packet: &Packet) -> Option<UdpDatagram> {
        if self == Carrier::Udp {
            return UdpDatagram::parse(packet).ok();
        }
        let payload = packet.transport();
        let [a, b, c, d] = *payload.first_chunk()?;
        Some(UdpDatagram {
            source: SocketAddr::new(packet.source(), u16::from_be_bytes([a, b])),
            destination: SocketAddr::new(packet.destination(), u16::from_be_bytes([c, d])),
            ecn: packet.ecn(),
            payload,
        })
    }
}

#[derive(Debug)]
pub(super) struct Udp {
    pub(super) node: NodeId,
    pub(super) carrier: Carrier,
    pub(super) local: SocketAddr,
    pub(super) received: VecDeque<UdpDatagram>,
    /// What the datagrams in `received` are charged.
    pub(super) received_charge: usize,
    /// Datagrams that found the receive buffer full.
    pub(super) overflowed: u64,
    /// Whether datagrams that are too long for the interface leave in fragments.
    pub(super) may_fragment: bool,
    pub(super) reader: Waiter,
}

impl Udp {
    pub(super) fn poll_recv(
        &mut self,
        cx: &Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [ReceivedMeta],
    ) -> Poll<usize> {
        if self.received.is_empty() {
            self.reader.wait(cx);
            return Poll::Pending;
        }
        let mut count = 0;
        for (buffer, meta) in buffers.iter_mut().zip(meta) {
            let Some(datagram) = self.received.pop_front() else { break };
            let UdpDatagram { source, destination, ecn, payload } = datagram;
            self.received_charge -= self.charge(payload.len());
            let len = payload.len().min(buffer.len());
            buffer[..len].copy_from_slice(&payload[..len]);
            *meta = ReceivedMeta { source, destination: destination.ip(), ecn, len, stride: len };
            count += 1;
        }
        Poll::Ready(count)
    }

    pub(super) fn receive(&mut self, datagram: UdpDatagram) {
        let charge = self.charge(datagram.payload.len());
        // As in Linux, a datagram is accepted while the buffer is not full.
        if self.received_charge >= RECEIVE_BUFFER {
            self.overflowed += 1;
            return;
        }
        self.received_charge += charge;
        self.received.push_back(datagram);
        self.reader.wake();
    }

    pub(super) fn charge(&self, payload_len: usize) -> usize {
        ip_header_len(self.local.ip()) + self.carrier.header_len() + payload_len + OVERHEAD
    }
}

impl fmt::Display for Udp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}, {} datagrams received and not read, {} lost because the buffer was full",
            match self.carrier {
                Carrier::Udp => "UDP",
                Carrier::Sctp => "SCTP",
            },
            self.local,
            self.received.len(),
            self.overflowed
        )
    }
}

/// Linux charges a buffer for the packet and its bookkeeping: `sk_buff` and `skb_shared_info`, 256
/// and 320 bytes on 64-bit machines (SKB_TRUESIZE).
const OVERHEAD: usize = 576;

/// In bytes: what Linux makes of the 4 MiB that the kernel's sockets request.
const RECEIVE_BUFFER: usize = 8 << 20;
