//! A connection on several paths, as seen by its application.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use trackbed_core::Time;

use super::config::MultipathConfig;
use super::keys::Key;
use super::link::{Link, Stage};
use super::manager::Manager;
use super::shared::{Mode, Shared};
use super::timers::Timers;
use super::{Path, Scheduler};
use crate::congestion::Coupling;
use crate::error::TcpError;
use crate::schedulers::{PathId, PathView, Reinjection};
use crate::segment::{QuotedSegment, Segment};
use crate::subflow::{State, Subflow, local_mss};

/// One Multipath TCP connection, see the [call contract](super#the-call-contract).
#[derive(Debug)]
pub struct MultipathConnection {
    pub(super) config: MultipathConfig,
    pub(super) shared: Shared,
    /// In the order of their numbers.
    pub(super) paths: Vec<Path>,
    pub(super) next_id: u32,
    pub(super) scheduler: Box<dyn Scheduler>,
    pub(super) reinjection: Reinjection,
    pub(super) views: Vec<PathView>,
    pub(super) coupling: Coupling,
    pub(super) manager: Manager,
    pub(super) timers: Timers,
    pub(super) closed: bool,
    /// Both directions have ended, and the subflows close.
    pub(super) done: bool,
    pub(super) error: Option<TcpError>,
    /// Of subflows that are gone.
    pub(super) past: crate::stats::Stats,
    pub(super) ends: (SocketAddr, SocketAddr),
}

impl MultipathConnection {
    /// An active open of the first subflow from `local` to `remote`, with `isn` as its first
    /// sequence number. `key` and `isn` should be drawn at random, the key so that its token is
    /// unlike those of the host's other connections (RFC 8684 section 3.1).
    ///
    /// # Panics
    /// If the addresses differ in family, as soon as a packet is built.
    pub fn connect(
        now: Time,
        config: &MultipathConfig,
        (local, remote): (SocketAddr, SocketAddr),
        key: Key,
        isn: u32,
    ) -> MultipathConnection {
        let subflow = Subflow::connect(now, &config.tcp, local, remote, isn);
        MultipathConnection::new(config, subflow, true, key, isn)
    }

    /// A passive open in answer to `syn`. Without MP_CAPABLE on it the connection is plain TCP.
    pub fn accept(
        now: Time,
        config: &MultipathConfig,
        syn: &Segment,
        key: Key,
        isn: u32,
    ) -> MultipathConnection {
        let subflow = Subflow::accept(now, &config.tcp, syn, isn);
        let mut connection = MultipathConnection::new(config, subflow, false, key, isn);
        let offer = syn.options.multipath.as_ref().and_then(|options| options.capable);
        match offer {
            Some(offer) => {
                connection.shared.checksum |= offer.checksum;
                let room = connection.shared.option_room();
                connection.paths[0].subflow.reserve_options(room);
            }
            None => connection.carry(0, |_, carrier| carrier.fall_back()),
        }
        connection
    }

    fn new(
        config: &MultipathConfig,
        subflow: Subflow,
        initiator: bool,
        key: Key,
        isn: u32,
    ) -> MultipathConnection {
        let (local, remote) = (subflow.local, subflow.remote);
        let coupling = Coupling::default();
        let controller = (config.tcp.congestion.build)(config.tcp.hystart, &coupling);
        let mss = local_mss(&config.tcp, local);
        let link = Link::new(PathId(0), Stage::First, isn);
        let scheduler = config.build_scheduler();
        MultipathConnection {
            shared: Shared::new(config, initiator, key, mss),
            paths: vec![Path::new(subflow.with_controller(controller), link)],
            next_id: 1,
            reinjection: config.reinjection.unwrap_or(scheduler.reinjection()),
            scheduler,
            views: Vec::new(),
            coupling,
            manager: Manager::new(config, initiator, local, remote),
            timers: Timers::default(),
            closed: false,
            done: false,
            error: None,
            past: Default::default(),
            ends: (local, remote),
            config: config.clone(),
        }
    }

    /// Handles a segment for one of the connection's subflows; others are dropped. Pass a joining
    /// SYN to [`MultipathConnection::accept_join`].
    pub fn handle_segment(&mut self, now: Time, segment: Segment) {
        let Some(index) = self.find(segment.destination, segment.source) else { return };
        self.carry(index, |subflow, carrier| subflow.handle_segment(now, &segment, carrier));
        self.report_acknowledgment(now, index);
        self.settle(now);
    }

    /// A router reported that the packet in `quoted` exceeds `mtu` bytes (RFC 1191, RFC 8201).
    pub fn handle_too_big(&mut self, now: Time, mtu: u32, quoted: &QuotedSegment) {
        if let Some(index) = self.find(quoted.source, quoted.destination) {
            self.carry(index, |subflow, _| subflow.handle_too_big(now, mtu, quoted.sequence));
        }
    }

    /// Fires the timers that are due.
    pub fn handle_timeout(&mut self, now: Time) {
        for index in 0..self.paths.len() {
            if self.paths[index].subflow.poll_timeout().is_some_and(|at| at <= now) {
                self.carry(index, |subflow, carrier| subflow.handle_timeout(now, carrier));
            }
        }
        self.expire(now);
        self.settle(now);
    }

    /// When to call [`MultipathConnection::handle_timeout`]; `None` for never. Any call that takes
    /// `&mut self` may change it.
    pub fn poll_timeout(&self) -> Option<Time> {
        let subflows = self.paths.iter().filter_map(|path| path.subflow.poll_timeout()).min();
        subflows.into_iter().chain(self.timers.next()).chain(self.manager.next_wake()).min()
    }

