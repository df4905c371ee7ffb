//! The QUIC engine's runtime and socket on the executor and the sockets of a substrate.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use noq::udp::{EcnCodepoint, RecvMeta, Transmit};
use noq::{AsyncTimer, AsyncUdpSocket, UdpSender};
use trackbed_core::packet::Ecn;
use trackbed_substrate::{
    Datagram, ReceivedMeta, Timer, UdpSocket, from_std_instant, now, sleep_until, spawn,
    to_std_instant,
};

use super::moving::Arrivals;

/// Time and tasks from the substrate's executor.
#[derive(Debug)]
pub(super) struct Runtime;

impl noq::Runtime for Runtime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(EngineTimer(sleep_until(from_std_instant(deadline))))
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        spawn(future).detach();
    }

    fn wrap_udp_socket(&self, _: std::net::UdpSocket) -> io::Result<Box<dyn AsyncUdpSocket>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "sockets come from the host"))
    }

    fn now(&self) -> Instant {
        to_std_instant(now())
    }
}

#[derive(Debug)]
struct EngineTimer(Timer);

impl AsyncTimer for EngineTimer {
    fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.0.reset(from_std_instant(deadline));
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx)
    }
}

/// A host's UDP socket for the engine.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) socket: Arc<dyn UdpSocket>,
    /// Where a socket bound to all addresses sends from, unless the engine names another.
    pub(super) source: Option<IpAddr>,
    pub(super) arrivals: Arrivals,
}

impl AsyncUdpSocket for Socket {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        Box::pin(Sender { socket: Arc::clone(&self.socket), source: self.source })
    }

    fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut received = [ReceivedMeta::default(); RECEIVE_MAX];
        let room = received.len().min(buffers.len()).min(meta.len());
        let count = std::task::ready!(self.socket.poll_recv(
            cx,
            &mut buffers[..room],
            &mut received[..room]
        ))?;
        for (meta, received) in meta.iter_mut().zip(&received[..count]) {
            meta.addr = received.source;
            meta.len = received.len;
            meta.stride = received.stride;
            meta.ecn = EcnCodepoint::from_bits(received.ecn as u8);
            meta.dst_ip = Some(received.destination);
        }
        self.arrivals.add(count);
        Poll::Ready(Ok(count))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.socket.local_addr())
    }

    fn max_receive_segments(&self) -> NonZeroUsize {
        self.socket.max_receive_segments()
    }

    /// The sockets of every substrate set "don't fragment"; path MTU discovery relies on it.
    fn may_fragment(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct Sender {
    socket: Arc<dyn UdpSocket>,
    source: Option<IpAddr>,
}

impl UdpSender for Sender {
    fn poll_send(
        self: Pin<&mut Self>,
        transmit: &Transmit<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let datagram = Datagram {
            // A socket that has one address has no other to send from. After a move the engine
            // takes what had arrived before as a sign that the old address is still good.
            source: transmit
                .src_ip
                .or(self.source)
                .filter(|_| self.socket.local_addr().ip().is_unspecified()),
            destination: transmit.destination,
            ecn: transmit.ecn.map_or(Ecn::NotCapable, |ecn| Ecn::from_bits(ecn as u8)),
            payload: transmit.contents,
            segment_size: transmit.segment_size,
        };
        // For QUIC a datagram that the host refuses is lost; recovery deals with it (RFC 9002), and
        // an error here would end the whole endpoint.
        self.socket.poll_send(cx, &datagram).map(|_| Ok(()))
    }

    /// As many as it takes to close a connection during its handshake: the client sends
    /// CONNECTION_CLOSE in an Initial packet, which fills its datagram (RFC 9000 section 14.1), and
    /// then in a Handshake packet (section 10.2.3). The engine makes both in one batch or, where a
    /// batch has no room for the second one, starts over with the first one, without end. Otherwise
    /// batches change nothing: the engine's pacer lets each datagram go on its own.
    fn max_transmit_segments(&self) -> NonZeroUsize {
        const { NonZeroUsize::new(2).unwrap() }
    }
}

/// How many buffers are filled at once. On a simulated link datagrams come one by one, and the
/// engine asks again until there are none; the kernel may join some in a buffer.
const RECEIVE_MAX: usize = 8;
