//! A connection on a single path: one subflow and the two streams that it carries.

use std::net::SocketAddr;

use bytes::Bytes;
use trackbed_core::{Packet, Time};

use crate::config::Config;
use crate::error::TcpError;
use crate::segment::Segment;
use crate::sequence::Seq;
use crate::stats::Stats;
use crate::stream::ByteStreams;
use crate::subflow::{State, Subflow};

/// One TCP connection, see the [call contract](crate#the-call-contract).
#[derive(Debug)]
pub struct Connection {
    subflow: Subflow,
    streams: ByteStreams,
    closed: bool,
}

impl Connection {
    /// An active open from `local` to `remote`, with `isn` as the first sequence number, which
    /// should be drawn at random (RFC 9293 section 3.4.1).
    ///
    /// # Panics
    /// If the addresses differ in family, as soon as a packet is built.
    pub fn connect(
        now: Time,
        config: &Config,
        local: SocketAddr,
        remote: SocketAddr,
        isn: u32,
    ) -> Connection {
        Connection::new(config, Subflow::connect(now, config, local, remote, isn))
    }

    /// A passive open in answer to `syn`.
    pub fn accept(now: Time, config: &Config, syn: &Segment, isn: u32) -> Connection {
        Connection::new(config, Subflow::accept(now, config, syn, isn))
    }

    fn new(config: &Config, subflow: Subflow) -> Connection {
        Connection { subflow, streams: ByteStreams::new(config.send_buffer), closed: false }
    }

    /// Handles any segment that arrived for this connection.
    pub fn handle_segment(&mut self, now: Time, segment: Segment) {
        self.subflow.handle_segment(now, &segment, &mut self.streams);
        self.tidy();
    }

    /// A router reported that our packet with sequence number `sequence` exceeds `mtu` bytes (RFC
    /// 1191, RFC 8201). See [`QuotedSegment`](crate::QuotedSegment).
    pub fn handle_too_big(&mut self, now: Time, mtu: u32, sequence: Seq) {
        self.subflow.handle_too_big(now, mtu, sequence);
    }

    /// Fires the timers that are due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.subflow.handle_timeout(now, &mut self.streams);
        self.tidy();
    }

    /// The next packet to send. After every other call that changes the connection, call this until
    /// it returns `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.subflow.poll_transmit(now, &mut self.streams)
    }

    /// When to call [`Connection::handle_timeout`]; `None` for never. Any call that takes `&mut
    /// self` may change it.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.subflow.poll_timeout()
    }

    /// Takes as much of `data` as fits into the send buffer and returns its length; on zero, wait
    /// until [`Connection::is_writable`]. Data may be written before the connection is established.
    ///
    /// # Errors
    /// If the connection failed, or was closed by [`Connection::close`].
    pub fn write(&mut self, _now: Time, mut data: &[u8]) -> Result<usize, TcpError> {
        self.check_writing()?;
        Ok(self.streams.send.write(&mut data))
    }

    /// Like [`Connection::write`], without a copy: the taken bytes are split off the front of
    /// `data`.
    ///
    /// # Errors
    /// If the connection failed, or was closed by [`Connection::close`].
    pub fn write_bytes(&mut self, _now: Time, data: &mut Bytes) -> Result<usize, TcpError> {
        self.check_writing()?;
        Ok(self.streams.send.write(data))
    }

    /// The next received bytes, at most `max`: `None` if there are none now, empty at the end of
    /// the peer's stream. Bytes that arrived before a failure can still be read.
    ///
    /// # Errors
    /// If the connection failed and everything that arrived was read.
    pub fn read(&mut self, now: Time, max: usize) -> Result<Option<Bytes>, TcpError> {
        let Some(data) = self.streams.receive.read(max) else {
            return self.subflow.error.map_or(Ok(None), Err);
        };
        if !data.is_empty() {
            let len = data.len();
            self.subflow.data_read(now, len, &mut self.streams);
        }
        Ok(Some(data))
    }

    /// Half-closes: a FIN follows what was written. The peer may go on sending.
    pub fn close(&mut self, _now: Time) {
        self.closed = true;
        self.streams.send.finish();
        self.subflow.close();
    }

    /// Aborts the connection, with a reset if the peer knows of it.
    pub fn abort(&mut self, _now: Time) {
        self.subflow.abort();
        self.tidy();
    }

    /// The local address.
    pub fn local(&self) -> SocketAddr {
        self.subflow.local
    }

    /// The peer's address.
    pub fn remote(&self) -> SocketAddr {
        self.subflow.remote
    }

    /// The state of RFC 9293.
    pub fn state(&self) -> State {
        self.subflow.state
    }

    /// True if [`Connection::read`] returns something: data, the end or an error.
    pub fn is_readable(&self) -> bool {
        self.streams.receive.is_readable() || self.error().is_some()
    }

    /// True if writing is worthwhile: a third of the send buffer is free, or writing returns an
    /// error. Call it after draining [`Connection::poll_transmit`], which may enlarge the buffer
    /// for a refused writer.
    pub fn is_writable(&self) -> bool {
        self.check_writing().is_err() || self.streams.send.is_writable()
    }

    /// True once the handshake is done and until the connection is gone, half-closed states
    /// included.
    pub fn is_established(&self) -> bool {
        !matches!(self.state(), State::SynSent | State::SynReceived | State::Closed)
    }

    /// True if the connection is gone except for unread data. A reset may still wait in
    /// [`Connection::poll_transmit`].
    pub fn is_closed(&self) -> bool {
        self.state() == State::Closed
    }

    /// Why the connection failed.
    pub fn error(&self) -> Option<TcpError> {
        self.subflow.error
    }

    /// Switches Nagle's algorithm.
    pub fn set_nagle(&mut self, _now: Time, nagle: bool) {
        self.subflow.set_nagle(nagle);
    }

    /// Counters and estimates.
    pub fn stats(&self) -> Stats {
        self.subflow.stats()
    }

    fn check_writing(&self) -> Result<(), TcpError> {
        TcpError::check_writing(self.error(), self.closed || self.is_closed())
    }

    /// Data that can no longer be sent is dropped.
    fn tidy(&mut self) {
        if self.is_closed() {
            self.streams.send.clear();
        }
    }
}
