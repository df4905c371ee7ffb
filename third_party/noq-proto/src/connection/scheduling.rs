//! A connection with several paths and a [`PathScheduler`](crate::PathScheduler)

use alloc::vec::Vec;
use core::time::Duration;

use super::{
    Connection, Instant, PathId,
    spaces::{LostPacket, PendingAcks, SentPacket},
};
use crate::{SchedulablePath, packet::SpaceId};

/// An ACK frame of as many ranges as are kept, and something beside it
const ROOM_FOR_ACKS: usize = 600;

impl Connection {
    /// Asks the scheduler which paths may carry data; see [`Connection::ranking`]
    pub(super) fn rank_paths(&mut self) {
        self.ranking = None;
        if !self.state.is_established() {
            return;
        }
        let Some(mut scheduler) = self.scheduler.take() else {
            return;
        };
        let usable = self.usable_paths();
        if usable.len() > 1 {
            let mut ranked: Vec<_> = usable.iter().map(|id| self.schedulable(*id)).collect();
            if usable.iter().any(|id| !self.is_silent(*id)) {
                ranked.retain(|path| !self.is_silent(path.id));
            }
            scheduler.rank(&mut ranked);
            self.ranking = Some(ranked.into_iter().map(|path| path.id).collect());
        }
        self.scheduler = Some(scheduler);
    }

    /// The order in which paths are asked for something to send
    ///
    /// Those that may carry data come last: they have a lot to say, and the others have little.
    pub(super) fn paths_in_turn(&self) -> Vec<PathId> {
        let mut turns: Vec<PathId> = self.paths.keys().copied().collect();
        if let Some(ranking) = &self.ranking {
            turns.retain(|id| !ranking.contains(id));
            turns.extend(ranking);
        }
        turns
    }

    /// Whether a path may carry data as far as the scheduler is concerned
    pub(super) fn is_scheduled(&self, path_id: PathId) -> bool {
        let Some(ranking) = &self.ranking else {
            return true;
        };
        let probes = || self.spaces[SpaceId::Data].path_space(path_id).map_or(0, |s| s.loss_probes);
        ranking.contains(&path_id) && (!self.is_silent(path_id) || probes() > 0)
    }

    /// Tells the scheduler of a datagram that has to be acknowledged
    pub(super) fn tell_scheduler(&mut self, path_id: PathId, in_flight_before: u64) {
        if self.ranking.is_some()
            && self.path_data(path_id).in_flight.bytes > in_flight_before
            && let Some(scheduler) = &mut self.scheduler
        {
            scheduler.on_sent(path_id);
        }
    }

    /// The paths whose packets are to be acknowledged now, on the path `carrier`
    pub(super) fn acks_to_send(&self, space_id: SpaceId, carrier: PathId) -> Vec<PathId> {
        self.acks_on(space_id, carrier, PendingAcks::can_send)
    }

    /// The paths whose packets a packet acknowledges that is sent on the path `carrier` anyway and
    /// has `room` bytes left
    pub(super) fn acks_to_carry(
        &self,
        space_id: SpaceId,
        carrier: PathId,
        room: usize,
    ) -> Vec<PathId> {
        // What the packet is built for has to fit beside them.
        if room < ROOM_FOR_ACKS {
            return self.acks_to_send(space_id, carrier);
        }
        self.acks_on(space_id, carrier, PendingAcks::can_ride)
    }

    /// With a scheduler each path carries its own acknowledgements if it can: a path that has died
    /// in one direction must not take those of another path along.
    fn acks_on(
        &self,
        space_id: SpaceId,
        carrier: PathId,
        wanted: fn(&PendingAcks) -> bool,
    ) -> Vec<PathId> {
        let spaces = &self.spaces[space_id].number_spaces;
        let due = spaces.iter().filter(|(_, space)| wanted(&space.pending_acks));
        let travels_here = |id: &PathId| {
            *id == carrier
                || space_id != SpaceId::Data
                || self.ranking.is_none()
                || !self.is_usable(*id)
        };
        due.map(|(id, _)| *id).filter(travels_here).collect()
    }

