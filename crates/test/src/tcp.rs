//! TCP.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::ReadBuf;
use trackbed_substrate::TcpOptions;

use crate::end::End;

/// A TCP listener of an end.
///
/// ```
/// use trackbed_test::{Link, TcpListener, TcpStream, Track};
///
/// let mut track = Track::new(1);
/// let (client, server) = track.link(Link::new());
/// track.run(async {
///     let listener = TcpListener::bind(&server, server.address(80)).unwrap();
///     let stream = TcpStream::connect(&client, server.address(80)).await.unwrap();
///     let (_accepted, peer) = listener.accept().await.unwrap();
///     assert_eq!(peer, stream.local_addr());
/// });
/// ```
pub struct TcpListener(Box<dyn trackbed_substrate::TcpListener>);

impl TcpListener {
    /// Listens on an address of `end`, as [`UdpSocket::bind`](crate::UdpSocket::bind).
    ///
    /// # Errors
    /// If another listener has the port, or the address is not the end's.
    ///
    /// ```
    /// # use trackbed_test::{Link, TcpListener, Track};
    /// # let mut track = Track::new(1);
    /// # let (_, b) = track.link(Link::new());
    /// track.run(async {
    ///     let _listener = TcpListener::bind(&b, b.address(80)).unwrap();
    ///     assert!(TcpListener::bind(&b, b.address(80)).is_err());
    /// });
    /// ```
    pub fn bind(end: &End, local: SocketAddr) -> io::Result<TcpListener> {
        Ok(TcpListener(end.host()?.listen_tcp(local, &TcpOptions::default())?))
    }

    /// The address that it listens on.
    ///
    /// ```
    /// # use trackbed_test::{Link, TcpListener, Track};
    /// # let mut track = Track::new(1);
    /// # let (_, b) = track.link(Link::new());
    /// track.run(async {
    ///     let listener = TcpListener::bind(&b, b.address(80)).unwrap();
    ///     assert_eq!(listener.local_addr(), b.address(80));
    /// });
    /// ```
    pub fn local_addr(&self) -> SocketAddr {
        self.0.local_addr()
    }

    /// Waits for the next connection. Returns it and the peer's address.
    ///
    /// # Errors
    /// If the listener no longer works.
    ///
    /// ```
    /// # use trackbed_test::{Link, TcpListener, TcpStream, Track};
    /// # let mut track = Track::new(1);
    /// # let (a, b) = track.link(Link::new());
    /// track.run(async {
    ///     let listener = TcpListener::bind(&b, b.address(80)).unwrap();
    ///     let _stream = TcpStream::connect(&a, b.address(80)).await.unwrap();
    ///     assert_eq!(listener.accept().await.unwrap().1.ip(), a.ip());
    /// });
    /// ```
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let stream = poll_fn(|cx| self.0.poll_accept(cx)).await?;
        let peer = stream.peer_addr();
        Ok((TcpStream(stream), peer))
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TcpListener({})", self.local_addr())
    }
}

/// A TCP connection: real segments, CUBIC, and Linux's loss recovery. It has Tokio's traits
/// `AsyncRead` and `AsyncWrite`. Dropping it closes the connection in the background.
///
/// ```
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use trackbed_test::{Link, TcpListener, TcpStream, Track};
///
/// let mut track = Track::new(1);
/// let (client, server) = track.link(Link::new());
/// let text = track.run(async {
///     let listener = TcpListener::bind(&server, server.address(80)).unwrap();
///     let mut stream = TcpStream::connect(&client, server.address(80)).await.unwrap();
///     stream.write_all(b"hello").await.unwrap();
///     stream.shutdown().await.unwrap();
///     let (mut accepted, _) = listener.accept().await.unwrap();
///     let mut text = String::new();
///     accepted.read_to_string(&mut text).await.unwrap();
///     text
/// });
/// assert_eq!(text, "hello");
/// ```
pub struct TcpStream(Box<dyn trackbed_substrate::TcpStream>);

impl TcpStream {
    /// Connects `end` to `remote`.
    ///
    /// # Errors
    /// If `remote` refuses, does not answer, or has another IP version.
    ///
    /// ```
    /// # use trackbed_test::{Link, TcpStream, Track};
    /// # let mut track = Track::new(1);
    /// # let (a, b) = track.link(Link::new());
    /// track.run(async {
    ///     let refused = TcpStream::connect(&a, b.address(80)).await.unwrap_err();
    ///     assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    /// });
    /// ```
    pub async fn connect(end: &End, remote: SocketAddr) -> io::Result<TcpStream> {
        let connecting = end.host()?.connect_tcp(None, remote, &TcpOptions::default());
        Ok(TcpStream(connecting.await?))
    }

    /// This end's address.
    ///
    /// ```
    /// # use trackbed_test::{Link, TcpListener, TcpStream, Track};
    /// # let mut track = Track::new(1);
    /// # let (a, b) = track.link(Link::new());
    /// track.run(async {
    ///     let _listener = TcpListener::bind(&b, b.address(80)).unwrap();
    ///     let stream = TcpStream::connect(&a, b.address(80)).await.unwrap();
    ///     assert_eq!((stream.local_addr().ip(), stream.peer_addr()), (a.ip(), b.address(80)));
    /// });
    /// ```
    pub fn local_addr(&self) -> SocketAddr {
        self.0.local_addr()
    }

    /// The other end's address.
    ///
    /// ```
    /// # use trackbed_test::{Link, TcpListener, TcpStream, Track};
    /// # let mut track = Track::new(1);
    /// # let (a, b) = track.link(Link::new());
    /// track.run(async {
    ///     let _listener = TcpListener::bind(&b, b.address(80)).unwrap();
    ///     let stream = TcpStream::connect(&a, b.address(80)).await.unwrap();
    ///     assert_eq!(stream.peer_addr(), b.address(80));
    /// });
    /// ```
    pub fn peer_addr(&self) -> SocketAddr {
        self.0.peer_addr()
    }

    /// Switches Nagle's algorithm off (`true`) or on. It is on at first.
    ///
    /// ```
    /// # use trackbed_test::{Link, TcpListener, TcpStream, Track};
    /// # let mut track = Track::new(1);
    /// # let (a, b) = track.link(Link::new());
    /// track.run(async {
    ///     let _listener = TcpListener::bind(&b, b.address(80)).unwrap();
    ///     TcpStream::connect(&a, b.address(80)).await.unwrap().set_nodelay(true);
    /// });
    /// ```
    pub fn set_nodelay(&self, nodelay: bool) {
        self.0.set_nodelay(nodelay);
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TcpStream({} > {})", self.local_addr(), self.peer_addr())
    }
}

impl tokio::io::AsyncRead for TcpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut *self.0).poll_read(cx, buffer.initialize_unfilled()))?;
        buffer.advance(read);
        Poll::Ready(Ok(()))
    }
}

impl tokio::io::AsyncWrite for TcpStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_close(cx)
    }
}
