//! A connection.

use std::net::SocketAddr;

use bytes::Bytes;
use trackbed_core::{Packet, Time};

use crate::config::Config;
use crate::error::TcpError;
use crate::segment::Segment;
use crate::sequence::Seq;
use crate::stats::Stats;

/// The states of RFC 9293 section 3.3.2. LISTEN is the caller's: it answers a SYN with
/// [`Connection::accept`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Open in both directions.
    Established,
    /// Closed here; our FIN is not yet acknowledged.
    FinWait1,
    /// Closed here and acknowledged; the peer may still send.
    FinWait2,
    /// Closed by the peer; open here.
    CloseWait,
    /// Closed on both sides; our FIN is not yet acknowledged.
    Closing,
    /// Closed by the peer first, then here; our FIN is not yet acknowledged.
    LastAck,
    /// Everything is done; late segments are still answered.
    TimeWait,
    /// No connection: it ended, or failed.
    Closed,
}

/// One TCP connection.
#[derive(Debug)]
pub struct Connection {
    state: State,
    stats: Stats,
}

#[allow(unused_variables, missing_docs)]
impl Connection {
    pub fn connect(
        now: Time,
        config: &Config,
        local: SocketAddr,
        remote: SocketAddr,
        isn: u32,
    ) -> Connection {
        Connection { state: State::SynSent, stats: Stats::default() }
    }

    pub fn accept(now: Time, config: &Config, syn: &Segment, isn: u32) -> Connection {
        Connection { state: State::SynReceived, stats: Stats::default() }
    }

    pub fn handle_segment(&mut self, now: Time, segment: Segment) {}

    /// A router said that our packet with sequence number `sequence` exceeds `mtu` bytes.
    pub fn handle_too_big(&mut self, now: Time, mtu: u32, sequence: Seq) {}

    pub fn handle_timeout(&mut self, now: Time) {}

    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        None
    }

    pub fn poll_timeout(&self) -> Option<Time> {
        None
    }

    pub fn write(&mut self, now: Time, data: &[u8]) -> Result<usize, TcpError> {
        Ok(0)
    }

    /// As `write`, without a copy: takes from the front of `data` what there is room for.
    pub fn write_bytes(&mut self, now: Time, data: &mut Bytes) -> Result<usize, TcpError> {
        Ok(0)
    }

    pub fn read(&mut self, now: Time, max: usize) -> Result<Option<Bytes>, TcpError> {
        Ok(None)
    }

    pub fn close(&mut self, now: Time) {}

    pub fn abort(&mut self, now: Time) {}

    pub fn local(&self) -> SocketAddr {
        ([0, 0, 0, 0], 0).into()
    }

    pub fn remote(&self) -> SocketAddr {
        ([0, 0, 0, 0], 0).into()
    }

    pub fn state(&self) -> State {
        self.state
    }

    pub fn is_readable(&self) -> bool {
        false
    }

    pub fn is_writable(&self) -> bool {
        false
    }

    pub fn is_established(&self) -> bool {
        false
    }

    pub fn is_closed(&self) -> bool {
        false
    }

    pub fn error(&self) -> Option<TcpError> {
        None
    }

    pub fn set_nagle(&mut self, now: Time, nagle: bool) {}

    pub fn stats(&self) -> Stats {
        self.stats
    }
}
