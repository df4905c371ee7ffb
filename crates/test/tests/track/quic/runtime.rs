//! The runtime and the socket that noq needs, from this library. Quinn's traits are similar.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use noq::udp::{RecvMeta, Transmit};
use noq::{AsyncTimer, AsyncUdpSocket, UdpSender};
use trackbed_test::{Sleep, UdpSocket, sleep_until, spawn};

/// Virtual time and its tasks.
#[derive(Debug)]
pub struct Runtime;

impl noq::Runtime for Runtime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(Timer(sleep_until(deadline)))
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        spawn(future);
    }

    fn wrap_udp_socket(&self, _: std::net::UdpSocket) -> io::Result<Box<dyn AsyncUdpSocket>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "the kernel's sockets have real time"))
    }

    fn now(&self) -> Instant {
        trackbed_test::now()
    }
}

#[derive(Debug)]
struct Timer(Sleep);

impl AsyncTimer for Timer {
    fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.0.reset(deadline);
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx)
    }
}

/// A virtual UDP socket; also its sender.
#[derive(Debug)]
pub struct Socket(Arc<UdpSocket>);

impl Socket {
    pub fn new(socket: UdpSocket) -> Socket {
        Socket(Arc::new(socket))
    }
}

impl AsyncUdpSocket for Socket {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        Box::pin(Socket(Arc::clone(&self.0)))
    }

    fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let (length, sender) = ready!(self.0.poll_recv_from(cx, &mut buffers[0]))?;
        (meta[0].addr, meta[0].len, meta[0].stride) = (sender, length, length);
        Poll::Ready(Ok(1))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.0.local_addr())
    }
}

impl UdpSender for Socket {
    fn poll_send(
        self: Pin<&mut Self>,
        transmit: &Transmit<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.poll_send_to(cx, transmit.contents, transmit.destination).map_ok(drop)
    }
}
