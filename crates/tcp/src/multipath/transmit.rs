//! Assigns data to paths: the scheduler's decisions, and data that is moved to another path.

use trackbed_core::{Packet, Time};

use super::connection::MultipathConnection;
use super::shared::{Mode, Shared};
use super::{Path, timers::Alarm};
use crate::schedulers::{Action, PathAcked, PathId, PathView, View};

impl MultipathConnection {
    /// The next packet to send, of any subflow. After every other call that changes the connection,
    /// call this until it returns `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        loop {
            let mut index = 0;
            while index < self.paths.len() {
                let path = &mut self.paths[index];
                if !path.quiet {
                    let packet = path.with(&mut self.shared, |subflow, carrier| {
                        subflow.poll_transmit(now, carrier)
                    });
                    if packet.is_some() {
                        return packet;
                    }
                    self.paths[index].quiet = true;
                    if self.bury(now, index) {
                        continue;
                    }
                }
                index += 1;
            }
            if !self.distribute(now) {
                return None;
            }
        }
    }

    /// Gives data to paths; true if one of them has something to send now.
    fn distribute(&mut self, now: Time) -> bool {
        match self.shared.mode {
            Mode::Opening => false,
            Mode::Plain => self.give_all(now),
            Mode::Unconfirmed | Mode::Confirmed => self.schedule(now),
        }
    }

    /// Fallen back: the only path gets everything.
    fn give_all(&mut self, now: Time) -> bool {
        let Some(path) = self.paths.first_mut() else { return false };
        let mut given = false;
        while self.shared.send.unsent() > 0 {
            let unsent = self.shared.send.unsent() as usize;
            let (offset, data) = self.shared.send.take(now, path.link.id, unsent, false);
            self.shared.counters.bytes_sent += data.len() as u64;
            path.link.outgoing.push(offset, data);
            path.quiet = false;
            given = true;
        }
        given
    }

    fn schedule(&mut self, now: Time) -> bool {
        if !std::mem::take(&mut self.shared.events.stirred) {
            return false;
        }
        let send = &self.shared.send;
        if send.unsent() == 0 && !send.is_out() {
            self.timers.clear(Alarm::Scheduler);
            return false;
        }
        let mut views = std::mem::take(&mut self.views);
        views.clear();
        views.extend(self.paths.iter().map(view));
        if self.shared.send.unsent() > 0 {
            self.timers.data_interval = Some(self.data_interval(now));
        }
        let given = self.give_again(now, &views) || self.give_new(now, &mut views);
        self.views = views;
        if given {
            // The answer may have more to it.
            self.shared.events.stirred = true;
            self.arm_data_timer(now);
        }
        given
    }

    /// Gives the oldest piece to repeat to another path.
    fn give_again(&mut self, now: Time, views: &[PathView]) -> bool {
        while let Some(data) = self.shared.send.first_again() {
            let view = look(now, &self.shared, views);
            let Some(id) = self.scheduler.reinject(&view, &data) else { return false };
            let Some(path) = self.paths.iter().find(|path| path.link.id == id) else {
                return false;
            };
            // The path is about to send it again by itself.
            let needless = path.link.outgoing.holds(data.start);
            let given = !needless && self.repeat(now, id, data.start, data.end);
            if needless || given {
                self.shared.send.settle_again();
            }
            if !needless {
                return given;
            }
        }
        false
    }

    /// Gives the rest of the oldest fragment to the path that the scheduler chooses, if there is one now.
    pub(super) fn repeat_fragment(&mut self, now: Time) {
        if self.shared.send.oldest().is_none() {
            return;
        }
        let views: Vec<PathView> = self.paths.iter().map(view).collect();
        let Some(path) = self.scheduler.repeat_oldest(&look(now, &self.shared, &views)) else {
            return;
        };
        let una = self.shared.send.una;
        let end = (una / FRAGMENT_BYTES + 1) * FRAGMENT_BYTES;
        self.repeat(now, path, una, end);
    }

    /// Carries out the scheduler's decisions; true if a path has something to send now.
    fn give_new(&mut self, now: Time, views: &mut [PathView]) -> bool {
        for _ in 0..MAX_PENALTIES {
            let view = look(now, &self.shared, views);
            match self.scheduler.next(&view) {
                Action::Send { path, bytes } => return self.send_new(now, path, bytes, views),
                Action::Repeat { path, from, until } => return self.repeat(now, path, from, until),
                Action::Penalise { path, cwnd_segments, ssthresh_segments } => {
                    let Some(index) = self.index_of(path) else { return false };
                    self.paths[index].subflow.set_window(cwnd_segments, ssthresh_segments);
                    views[index] = self::view(&self.paths[index]);
                }
                Action::Wait { until } => {
                    self.timers.set_to(Alarm::Scheduler, until.filter(|at| *at > now));
                    return false;
                }
            }
        }
        false
    }

    fn send_new(&mut self, now: Time, id: PathId, bytes: u32, views: &[PathView]) -> bool {
        let Some(index) = self.index_of(id) else { return false };
        let send = &mut self.shared.send;
        let room = u64::from(bytes.min(views[index].room_bytes)).min(send.window_room());
        let mut left = room.min(send.unsent());
        if left == 0 || !self.paths[index].is_ready() {
            return false;
        }
        let path = &mut self.paths[index];
        path.quiet = false;
        let mss = u64::from(views[index].mss_bytes.max(1));
        while left > 0 {
            let (offset, data) = send.take(now, id, left.min(mss) as usize, true);
            left -= data.len() as u64;
            self.shared.counters.bytes_sent += data.len() as u64;
            path.link.outgoing.push(offset, data);
        }
        true
    }

    /// Gives data to a path that another one was given; true if there was any.
    fn repeat(&mut self, now: Time, id: PathId, from: u64, until: u64) -> bool {
        let Some(index) = self.index_of(id) else { return false };
        if !self.paths[index].is_ready() {
            return false;
        }
        let mut at = from.max(self.shared.send.una);
        let mut given = false;
        while at < until {
            let Some(data) = self.shared.send.repeat(now, id, at, until) else { break };
            let len = data.len() as u64;
            self.shared.counters.bytes_repeated += len;
            self.paths[index].link.outgoing.push(at, data);
            at += len;
            given = true;
        }
        self.shared.linear &= !given;
        self.paths[index].quiet &= !given;
        given
    }

    /// Reports to the scheduler what a segment on the path at `index` acknowledged.
    pub(super) fn report_acknowledgment(&mut self, now: Time, index: usize) {
        let path = &mut self.paths[index];
        let delivered = path.subflow.delivered();
        if delivered == path.delivered {
            return;
        }
        let seen = path.subflow.view();
        let bytes = (delivered - path.delivered) * u64::from(seen.mss_bytes);
        path.delivered = delivered;
        let rtt = Some(seen.latest_rtt).filter(|rtt| !rtt.is_zero());
        self.scheduler.on_acked(&PathAcked { now, path: path.link.id, bytes, rtt });
    }

    fn index_of(&self, id: PathId) -> Option<usize> {
        self.paths.iter().position(|path| path.link.id == id)
    }
}

