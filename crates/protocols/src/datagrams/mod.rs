//! Datagrams to and from one peer: the layer below SCTP and DTLS.
//!
//! A client has a socket for each connection, a server one for all its peers. Both look the same
//! from above: a [`Channel`].

mod peers;

use std::cell::RefCell;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use trackbed_connection::{Error, Result, Step};
use trackbed_core::packet::{Ecn, ip_header_len};
use trackbed_substrate::{Datagram, Host, ReceivedMeta, UdpSocket};

use crate::config::{Encapsulation, TransportParameters};
pub(crate) use peers::{PeerChannel, Peers};

/// Carries datagrams to one peer and back; it may lose, repeat and reorder them.
pub(crate) trait Channel {
    /// The next datagram from the peer.
    ///
    /// # Errors
    /// If nothing can come any more.
    fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>>;

    /// Sends one datagram. Pending while the host has no room for it.
    ///
    /// # Errors
    /// If the host refuses the datagram; the next one may pass.
    fn poll_send(&self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<io::Result<()>>;

    /// The maximum datagram size whose packets fit into the path.
    fn room(&self) -> usize;

    /// Notifies the peer of the end, if the protocol can.
    fn close(&self) {}
}

/// A peer, and the address here that it asked and gets its answers from (RFC 7252 section 5.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Route {
    pub(crate) peer: SocketAddr,
    pub(crate) local: IpAddr,
}

/// A socket for packets of a transport protocol, with its properties.
#[derive(Debug)]
pub(crate) struct Socket {
    socket: Box<dyn UdpSocket>,
    buffer: RefCell<Vec<u8>>,
    room: usize,
}

impl Socket {
    /// A socket of `host` at `local`, where port 0 takes a free one.
    pub(crate) fn bind(
        host: &dyn Host,
        local: SocketAddr,
        transport: &TransportParameters,
    ) -> io::Result<Socket> {
        let (socket, header_len) = match transport.encapsulation {
            Encapsulation::Udp => (host.bind_udp(local)?, UDP_HEADER_LEN),
            Encapsulation::None => (host.bind_sctp(local)?, 0),
        };
        if !transport.coap.block_wise {
            socket.allow_fragments()?;
        }
        let packet_len_max = transport.packet_len_max.clamp(PACKET_LEN_MIN, PACKET_LEN_MAX);
        let room = packet_len_max - ip_header_len(local.ip()) - header_len;
        Ok(Socket { socket, buffer: RefCell::new(vec![0; BUFFER_LEN]), room })
    }

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.socket.local_addr()
    }

    fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<io::Result<(Route, Bytes)>> {
        let mut buffer = self.buffer.borrow_mut();
        let mut meta = [ReceivedMeta::default()];
        ready!(self.socket.poll_recv(cx, &mut [IoSliceMut::new(&mut buffer)], &mut meta))?;
        let [ReceivedMeta { source, destination, len, .. }] = meta;
        let route = Route { peer: source, local: destination };
        Poll::Ready(Ok((route, Bytes::copy_from_slice(&buffer[..len]))))
    }

    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        route: Route,
        payload: &[u8],
    ) -> Poll<io::Result<()>> {
        // A socket that has one address has no other to send from.
        let source = Some(route.local).filter(|_| self.local_addr().ip().is_unspecified());
        let (destination, ecn, segment_size) = (route.peer, Ecn::NotCapable, None);
        let datagram = Datagram { source, destination, ecn, payload, segment_size };
        self.socket.poll_send(cx, &datagram)
    }
}

/// Refuses SCTP's native packets, for the protocol `layer` that runs over UDP.
///
/// # Errors
/// [`Error::Unsupported`] with what to use.
pub(crate) fn require_udp(
    protocol: &'static str,
    layer: &str,
    transport: &TransportParameters,
) -> Result<()> {
    match transport.encapsulation {
        Encapsulation::Udp => Ok(()),
        Encapsulation::None => {
            let advice = format!("{layer} runs over UDP: use the encapsulation `udp`");
            Err(Error::unsupported(protocol, advice))
        }
    }
}

/// A client's channel, with its own socket.
#[derive(Debug)]
pub(crate) struct ClientChannel {
    socket: Socket,
    remote: SocketAddr,
}

impl ClientChannel {
    /// A channel from `host` to `remote`, from `local` or the host's first address of the family.
    pub(crate) fn open(
        protocol: &'static str,
        host: &dyn Host,
        local: Option<IpAddr>,
        remote: SocketAddr,
        transport: &TransportParameters,
    ) -> Result<Rc<ClientChannel>> {
        let fits = |address: &IpAddr| address.is_ipv4() == remote.is_ipv4();
        let chosen = local.or_else(|| host.addresses().into_iter().find(fits));
        let local = chosen.filter(fits).ok_or_else(|| {
            let reason = format!("the host has no address of the same IP version as {remote}");
            Error::lasting(protocol, Step::Connect, reason)
        })?;
        let socket = Socket::bind(host, SocketAddr::new(local, 0), transport)
            .map_err(|error| Error::lasting(protocol, Step::Connect, error))?;
        Ok(Rc::new(ClientChannel { socket, remote }))
    }

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.socket.local_addr()
    }
}

impl Channel for ClientChannel {
    fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        loop {
            let (route, datagram) = ready!(self.socket.poll_recv(cx))?;
            if route.peer == self.remote {
                return Poll::Ready(Ok(datagram));
            }
        }
    }

    fn poll_send(&self, cx: &mut Context<'_>, datagram: &[u8]) -> Poll<io::Result<()>> {
        let route = Route { peer: self.remote, local: self.local_addr().ip() };
        self.socket.poll_send(cx, route, datagram)
    }

    fn room(&self) -> usize {
        self.socket.room
    }
}

/// The size that every path supports (RFC 8200 section 5).
const PACKET_LEN_MIN: usize = 1_280;
/// A jumbo frame's, for which the buffer is long enough.
const PACKET_LEN_MAX: usize = 9_000;

const UDP_HEADER_LEN: usize = 8;

/// Longer than any datagram that the track carries, and too short for the kernel to join several
/// (see [`UdpSocket::max_receive_segments`]).
const BUFFER_LEN: usize = 9_216;
