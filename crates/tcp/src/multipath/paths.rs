//! The paths of a connection: joins, addresses, priorities and their state.

use std::net::{IpAddr, SocketAddr};

use trackbed_core::Time;

use super::config::Endpoint;
use super::connection::MultipathConnection;
use super::join::{JoinError, join_token};
use super::link::{Link, Notice, Stage};
use super::manager::JoinRequest;
use super::shared::{Mode, MultipathStats};
use super::{Path, Subflow};
use crate::schedulers::PathId;
use crate::segment::{AddAddress, Join, Segment};
use crate::stats::Stats;
use crate::subflow::State;

/// The state of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathInfo {
    /// Its number; the first subflow has 0.
    pub id: PathId,
    /// Our address.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
    /// The state of its subflow.
    pub state: State,
    /// It may carry data.
    pub ready: bool,
    /// Our side asked to use it only if there is no other.
    pub backup_here: bool,
    /// The peer asked for that.
    pub backup_there: bool,
    /// It makes no progress, and others carry its data.
    pub stale: bool,
    /// Its subflow's counters.
    pub stats: Stats,
}

impl MultipathConnection {
    /// The peer's name for this connection in an MP_JOIN, while it can be joined.
    pub fn token(&self) -> Option<u32> {
        (self.shared.mode != Mode::Plain && !self.is_closed())
            .then(|| self.shared.local_key.token())
    }

    /// A subflow that the connection wants to open. After every call that changes the connection,
    /// call this until it returns `None`.
    pub fn poll_join(&mut self) -> Option<JoinRequest> {
        self.manager.next_request()
    }

    /// Opens a requested subflow from `port`. `isn` and `nonce` should be drawn at random. Returns
    /// the addresses of its ends.
    pub fn join(
        &mut self,
        now: Time,
        request: &JoinRequest,
        port: u16,
        isn: u32,
        nonce: u32,
    ) -> (SocketAddr, SocketAddr) {
        let ends = (SocketAddr::new(request.local, port), request.remote);
        let Some(remote_key) = self.shared.remote_key else { return ends };
        let stage = Stage::Joining { nonce, token: remote_key.token() };
        let mut link = Link::new(PathId(self.next_id), stage, isn);
        link.local_id = request.local_id;
        link.backup_here = request.backup;
        let subflow = Subflow::connect(now, &self.config.tcp, ends.0, ends.1, isn);
        self.add_path(subflow, link);
        ends
    }

    /// Answers a SYN with MP_JOIN for this connection. `isn` and `nonce` should be drawn at random.
    ///
    /// # Errors
    /// If it is for another connection or there is no room. Then answer the SYN with
    /// [`refuse_join`](super::refuse_join).
    pub fn accept_join(
        &mut self,
        now: Time,
        syn: &Segment,
        isn: u32,
        nonce: u32,
    ) -> Result<(), JoinError> {
        let join = syn.options.multipath.as_ref().and_then(|options| options.join);
        let Some(Join::Syn { backup, address_id, nonce: remote_nonce, .. }) = join else {
            return Err(JoinError::NotForUs);
        };
        if join_token(syn) != Some(self.shared.local_key.token()) {
            return Err(JoinError::NotForUs);
        }
        let ends = self.done || self.error.is_some();
        if !self.shared.is_multipath() || ends {
            return Err(JoinError::NotMultipath);
        }
        if self.paths.len() > self.config.subflows_max {
            return Err(JoinError::TooMany);
        }
        let stage = Stage::Joined { nonce, remote_nonce };
        let mut link = Link::new(PathId(self.next_id), stage, isn);
        link.local_id = self.manager.id_of(syn.destination.ip());
        link.backup_here = self.manager.is_backup(syn.destination.ip());
        (link.remote_id, link.backup_there) = (address_id, backup);
        let mut subflow = Subflow::accept(now, &self.config.tcp, syn, isn);
        subflow.reserve_options(self.shared.option_room());
        self.add_path(subflow, link);
        Ok(())
    }

