//! TLS over TCP: rustls driven by a substrate's stream, with early data on both sides.

use std::future::poll_fn;
use std::io::{self, Read as _, Write as _};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};
use rustls::{ClientConnection, Connection, ServerConnection};

use trackbed_connection::Security;
use trackbed_core::Time;
use trackbed_substrate::now;

use super::watched::Watched;
use crate::tls::{Randomness, TlsClient, TlsServer, security};

/// A TLS connection.
///
/// Writes are encrypted at once but passed to TCP when flushed, or when [`OUTGOING_MAX`] bytes have
/// gathered, so that what belongs together leaves together. A server needs no handshake step:
/// reading does it, and what it writes before the client's last message goes out as 0.5-RTT data
/// (RFC 8446 section 2).
pub(super) struct TlsStream {
    pub(super) tcp: Watched,
    tls: Connection,
    randomness: Randomness,
    /// Records for TCP, of which `outgoing_sent` bytes are already there.
    outgoing: Vec<u8>,
    outgoing_sent: usize,
    /// Bytes from TCP, of which those in `unread` are still to be decrypted.
    incoming: Box<[u8]>,
    unread: std::ops::Range<usize>,
    /// What a client has written as early data, in case the server rejects it; `None` if there is none,
    /// or when that is known.
    early: Option<Vec<u8>>,
    close_notify_sent: bool,
    /// When the first bytes inside were read.
    pub(super) first_heard: Option<Time>,
}

impl TlsStream {
    /// The client's side; a handshake, or early data, comes next.
    pub(super) fn client(tcp: Watched, client: &TlsClient) -> io::Result<TlsStream> {
        let name = client.name.clone();
        let mut tls = client
            .randomness
            .scope(|| ClientConnection::new(Arc::clone(&client.config), name))
            .map_err(io::Error::other)?;
        let early = tls.early_data().map(|_| Vec::new());
        let mut stream = TlsStream::new(tcp, tls.into(), client.randomness.clone(), early);
        stream.pump()?;
        Ok(stream)
    }

    pub(super) fn server(tcp: Watched, server: &TlsServer) -> io::Result<TlsStream> {
        let tls = server
            .randomness
            .scope(|| ServerConnection::new(Arc::clone(&server.config)))
            .map_err(io::Error::other)?;
        Ok(TlsStream::new(tcp, tls.into(), server.randomness.clone(), None))
    }

    fn new(
        tcp: Watched,
        mut tls: Connection,
        randomness: Randomness,
        early: Option<Vec<u8>>,
    ) -> TlsStream {
        // `outgoing` has a separate limit.
        tls.set_buffer_limit(None);
        TlsStream {
            tcp,
            tls,
            randomness,
            outgoing: Vec::new(),
            outgoing_sent: 0,
            incoming: vec![0; INCOMING_LEN].into(),
            unread: 0..0,
            early,
            close_notify_sent: false,
            first_heard: None,
        }
    }

    /// Whether a client may send its request before the handshake is done.
    pub(super) fn can_send_early(&self) -> bool {
        self.early.is_some()
    }

    pub(super) async fn handshake(&mut self) -> io::Result<()> {
        poll_fn(|cx| {
            ready!(self.poll_handshake(cx))?;
            self.poll_drain(cx)
        })
        .await
    }

    pub(super) fn is_shaking_hands(&self) -> bool {
        self.tls.is_handshaking()
    }

    pub(super) fn security(&self) -> Option<Security> {
        let early = match &self.tls {
            Connection::Client(tls) => tls.is_early_data_accepted(),
            Connection::Server(_) => false,
        };
        security(&self.tls, early)
    }

    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            // TCP wakes the task when there is room for what is left.
            let _ = self.poll_drain(cx)?;
            if !self.tls.is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            if ready!(self.poll_decrypt(cx))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    /// Reads bytes from TCP and passes them to TLS; zero at the end of the stream.
    fn poll_decrypt(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.unread.is_empty() {
            let len = ready!(Pin::new(&mut self.tcp).poll_read(cx, &mut self.incoming))?;
            self.unread = 0..len;
        }
        let mut bytes = &self.incoming[self.unread.clone()];
        let taken = self.tls.read_tls(&mut bytes)?;
        self.unread.start += taken;
        let digested = self.randomness.scope(|| self.tls.process_new_packets());
        self.pump()?;
        if let Err(error) = digested {
            // The peer is told why, if there is room, and nothing after that (RFC 8446 section 6.2); only the
            // error matters here.
            self.close_notify_sent = true;
            let _ = self.poll_drain(cx);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
        }
        self.settle_early_data()?;
        Poll::Ready(Ok(taken))
    }

