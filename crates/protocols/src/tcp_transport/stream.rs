//! One TCP connection, plain or inside TLS.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use futures_util::future::Either;
use trackbed_connection::{Security, TransportStats};
use trackbed_core::Time;
use trackbed_substrate::{PathWish, TcpPath};

use super::tls_stream::TlsStream;
use super::watched::Watched;
use crate::path_control::{PathControl, Steered};
use crate::tls::{TlsClient, TlsServer};

/// A handle on a connection. Clones share it; read and write in a single task, because TLS may have
/// to write in order to read.
#[derive(Clone)]
pub(crate) struct Stream(Rc<RefCell<Layers>>);

/// TCP, plain or inside TLS.
type Layers = Either<Watched, Box<TlsStream>>;

impl Stream {
    /// The client's side, ready for a request: after the handshake of TLS, or before it where early
    /// data is possible.
    pub(super) async fn connect(tcp: Watched, tls: Option<&TlsClient>) -> io::Result<Stream> {
        let Some(client) = tls else { return Ok(Stream::of(Either::Left(tcp))) };
        let mut tls = TlsStream::client(tcp, client)?;
        if !tls.can_send_early() {
            tls.handshake().await?;
        }
        Ok(Stream::of(Either::Right(Box::new(tls))))
    }

    /// The server's side. The handshake of TLS happens while it is read.
    pub(super) fn accept(tcp: Watched, tls: Option<&TlsServer>) -> io::Result<Stream> {
        let Some(server) = tls else { return Ok(Stream::of(Either::Left(tcp))) };
        Ok(Stream::of(Either::Right(Box::new(TlsStream::server(tcp, server)?))))
    }

    /// The same, registered with path control.
    pub(super) fn entered(self, paths: &PathControl) -> Stream {
        let connection: Weak<RefCell<Layers>> = Rc::downgrade(&self.0);
        paths.enter(connection);
        self
    }

    pub(crate) fn security(&self) -> Option<Security> {
        match &*self.0.borrow() {
            Either::Left(_) => None,
            Either::Right(tls) => tls.security(),
        }
    }

    pub(crate) fn stats(&self) -> TransportStats {
        watched(&self.0.borrow()).tcp().info().into()
    }

    pub(crate) fn peer(&self) -> SocketAddr {
        watched(&self.0.borrow()).tcp().peer_addr()
    }

    /// At a server, when the client began its handshake or its unfinished request; `None` if it
    /// began nothing.
    pub(super) fn opening_since(&self) -> Option<Time> {
        match &*self.0.borrow() {
            Either::Left(tcp) => tcp.first_heard,
            Either::Right(tls) if tls.is_shaking_hands() => Some(tls.tcp.began),
            Either::Right(tls) => tls.first_heard,
        }
    }

    /// Since when the peer has taken no byte of what waits for it.
    pub(super) fn stuck_since(&self) -> Option<Time> {
        watched(&self.0.borrow()).stuck_since
    }

    /// When it last took or gave bytes.
    pub(super) fn progress(&self) -> Rc<Cell<Time>> {
        Rc::clone(&watched(&self.0.borrow()).progress)
    }

    /// Whether the server may still answer, as far as this end knows.
    pub(super) fn is_open(&self) -> bool {
        !watched(&self.0.borrow()).tcp().is_ending()
    }

    pub(crate) fn abort(&self) {
        watched(&self.0.borrow()).tcp().abort();
    }

    /// Sends the end of the stream after the written data.
    pub(crate) async fn close(&mut self) -> io::Result<()> {
        poll_fn(|cx| Pin::new(&mut *self).poll_close(cx)).await
    }

    fn of(layers: Layers) -> Stream {
        Stream(Rc::new(RefCell::new(layers)))
    }
}

fn watched(layers: &Layers) -> &Watched {
    match layers {
        Either::Left(tcp) => tcp,
        Either::Right(tls) => &tls.tcp,
    }
}

impl Steered for RefCell<Layers> {
    fn set_path(&self, end: IpAddr, wish: PathWish) -> bool {
        watched(&self.borrow()).tcp().set_path(end, wish)
    }

    fn paths(&self) -> Vec<TcpPath> {
        watched(&self.borrow()).tcp().paths()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_close(cx)
    }
}
