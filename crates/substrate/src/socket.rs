//! The sockets of the seam: a protocol's view of the network on any substrate.

use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::future::BoxFuture;
use trackbed_core::packet::Ecn;
use trackbed_tcp::config::HyStart;

/// A UDP socket.
///
/// It may be shared: all tasks that wait to send are woken, but only the last poller of those that
/// wait to receive. Dropping the socket frees its port.
pub trait UdpSocket: fmt::Debug + Send + Sync {
    /// The address, which may be the unspecified one, and port that the socket is bound to.
    fn local_addr(&self) -> SocketAddr;

    /// Receives datagrams, at most one per buffer, and describes in `meta` the contents of each
    /// buffer. Resolves to the number of datagrams as soon as there is at least one. A datagram
    /// longer than its buffer is cut, as the kernel does.
    ///
    /// # Errors
    /// If the socket no longer works. Loss and damage in transit are not errors.
    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [ReceivedMeta],
    ) -> Poll<io::Result<usize>>;

    /// Passes one datagram (or one batch, see [`Datagram::segment_size`]) to the network. Pending
    /// while the kernel's send buffer is full; a simulated network takes everything at once.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if a datagram exceeds what UDP can carry or the addresses
    /// differ in family, [`io::ErrorKind::AddrNotAvailable`] if the source is not this host's.
    fn poll_send(&self, cx: &mut Context<'_>, datagram: &Datagram<'_>) -> Poll<io::Result<()>>;

    /// Sends datagrams longer than the MTU of the host's own link in fragments, which the other
    /// host reassembles. Otherwise they are lost. Later links do not fragment.
    ///
    /// # Errors
    /// If the socket cannot.
    fn allow_fragments(&self) -> io::Result<()>;

    /// The most datagrams of one sender that [`poll_recv`](UdpSocket::poll_recv) joins in a buffer
    /// of at least 65,535 bytes (UDP_GRO on Linux). A smaller buffer gets one.
    fn max_receive_segments(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }
}

/// What [`UdpSocket::poll_send`] sends.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// The source address; `None` leaves the choice to the socket.
    pub source: Option<IpAddr>,
    /// The destination.
    pub destination: SocketAddr,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The bytes to send.
    pub payload: &'a [u8],
    /// If given, `payload` is cut into datagrams of this many bytes (the last may be shorter),
    /// as UDP_SEGMENT does on Linux; else it is one datagram.
    pub segment_size: Option<usize>,
}

/// The description of one buffer by [`UdpSocket::poll_recv`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedMeta {
    /// The sender.
    pub source: SocketAddr,
    /// The address of this host that the datagram was sent to.
    pub destination: IpAddr,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Bytes in the buffer.
    pub len: usize,
    /// Bytes of each datagram in the buffer, of which the last may be shorter (UDP_GRO on Linux);
    /// equal to `len` where the buffer holds one.
    pub stride: usize,
}

/// A placeholder to allocate `meta` with.
impl Default for ReceivedMeta {
    fn default() -> ReceivedMeta {
        ReceivedMeta {
            source: SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0),
            destination: Ipv4Addr::UNSPECIFIED.into(),
            ecn: Ecn::NotCapable,
            len: 0,
            stride: 0,
        }
    }
}

/// A TCP connection.
///
/// `poll_close` sends a FIN after the written data and leaves the other direction open
/// (half-close). Dropping the stream closes the connection in the background, or resets it if
/// received data was never read (RFC 2525 section 2.17), as Linux does.
pub trait TcpStream: futures_io::AsyncRead + futures_io::AsyncWrite + Unpin + Send + Sync {
    /// This end's address and port.
    fn local_addr(&self) -> SocketAddr;
    /// The other end's address and port.
    fn peer_addr(&self) -> SocketAddr;
    /// The stack's statistics of the connection.
    fn info(&self) -> TcpInfo;
    /// Whether the connection has ended or the peer sends nothing any more, even if data that arrived
    /// before is still to be read.
    fn is_ending(&self) -> bool;
    /// Switches Nagle's algorithm (RFC 9293 section 3.7.4) off or on.
    fn set_nodelay(&self, nodelay: bool);
    /// Resets the connection: buffered data is lost, and the peer is notified.
    fn abort(&self);

    /// The paths of a multipath connection; none for others, or if the stack does not report them.
    fn paths(&self) -> Vec<TcpPath> {
        Vec::new()
    }

    /// Applies a request to the paths from or to the address `end`. False if there are none, or the
    /// stack does not support it.
    fn set_path(&self, _end: IpAddr, _wish: PathWish) -> bool {
        false
    }
}

/// One path of a multipath connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPath {
    /// This end's address and port.
    pub local: SocketAddr,
    /// The other end's.
    pub remote: SocketAddr,
    /// It may carry data.
    pub usable: bool,
    /// One of the two sides asked to use it only if there is no other.
    pub backup: bool,
    /// The stack's statistics of its subflow.
    pub info: TcpInfo,
}