    /// After the handshake: what the server rejected is sent again as ordinary data.
    fn settle_early_data(&mut self) -> io::Result<()> {
        let Connection::Client(tls) = &mut self.tls else { return Ok(()) };
        if tls.is_handshaking() {
            return Ok(());
        }
        if let Some(sent) = self.early.take()
            && !tls.is_early_data_accepted()
        {
            tls.writer().write_all(&sent)?;
            self.pump()?;
        }
        Ok(())
    }

    /// Moves the records that TLS has ready to where TCP will get them from.
    fn pump(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.outgoing)?;
        }
        Ok(())
    }

    /// Passes all pending bytes to TCP.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.outgoing_sent < self.outgoing.len() {
            let bytes = &self.outgoing[self.outgoing_sent..];
            match ready!(Pin::new(&mut self.tcp).poll_write(cx, bytes))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                len => self.outgoing_sent += len,
            }
        }
        self.outgoing.clear();
        self.outgoing_sent = 0;
        Poll::Ready(Ok(()))
    }

    /// What a server has received as early data; zero if there is none.
    fn read_early_data(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            Connection::Server(tls) => tls.early_data().map_or(Ok(0), |mut data| data.read(buffer)),
            Connection::Client(_) => Ok(0),
        }
    }

    /// Records that this many bytes were read.
    fn hear(&mut self, len: usize) -> usize {
        if len > 0 && self.first_heard.is_none() {
            self.first_heard = Some(now());
        }
        len
    }

    /// Writes early data; zero if it is no longer possible.
    fn write_early_data(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (Connection::Client(tls), Some(sent)) = (&mut self.tls, &mut self.early) else {
            return Ok(0);
        };
        let len = tls.early_data().map_or(Ok(0), |mut data| data.write(bytes))?;
        sent.extend_from_slice(&bytes[..len]);
        Ok(len)
    }
}

impl AsyncRead for TlsStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        loop {
            match this.read_early_data(buffer)? {
                0 => {}
                len => return Poll::Ready(Ok(this.hear(len))),
            }
            match this.tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Zero after the peer's close_notify, an error if the stream just ended.
                done => return Poll::Ready(done.map(|len| this.hear(len))),
            }
            // The handshake's messages, or an answer to a key update. TCP wakes the task when there
            // is room for what is left.
            let _ = this.poll_drain(cx)?;
            ready!(this.poll_decrypt(cx))?;
        }
    }
}

impl AsyncWrite for TlsStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let bytes = &bytes[..bytes.len().min(OUTGOING_MAX)];
        if this.outgoing.len() >= OUTGOING_MAX {
            ready!(this.poll_drain(cx))?;
        }
        if this.can_send_early() {
            let len = this.write_early_data(bytes)?;
            this.pump()?;
            if len > 0 || bytes.is_empty() {
                return Poll::Ready(Ok(len));
            }
            // The server's limit is reached; the rest goes out after the handshake.
            ready!(this.poll_handshake(cx))?;
        }
        let len = this.tls.writer().write(bytes)?;
        this.pump()?;
        Poll::Ready(Ok(len))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.close_notify_sent {
            self.close_notify_sent = true;
            self.tls.send_close_notify();
            self.pump()?;
        }
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.tcp).poll_close(cx)
    }
}

/// The maximum size of unflushed data: four records.
const OUTGOING_MAX: usize = 64 << 10;
const INCOMING_LEN: usize = 64 << 10;