    /// At a probe timeout of a path beside which there are others: what is in flight on it is lost
    /// as far as the connection is concerned, so that others carry it
    ///
    /// The path may be well and only slow; what arrives twice does no harm. The controller hears of
    /// the first timeout as of a loss, and of the second in a row, when three probe timeouts have
    /// passed, as of persistent congestion (RFC 9002 section 7.6). What is lost later are probes.
    pub(super) fn give_up_flight(&mut self, now: Instant, path_id: PathId) {
        let may_leave = |id: &PathId| *id != path_id;
        if self.scheduler.is_none() || !self.usable_paths().iter().any(may_leave) {
            return;
        }
        self.drain_lost_packets(now, SpaceId::Data, path_id);
        let timeouts = self.path_data(path_id).pto_count;
        let probe = self.path_data(path_id).mtud.in_flight_mtu_probe();
        let flight = self.spaces[SpaceId::Data].for_path(path_id).sent_packets.iter();
        let flight = flight.map(|(number, _)| number).filter(|number| Some(*number) != probe);
        let (mut bytes, mut last) = (0, None);
        for number in flight.collect::<Vec<_>>() {
            if let Some(info) = self.spaces[SpaceId::Data].for_path(path_id).take(number) {
                bytes += u64::from(info.size);
                last = Some((number, info.time_sent));
                self.give_up_packet(now, path_id, number, info);
            }
        }
        if let Some((number, sent)) = last
            && timeouts < 2
        {
            let is_persistent = timeouts == 1;
            // The probes were sent when the window was last reduced, and would not count.
            let sent = if is_persistent { now } else { sent };
            self.path_stats.get_mut(path_id).congestion_events += 1;
            let controller = &mut self.path_data_mut(path_id).congestion;
            controller.on_congestion_event(now, sent, is_persistent, false, bytes, number);
        }
    }

    fn give_up_packet(&mut self, now: Instant, path_id: PathId, number: u64, info: SentPacket) {
        let space = SpaceId::Data.kind();
        self.qlog.emit_packet_lost(number, &info, Duration::ZERO, space, now);
        if let Some(state) = self.paths.get_mut(&path_id) {
            state.remove_in_flight(&info);
        }
        let stats = self.path_stats.get_mut(path_id);
        stats.lost_packets += 1;
        stats.lost_bytes += u64::from(info.size);
        for frame in info.stream_frames {
            self.streams.retransmit(frame);
        }
        self.spaces[SpaceId::Data].pending |= info.retransmits;
        let path = self.path_data_mut(path_id);
        path.pending |= info.path_retransmits;
        path.congestion.on_packet_lost(info.size, number, now);
        let lost = LostPacket { time_sent: info.time_sent, is_given_up: true };
        self.spaces[SpaceId::Data].for_path(path_id).lost_packets.insert(number, lost);
    }

    /// Whether nothing has come back from a path since its probe timer ran out
    fn is_silent(&self, path_id: PathId) -> bool {
        self.path_data(path_id).pto_count > 0
    }

    fn usable_paths(&self) -> Vec<PathId> {
        let ids = self.paths.keys().copied();
        ids.filter(|id| self.is_usable(*id)).collect()
    }

    /// Whether a path may carry anything that is not its own
    fn is_usable(&self, path_id: PathId) -> bool {
        self.path(path_id).is_some_and(|path| path.validated)
            && self.remote_cids.contains_key(&path_id)
            && !self.abandoned_paths.contains(&path_id)
    }

    fn schedulable(&self, path_id: PathId) -> SchedulablePath {
        let path = self.path_data(path_id);
        SchedulablePath {
            id: path_id,
            network_path: path.network_path,
            rtt: path.rtt.get(),
            local_status: path.local_status(),
            remote_status: path.remote_status(),
        }
    }
}