    fn add_path(&mut self, subflow: Subflow, link: Link) {
        let tcp = &self.config.tcp;
        let controller = (tcp.congestion.build)(tcp.hystart, &self.coupling);
        self.next_id += 1;
        self.shared.linear = false;
        self.timers.clear(super::timers::Alarm::Orphan);
        let path = Path::new(subflow.with_controller(controller), link);
        self.paths.push(path);
        self.shared.live = self.paths.len();
    }

    /// Asks the peer to use a path only if there is no other, or to use it normally again (MP_PRIO,
    /// RFC 8684 section 3.3.8), and does the same here. The message is sent once: call this again
    /// if it may be lost. False if there is no such path.
    pub fn set_backup(&mut self, _now: Time, id: PathId, backup: bool) -> bool {
        let found = self.paths.iter_mut().find(|path| path.link.id == id && path.is_ready());
        let Some(path) = found.filter(|_| self.shared.is_multipath()) else { return false };
        path.link.backup_here = backup;
        path.link.notices.push_back(Notice::Priority(backup));
        path.quiet = false;
        self.shared.events.stirred = true;
        true
    }

    /// Marks a path as not to be used for now; a
    /// [`handover_aware`](crate::schedulers::handover_aware) scheduler honours it. If the connection is
    /// [reactive](super::MultipathConfig::reactive), others carry what is in flight. False if there is no
    /// such path.
    pub fn set_blocked(&mut self, _now: Time, id: PathId, blocked: bool) -> bool {
        let Some(path) = self.paths.iter_mut().find(|path| path.link.id == id) else {
            return false;
        };
        let leaves = self.config.reactive && blocked && !path.blocked;
        path.blocked = blocked;
        if leaves && self.shared.is_multipath() {
            self.shared.send.repeat_all(id, false);
        }
        self.shared.events.stirred = true;
        true
    }

    /// The host has another address.
    pub fn add_address(&mut self, now: Time, endpoint: Endpoint) {
        self.manager.add_address(now, endpoint);
        self.settle(now);
    }

    /// The host lost an address: its subflows end, and the peer is told (REMOVE_ADDR, RFC 8684
    /// section 3.4.2) once a path is available.
    pub fn remove_address(&mut self, now: Time, address: IpAddr) {
        let id = self.manager.remove_address(address);
        for path in self.paths.iter_mut().filter(|path| path.subflow.local.ip() == address) {
            path.subflow.drop_silently();
            path.quiet = false;
        }
        if let Some(id) = id
            && let Some(path) = self.paths.iter_mut().find(|path| path.is_ready())
        {
            path.link.notices.push_back(Notice::RemoveAddress(id));
            path.quiet = false;
        }
        self.settle(now);
    }

    pub(super) fn settle_addresses(&mut self, now: Time) {
        let events = &mut self.shared.events;
        if !events.announced.is_empty() || !events.echoed.is_empty() || !events.removed.is_empty() {
            self.take_addresses(now);
        }
        if !self.manager.is_idle() {
            self.expire_manager(now);
        }
    }

    fn take_addresses(&mut self, now: Time) {
        let events = &mut self.shared.events;
        for id in std::mem::take(&mut events.echoed) {
            self.manager.echoed(id);
        }
        for AddAddress { id, address, port, .. } in std::mem::take(&mut events.announced) {
            let port = port.unwrap_or(self.manager.default_port());
            self.manager.announced(id, SocketAddr::new(address, port));
        }
        for id in std::mem::take(&mut events.removed) {
            self.manager.withdrawn(id);
            for path in self.paths.iter_mut().filter(|path| path.link.remote_id == id) {
                path.abort(now);
            }
        }
    }