fn look<'a>(now: Time, shared: &'a Shared, paths: &'a [PathView]) -> View<'a> {
    let send = &shared.send;
    View {
        now,
        paths,
        unsent_bytes: send.unsent(),
        next_offset: send.next,
        una_offset: send.una,
        window_room_bytes: send.window_room(),
        send_buffer_full: send.buffer.is_full(send.used()),
        backlog: send,
    }
}

fn view(path: &Path) -> PathView {
    let seen = path.subflow.view();
    let link = &path.link;
    let queued = link.outgoing.queued as u32;
    // Linux lets a subflow's buffer hold six windows, see `SendBuffer::wanted`.
    let (cwnd, mss) = (seen.cwnd_segments.max(MIN_SEGMENTS), seen.mss_bytes);
    let space = cwnd.saturating_mul(6).saturating_mul(mss);
    let taken = seen.in_flight_segments.saturating_mul(mss).saturating_add(queued);
    PathView {
        id: link.id,
        established: path.is_ready(),
        backup: link.backup_here || link.backup_there,
        stale: path.stale,
        blocked: path.blocked,
        queued_bytes: queued,
        room_bytes: space.saturating_sub(taken),
        segments_sent: link.data_segments,
        ..seen
    }
}

/// Linux keeps data in pages of this size, of which a few bytes are its own.
const FRAGMENT_BYTES: u64 = 32_768 - 40;
/// The maximum number of paths that a scheduler penalises before it sends.
const MAX_PENALTIES: usize = 64;
/// The minimum size of a subflow's buffer, in segments.
const MIN_SEGMENTS: u32 = 10;
