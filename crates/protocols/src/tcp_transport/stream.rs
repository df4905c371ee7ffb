//! One TCP connection, plain or inside TLS.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
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

pub(super) enum Layers {
    Plain(Watched),
    Tls(Box<TlsStream>),
}

impl Stream {
    pub(super) fn plain(tcp: Watched) -> Stream {
        Stream::of(Layers::Plain(tcp))
    }

    /// The client's side of TLS, ready for a request: after the handshake, or before it where
    /// early data is possible.
    pub(super) async fn connect_tls(tcp: Watched, client: &TlsClient) -> io::Result<Stream> {
        let mut tls = TlsStream::client(tcp, client)?;
        if !tls.can_send_early() {
            tls.handshake().await?;
        }
        Ok(Stream::of(Layers::Tls(Box::new(tls))))
    }

    /// The server's side of TLS. The handshake happens while it is read.
    pub(super) fn accept_tls(tcp: Watched, server: &TlsServer) -> io::Result<Stream> {
        let tls = TlsStream::server(tcp, server)?;
        Ok(Stream::of(Layers::Tls(Box::new(tls))))
    }

    /// The same, registered with path control.
    pub(super) fn entered(self, paths: &PathControl) -> Stream {
        let connection: Weak<RefCell<Layers>> = Rc::downgrade(&self.0);
        paths.enter(connection);
        self
    }

    pub(crate) fn security(&self) -> Option<Security> {
        match &*self.0.borrow() {
            Layers::Plain(_) => None,
            Layers::Tls(tls) => tls.security(),
        }
    }

    pub(crate) fn stats(&self) -> TransportStats {
        self.0.borrow().tcp().info().into()
    }

    pub(crate) fn peer(&self) -> SocketAddr {
        self.0.borrow().tcp().peer_addr()
    }

    /// At a server, when the client began its handshake or its unfinished request; `None` if it
    /// began nothing.
    pub(super) fn opening_since(&self) -> Option<Time> {
        match &*self.0.borrow() {
            Layers::Plain(tcp) => tcp.first_heard(),
            Layers::Tls(tls) if tls.is_shaking_hands() => Some(tls.tcp().began()),
            Layers::Tls(tls) => tls.first_heard(),
        }
    }

    /// When it last took or gave bytes.
    pub(super) fn progress(&self) -> Rc<Cell<Time>> {
        self.0.borrow().tcp().progress()
    }

    pub(crate) fn abort(&self) {
        self.0.borrow().tcp().abort();
    }

    /// Sends the end of the stream after the written data.
    pub(crate) async fn close(&mut self) -> io::Result<()> {
        poll_fn(|cx| Pin::new(&mut *self).poll_close(cx)).await
    }

    fn of(layers: Layers) -> Stream {
        Stream(Rc::new(RefCell::new(layers)))
    }
}

impl Layers {
    pub(super) fn tcp(&self) -> &Watched {
        match self {
            Layers::Plain(tcp) => tcp,
            Layers::Tls(tls) => tls.tcp(),
        }
    }
}

impl Steered for RefCell<Layers> {
    fn set_path(&self, end: IpAddr, wish: PathWish) -> bool {
        self.borrow().tcp().set_path(end, wish)
    }

    fn paths(&self) -> Vec<TcpPath> {
        self.borrow().tcp().paths()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match &mut *self.0.borrow_mut() {
            Layers::Plain(tcp) => Pin::new(tcp).poll_read(cx, buffer),
            Layers::Tls(tls) => Pin::new(tls).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut *self.0.borrow_mut() {
            Layers::Plain(tcp) => Pin::new(tcp).poll_write(cx, bytes),
            Layers::Tls(tls) => Pin::new(tls).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Layers::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Layers::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self.0.borrow_mut() {
            Layers::Plain(tcp) => Pin::new(tcp).poll_close(cx),
            Layers::Tls(tls) => Pin::new(tls).poll_close(cx),
        }
    }
}