    pub(super) fn expire_manager(&mut self, now: Time) {
        if !self.shared.is_multipath() {
            // After a fallback there is one path (section 3.7).
            return self.manager.stop();
        }
        let room = (self.config.subflows_max + 1).saturating_sub(self.paths.len());
        self.manager.plan(now, room);
        let Some(keys) = self.shared.keys() else { return };
        while let Some(path) = self.paths.iter_mut().find(|path| path.is_ready())
            && let Some((id, address)) = self.manager.next_announcement(now)
        {
            let hmac = Some(keys.address(id, address, None));
            let option = AddAddress { id, address, port: None, hmac };
            path.link.notices.push_back(Notice::AddAddress(option));
            path.quiet = false;
        }
    }

    /// The paths, in the order of their numbers.
    pub fn paths(&self) -> impl Iterator<Item = PathInfo> + '_ {
        self.paths.iter().map(|path| PathInfo {
            id: path.link.id,
            local: path.subflow.local,
            remote: path.subflow.remote,
            state: path.subflow.state,
            ready: path.is_ready(),
            backup_here: path.link.backup_here,
            backup_there: path.link.backup_there,
            stale: path.stale,
            stats: path.subflow.stats(),
        })
    }

    /// True if the connection is Multipath TCP: both sides agreed, and options get through.
    pub fn is_multipath(&self) -> bool {
        self.shared.mode == Mode::Confirmed
    }

    /// Counters and estimates of all subflows together; bytes are those of the stream, and the
    /// round-trip time is that of the fastest.
    pub fn stats(&self) -> Stats {
        let subflows = self.paths.iter().map(|path| path.subflow.stats());
        let sum = subflows.fold(self.past, |all, stats| sum(all, &stats));
        Stats {
            bytes_sent: self.shared.counters.bytes_sent,
            bytes_acknowledged: self.shared.send.una,
            bytes_received: self.shared.receive.bytes_received,
            send_window_bytes: self.shared.send.window_room().min(u32::MAX.into()) as u32,
            ..sum
        }
    }

    /// What is counted at the data level.
    pub fn multipath_stats(&self) -> MultipathStats {
        MultipathStats {
            bytes_received: self.shared.receive.bytes_received,
            bytes_duplicate: self.shared.receive.bytes_duplicate,
            subflows: self.next_id,
            plain: self.shared.mode == Mode::Plain,
            ..self.shared.counters
        }
    }
}

/// Counters of two subflows together. Estimates are those of the faster one, windows add up.
pub(super) fn sum(a: Stats, b: &Stats) -> Stats {
    let lower = |x: std::time::Duration, y| {
        [x, y].into_iter().filter(|rtt| !rtt.is_zero()).min().unwrap_or_default()
    };
    Stats {
        segments_sent: a.segments_sent + b.segments_sent,
        segments_received: a.segments_received + b.segments_received,
        bytes_sent: a.bytes_sent + b.bytes_sent,
        bytes_acknowledged: a.bytes_acknowledged + b.bytes_acknowledged,
        bytes_received: a.bytes_received + b.bytes_received,
        retransmissions: a.retransmissions + b.retransmissions,
        spurious_retransmissions: a.spurious_retransmissions + b.spurious_retransmissions,
        timeouts: a.timeouts + b.timeouts,
        tail_loss_probes: a.tail_loss_probes + b.tail_loss_probes,
        undos: a.undos + b.undos,
        srtt: lower(a.srtt, b.srtt),
        min_rtt: lower(a.min_rtt, b.min_rtt),
        rto: a.rto.max(b.rto),
        cwnd_segments: a.cwnd_segments.saturating_add(b.cwnd_segments),
        ssthresh_segments: a.ssthresh_segments.max(b.ssthresh_segments),
        in_flight_segments: a.in_flight_segments + b.in_flight_segments,
        mss_bytes: a.mss_bytes.max(b.mss_bytes),
        send_window_bytes: a.send_window_bytes.saturating_add(b.send_window_bytes),
        receive_window_bytes: a.receive_window_bytes.max(b.receive_window_bytes),
    }
}