/// A request about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathWish {
    /// Both sides use it only if there is no other, or normally again: the peer is told (MP_PRIO,
    /// RFC 8684 section 3.3.8).
    Backup(bool),
    /// A scheduler that honours it ([`Multipath::proactive`]) gives it no data, or does so again.
    Blocked(bool),
}

/// How a connection uses several paths (Multipath TCP, RFC 8684).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multipath {
    /// The host's addresses besides the one that the connection begins at: a client opens a subflow
    /// from each, a listener announces them.
    pub addresses: Vec<IpAddr>,
    /// The scheduler by name, with its default parameters.
    pub scheduler: String,
    /// Add opportunistic retransmission and penalisation to it.
    pub opportunistic: bool,
    /// Make it honour [`PathWish::Blocked`].
    pub proactive: bool,
    /// Send what is in flight on a path again on the others when it is blocked.
    pub reactive: bool,
    /// Ask for checksums over the data.
    pub checksum: bool,
    /// How long after its loss a subflow is reopened; `None` for never.
    pub rejoin: Option<Duration>,
}

impl Default for Multipath {
    fn default() -> Multipath {
        Multipath {
            addresses: Vec::new(),
            scheduler: "minrtt".to_owned(),
            opportunistic: false,
            proactive: false,
            reactive: false,
            checksum: false,
            rejoin: None,
        }
    }
}

/// A listening TCP socket. Dropping it frees the port and resets connections not yet accepted.
pub trait TcpListener: Send + Sync {
    /// The address and port it listens on.
    fn local_addr(&self) -> SocketAddr;

    /// The next established connection.
    ///
    /// # Errors
    /// If the listener no longer works.
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Box<dyn TcpStream>>>;

    /// Waits for the next established connection.
    ///
    /// # Errors
    /// If the listener no longer works.
    fn accept(&self) -> BoxFuture<'_, io::Result<Box<dyn TcpStream>>> {
        Box::pin(std::future::poll_fn(|cx| self.poll_accept(cx)))
    }
}

/// The options of a TCP connection, for any stack. The defaults are those of Linux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpOptions {
    /// The congestion controller by name, for example `cubic` or `reno`.
    pub congestion: String,
    /// Whether small writes go out at once (true) or wait for outstanding data to be
    /// acknowledged (Nagle's algorithm, RFC 9293 section 3.7.4).
    pub nodelay: bool,
    /// The size of the send buffer in bytes; `None` is the stack's own choice.
    pub send_buffer: Option<usize>,
    /// The size of the receive buffer in bytes; `None` is the stack's own choice.
    pub receive_buffer: Option<usize>,
    /// Whether to negotiate Explicit Congestion Notification (RFC 3168). `None` is the Linux
    /// default: a server accepts it on request, and a client does not request it.
    pub ecn: Option<bool>,
    /// When CUBIC leaves slow start before a loss; the kernel has no RFC 9406.
    pub hystart: HyStart,
    /// How long an idle connection waits before it probes the peer; `None` never probes.
    pub keepalive: Option<Duration>,
    /// The initial congestion window in segments; `None` is the stack's own choice.
    pub initial_window: Option<u32>,
    /// The maximum segment size in bytes, TCP options included, as both ends announce it (RFC
    /// 6691); `None` is the link's.
    pub mss: Option<u32>,
    /// Whether to use selective acknowledgments (RFC 2018), and with them RACK-TLP.
    pub sack: bool,
    /// The minimum margin of the retransmission timeout above the smoothed round-trip time; `None`
    /// is the stack's own choice.
    pub rto_min: Option<Duration>,
    /// Several paths, if the peer agrees; `None` for plain TCP.
    pub multipath: Option<Multipath>,
    /// How many established connections may wait to be accepted before new ones are ignored.
    pub backlog: usize,
}

impl Default for TcpOptions {
    fn default() -> TcpOptions {
        TcpOptions {
            congestion: "cubic".to_owned(),
            nodelay: false,
            send_buffer: None,
            receive_buffer: None,
            ecn: None,
            hystart: HyStart::Linux,
            keepalive: None,
            initial_window: None,
            mss: None,
            sack: true,
            rto_min: None,
            multipath: None,
            backlog: SOMAXCONN,
        }
    }
}

/// A stack's statistics of a connection (`TCP_INFO`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TcpInfo {
    /// Segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments received.
    pub segments_received: u64,
    /// Retransmitted segments.
    pub segments_retransmitted: u64,
    /// Unnecessary retransmissions.
    pub spurious_retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Payload bytes that the peer has acknowledged.
    pub bytes_acked: u64,
    /// Payload bytes received in order.
    pub bytes_received: u64,
    /// The smoothed round-trip time; `None` before the first sample.
    pub smoothed_rtt: Option<Duration>,
    /// The congestion window in bytes.
    pub congestion_window: u64,
}

/// The Linux default of `net.core.somaxconn`.
const SOMAXCONN: usize = 4_096;