    /// As [`Connection::write`](crate::Connection::write).
    ///
    /// # Errors
    /// If the connection failed, or was closed by [`MultipathConnection::close`].
    pub fn write(&mut self, _now: Time, mut data: &[u8]) -> Result<usize, TcpError> {
        self.check_writing()?;
        self.shared.events.stirred = true;
        Ok(self.shared.send.write(&mut data))
    }

    /// As [`Connection::write_bytes`](crate::Connection::write_bytes).
    ///
    /// # Errors
    /// If the connection failed, or was closed by [`MultipathConnection::close`].
    pub fn write_bytes(&mut self, _now: Time, data: &mut Bytes) -> Result<usize, TcpError> {
        self.check_writing()?;
        self.shared.events.stirred = true;
        Ok(self.shared.send.write(data))
    }

    /// As [`Connection::read`](crate::Connection::read).
    ///
    /// # Errors
    /// If the connection failed and everything that arrived was read.
    pub fn read(&mut self, now: Time, max: usize) -> Result<Option<Bytes>, TcpError> {
        let Some(data) = self.shared.receive.stream.read(max) else {
            return self.error.map_or(Ok(None), Err);
        };
        if !data.is_empty() {
            let rtt = self.paths.iter().filter_map(|path| path.subflow.receive_rtt()).max();
            let grown = self.shared.receive.data_read(now, data.len(), rtt);
            for index in 0..self.paths.len() {
                self.carry(index, |subflow, carrier| {
                    subflow.application_read(carrier);
                    if grown && subflow.is_synchronized() {
                        carrier.link.acknowledge();
                    }
                });
            }
        }
        Ok(Some(data))
    }

    /// Half-closes: the end of the stream follows what was written. The peer may go on sending.
    pub fn close(&mut self, now: Time) {
        self.closed = true;
        self.shared.send.finish();
        self.settle(now);
    }

    /// Aborts the connection, with a reset on every subflow that covers all of them (MP_FASTCLOSE,
    /// RFC 8684 section 3.5).
    pub fn abort(&mut self, now: Time) {
        for path in &mut self.paths {
            path.link.fast_close = true;
        }
        self.fail(now, TcpError::Aborted);
    }

    /// The local address of the first subflow.
    pub fn local(&self) -> SocketAddr {
        self.ends.0
    }

    /// The peer's address on the first subflow.
    pub fn remote(&self) -> SocketAddr {
        self.ends.1
    }

    /// The state of the connection, named as that of a subflow in the same situation.
    pub fn state(&self) -> State {
        if self.error.is_some() || (self.paths.is_empty() && self.done) {
            return State::Closed;
        }
        if let (Mode::Plain | Mode::Opening, Some(path)) = (self.shared.mode, self.paths.first()) {
            return path.subflow.state;
        }
        let finished = self.shared.receive.finished;
        let acknowledged = self.shared.send.fin_acknowledged;
        match (self.closed, acknowledged, finished) {
            _ if self.done => State::TimeWait,
            (false, _, false) => State::Established,
            (false, _, true) => State::CloseWait,
            (true, false, false) => State::FinWait1,
            (true, false, true) => State::LastAck,
            (true, true, false) => State::FinWait2,
            (true, true, true) => State::TimeWait,
        }
    }

    /// True if [`MultipathConnection::read`] returns something: data, the end or an error.
    pub fn is_readable(&self) -> bool {
        self.shared.receive.stream.is_readable() || self.error.is_some()
    }

    /// True if writing is worthwhile, or returns an error. Call it after draining
    /// [`MultipathConnection::poll_transmit`].
    pub fn is_writable(&self) -> bool {
        let send = &self.shared.send;
        self.check_writing().is_err() || send.buffer.is_writable(send.used())
    }

    /// True once the handshake is done and until the connection is gone, half-closed states
    /// included.
    pub fn is_established(&self) -> bool {
        !matches!(self.state(), State::SynSent | State::SynReceived | State::Closed)
    }

    /// True if the connection is gone except for unread data. Resets may still wait in
    /// [`MultipathConnection::poll_transmit`].
    pub fn is_closed(&self) -> bool {
        self.state() == State::Closed
    }

    /// Why the connection failed.
    pub fn error(&self) -> Option<TcpError> {
        self.error
    }

    /// Switches Nagle's algorithm, on every subflow.
    pub fn set_nagle(&mut self, _now: Time, nagle: bool) {
        self.config.tcp.nagle = nagle;
        self.paths.iter_mut().for_each(|path| path.subflow.set_nagle(nagle));
    }

    pub(super) fn carry<T>(
        &mut self,
        index: usize,
        act: impl FnOnce(&mut Subflow, &mut super::Carrier<'_>) -> T,
    ) -> T {
        self.paths[index].with(&mut self.shared, act)
    }

    /// The longest retransmission timeout of a subflow that may carry data.
    pub(super) fn rto(&self) -> Duration {
        let open = self.paths.iter().filter(|path| path.subflow.is_synchronized());
        open.map(|path| path.subflow.rto()).max().unwrap_or(self.config.tcp.rto.initial)
    }

    fn find(&self, local: SocketAddr, remote: SocketAddr) -> Option<usize> {
        let is_it = |path: &Path| path.subflow.local == local && path.subflow.remote == remote;
        self.paths.iter().position(is_it)
    }

    fn check_writing(&self) -> Result<(), TcpError> {
        TcpError::check_writing(self.error, self.closed || self.is_closed())
    }
}
