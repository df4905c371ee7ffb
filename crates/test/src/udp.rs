//! UDP.

use std::future::poll_fn;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

use trackbed_core::packet::Ecn;
use trackbed_substrate::{Datagram, ReceivedMeta, yield_now};

use crate::end::End;

/// A UDP socket of an end. Of several tasks that wait to receive, only the last one is woken.
///
/// ```
/// use trackbed_test::{Link, Track, UdpSocket};
///
/// let mut track = Track::new(1);
/// let (a, b) = track.link(Link::new());
/// let length = track.run(async {
///     let receiver = UdpSocket::bind(&b, b.address(5000)).unwrap();
///     let sender = UdpSocket::bind(&a, a.address(0)).unwrap();
///     sender.send_to(b"hello", b.address(5000)).await.unwrap();
///     receiver.recv_from(&mut [0; 100]).await.unwrap().0
/// });
/// assert_eq!(length, 5);
/// ```
#[derive(Debug)]
pub struct UdpSocket(Box<dyn trackbed_substrate::UdpSocket>);

impl UdpSocket {
    /// Binds a socket of `end` to one of its addresses, or to all of one IP version (`0.0.0.0` or
    /// `::`). Port 0 takes a free port.
    ///
    /// # Errors
    /// If another socket has the port, or the address is not the end's.
    ///
    /// ```
    /// # use trackbed_test::{Link, Track, UdpSocket};
    /// # let mut track = Track::new(1);
    /// # let (a, _) = track.link(Link::new());
    /// track.run(async {
    ///     let _first = UdpSocket::bind(&a, a.address(53)).unwrap();
    ///     let again = UdpSocket::bind(&a, a.address(53)).unwrap_err();
    ///     assert_eq!(again.to_string(), "10.0.0.1:53 is in use; choose another port");
    /// });
    /// ```
    pub fn bind(end: &End, local: SocketAddr) -> io::Result<UdpSocket> {
        Ok(UdpSocket(end.host()?.bind_udp(local)?))
    }

    /// The address that it is bound to.
    ///
    /// ```
    /// # use trackbed_test::{Link, Track, UdpSocket};
    /// # let mut track = Track::new(1);
    /// # let (a, _) = track.link(Link::new());
    /// track.run(async {
    ///     let socket = UdpSocket::bind(&a, a.address(53)).unwrap();
    ///     assert_eq!(socket.local_addr(), a.address(53));
    /// });
    /// ```
    pub fn local_addr(&self) -> SocketAddr {
        self.0.local_addr()
    }

    /// Sends a datagram. Returns its length.
    ///
    /// # Errors
    /// If UDP cannot carry it, or `target` has another IP version. Losses are no errors.
    ///
    /// ```
    /// # use trackbed_test::{Link, Track, UdpSocket};
    /// # let mut track = Track::new(1);
    /// # let (a, b) = track.link(Link::new());
    /// track.run(async {
    ///     let socket = UdpSocket::bind(&a, a.address(0)).unwrap();
    ///     assert_eq!(socket.send_to(b"hello", b.address(5000)).await.unwrap(), 5);
    /// });
    /// ```
    pub async fn send_to(&self, payload: &[u8], target: SocketAddr) -> io::Result<usize> {
        // A test that sends without end then fails, because too much happens at one instant.
        yield_now().await;
        poll_fn(|cx| self.poll_send_to(cx, payload, target)).await
    }

    /// Waits for a datagram. Returns its length and its sender. What does not fit `buffer` is lost.
    ///
    /// # Errors
    /// If the socket no longer works.
    ///
    /// ```
    /// # use trackbed_test::{Link, Track, UdpSocket};
    /// # let mut track = Track::new(1);
    /// # let (a, b) = track.link(Link::new());
    /// track.run(async {
    ///     let sender = UdpSocket::bind(&a, a.address(9)).unwrap();
    ///     let receiver = UdpSocket::bind(&b, b.address(5000)).unwrap();
    ///     sender.send_to(b"hello", b.address(5000)).await.unwrap();
    ///     assert_eq!(receiver.recv_from(&mut [0; 9]).await.unwrap(), (5, a.address(9)));
    /// });
    /// ```
    pub async fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        poll_fn(|cx| self.poll_recv_from(cx, buffer)).await
    }

    /// [`UdpSocket::send_to`] for a library that polls.
    ///
    /// # Errors
    /// Those of [`UdpSocket::send_to`].
    ///
    /// ```
    /// # use trackbed_test::{Link, Track, UdpSocket};
    /// # let mut track = Track::new(1);
    /// # let (a, b) = track.link(Link::new());
    /// track.run(async {
    ///     let socket = UdpSocket::bind(&a, a.address(0)).unwrap();
    ///     let target = b.address(5000);
    ///     let sent = std::future::poll_fn(|cx| socket.poll_send_to(cx, b"hello", target));
    ///     assert_eq!(sent.await.unwrap(), 5);
    /// });
    /// ```
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        payload: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        let (destination, ecn) = (target, Ecn::NotCapable);
        let datagram = Datagram { source: None, destination, ecn, payload, segment_size: None };
        self.0.poll_send(cx, &datagram).map_ok(|()| payload.len())
    }

    /// [`UdpSocket::recv_from`] for a library that polls.
    ///
    /// # Errors
    /// Those of [`UdpSocket::recv_from`].
    ///
    /// ```
    /// # use trackbed_test::{Link, Track, UdpSocket};
    /// # let mut track = Track::new(1);
    /// # let (a, _) = track.link(Link::new());
    /// track.run(async {
    ///     let socket = UdpSocket::bind(&a, a.address(0)).unwrap();
    ///     socket.send_to(b"hello", socket.local_addr()).await.unwrap();
    ///     let mut buffer = [0; 9];
    ///     let got = std::future::poll_fn(|cx| socket.poll_recv_from(cx, &mut buffer)).await;
    ///     assert_eq!(got.unwrap(), (5, socket.local_addr()));
    /// });
    /// ```
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        let mut meta = [ReceivedMeta::default()];
        let buffers = &mut [IoSliceMut::new(buffer)];
        let _one = ready!(self.0.poll_recv(cx, buffers, &mut meta))?;
        Poll::Ready(Ok((meta[0].len, meta[0].source)))
    }
}
