//! A scheduler's view, which is the connection, its paths and the data in flight, and its decisions.

use std::fmt::Debug;
use std::time::Duration;

use trackbed_core::Time;

/// The state of a connection at one instant.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The time.
    pub now: Time,
    /// The paths, in the order of their numbers.
    pub paths: &'a [PathView],
    /// Bytes that the application wrote and no path was given yet.
    pub unsent_bytes: u64,
    /// The offset after the last byte that a path was given (SND.NXT of the data level).
    pub next_offset: u64,
    /// The offset of the oldest byte that is not acknowledged at the data level (SND.UNA).
    pub una_offset: u64,
    /// Bytes after `next_offset` that the peer's data-level window still lets go.
    pub window_room_bytes: u64,
    /// The application wanted to write more than the send buffer holds.
    pub send_buffer_full: bool,
    /// The data between `una_offset` and `next_offset`.
    pub backlog: &'a dyn Backlog,
}

/// The state of one path at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathView {
    /// Which path it is.
    pub id: PathId,
    /// It may carry data: the handshake is done, at the data level too, and it is not closing.
    pub established: bool,
    /// One of the two sides asked to use it only if there is no other (RFC 8684 section 3.3.8).
    pub backup: bool,
    /// Potentially failed: its retransmission timeout fired without progress since.
    pub stale: bool,
    /// Path control asks not to use it now. A wrapper honours this, not the schedulers themselves.
    pub blocked: bool,
    /// The phase of its loss recovery.
    pub recovery: Recovery,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Duration,
    /// Mean deviation of the round-trip time (RTTVAR of RFC 6298).
    pub rttvar: Duration,
    /// The latest sample; zero before the first one.
    pub latest_rtt: Duration,
    /// Congestion window.
    pub cwnd_segments: u32,
    /// Slow-start threshold; `u32::MAX` before the first loss.
    pub ssthresh_segments: u32,
    /// Segments in flight.
    pub in_flight_segments: u32,
    /// Bytes that it was given and did not send yet.
    pub queued_bytes: u32,
    /// Bytes that it may still be given: what is left of its send buffer.
    pub room_bytes: u32,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    /// Retransmission timeouts since the last progress.
    pub timeouts: u32,
    /// Segments with data that were ever sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments that were ever sent again.
    pub retransmissions: u64,
}

/// The phase of a path's loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing is wrong (TCP_CA_Open of Linux).
    #[default]
    Open,
    /// Order is disturbed, the window is being reduced, or fast recovery is under way.
    Recovering,
    /// After a retransmission timeout, until what was out then is acknowledged (TCP_CA_Loss).
    TimedOut,
}

/// Data in flight: sent on a path at least once, and not acknowledged at the data level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outstanding {
    /// The first byte, as an offset.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// When a path was given it last.
    pub sent_at: Time,
    /// The path that was given it last.
    pub path: PathId,
    /// The number of repetitions; zero if it was given to one path once.
    pub repeats: u32,
}

/// The data in flight of a connection.
pub trait Backlog: Debug {
    /// The data that begins at or contains the byte at `offset`; `None` if there is none from there
    /// on. What is returned is at most a segment, or was given to a path at once.
    fn at(&self, offset: u64) -> Option<Outstanding>;

    /// True if the data at `offset` was given to `path` at any time.
    fn was_sent_on(&self, offset: u64, path: PathId) -> bool;
}

impl<'a> View<'a> {
    /// Bytes of new data that may be given to paths now.
    pub fn sendable_bytes(&self) -> u64 {
        self.unsent_bytes.min(self.window_room_bytes)
    }

    /// The path with this number.
    pub fn path(&self, id: PathId) -> Option<&'a PathView> {
        self.paths.iter().find(|path| path.id == id)
    }

    /// The data-level window of the peer (SND.WND), including data in flight.
    pub fn window_bytes(&self) -> u64 {
        self.window_room_bytes + self.out_bytes()
    }

    /// Bytes that paths were given and that are not acknowledged at the data level.
    pub fn out_bytes(&self) -> u64 {
        self.next_offset.saturating_sub(self.una_offset)
    }

    /// The paths that may carry new data, whether they have room now or not: those that are no
    /// backups, or the backups if there are no others.
    pub fn candidates(&self) -> impl Iterator<Item = &'a PathView> + Clone + use<'a> {
        let usable = self.paths.iter().filter(|path| path.is_usable());
        let backup = !usable.clone().any(|path| !path.backup);
        usable.filter(move |path| path.backup == backup)
    }

    /// The candidate with the lowest round-trip time, even if it has no room now.
    pub fn fastest(&self) -> Option<&'a PathView> {
        fastest(self.candidates())
    }

    /// Sends one segment of new data on `path`.
    pub fn send_segment(&self, path: PathId) -> Action {
        let bytes = self.path(path).map_or(1, |path| path.mss_bytes.max(1));
        Action::Send { path, bytes }
    }

    /// Sends one segment on the path that minRTT chooses. If that is another than the fastest,
    /// `waits(fastest, chosen)` decides whether to wait instead.
    pub fn send_or_wait(&self, waits: impl FnOnce(&PathView, &PathView) -> bool) -> Action {
        if self.sendable_bytes() == 0 {
            return Action::WAIT;
        }
        let chosen = self.path_for(None).and_then(|id| self.path(id));
        match (self.fastest(), chosen) {
            (Some(fast), Some(chosen)) if chosen.id == fast.id || !waits(fast, chosen) => {
                self.send_segment(chosen.id)
            }
            _ => Action::WAIT,
        }
    }

    /// The choice of minRTT for new data, or for `data` to repeat.
    ///
    /// Paths that are no backups and did not carry the data come first; if such a path has only no
    /// room now, then no other is chosen. Those that carried it come next, and backups last
    /// (`get_available_subflow` of `mptcp_sched.c`).
    pub fn path_for(&self, data: Option<&Outstanding>) -> Option<PathId> {
        let carried = |path: &PathView| {
            data.is_some_and(|data| self.backlog.was_sent_on(data.start, path.id))
        };
        for backup in [false, true] {
            let class = || self.paths.iter().filter(move |path| path.backup == backup);
            let fresh = class().filter(|path| !carried(path));
            if let Some(path) = fastest(fresh.clone().filter(|path| path.can_send())) {
                return Some(path.id);
            }
            if fresh.clone().any(PathView::is_usable) {
                return None;
            }
            if let Some(path) = fastest(class().filter(|path| carried(path) && path.can_send())) {
                return Some(path.id);
            }
        }
        None
    }
}

impl PathView {
    /// True if it may carry data, now or soon.
    pub fn is_usable(&self) -> bool {
        self.established && !self.stale
    }

    /// True if it can send another segment now (`mptcp_is_available` of `mptcp_sched.c`).
    pub fn can_send(&self) -> bool {
        self.is_usable()
            && self.recovery != Recovery::TimedOut
            && self.in_flight_segments < self.cwnd_segments
            && u64::from(self.queued_bytes) <= self.free_window_bytes()
            && self.room_bytes > 0
    }

    /// What the congestion window still lets go, whatever is queued.
    pub fn free_window_bytes(&self) -> u64 {
        let free = self.cwnd_segments.saturating_sub(self.in_flight_segments);
        u64::from(free) * u64::from(self.mss_bytes)
    }

    /// The congestion window in bytes.
    pub fn cwnd_bytes(&self) -> u64 {
        u64::from(self.cwnd_segments) * u64::from(self.mss_bytes)
    }

    /// What is in flight, in bytes of full segments.
    pub fn in_flight_bytes(&self) -> u64 {
        u64::from(self.in_flight_segments) * u64::from(self.mss_bytes)
    }

    /// True below the slow-start threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd_segments < self.ssthresh_segments
    }
}

/// The path with the lowest round-trip time, the earliest of equals.
fn fastest<'p>(paths: impl Iterator<Item = &'p PathView>) -> Option<&'p PathView> {
    paths.min_by_key(|path| path.srtt)
}

/// A path of a connection: a subflow, in the order in which they were opened. The number of one
/// that is gone is not used again in the same connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

/// The next action. Every `path` is one of the view; `from` and `until` are offsets, of which the
/// second is that of the byte after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the texts describe the fields")]
pub enum Action {
    /// Queue at most `bytes` bytes of new data, more than zero, in order, on a path with
    /// [`room_bytes`](super::PathView::room_bytes) left. The number is cut to the unsent data, the
    /// windows and the path's room.
    Send { path: PathId, bytes: u32 },
    /// Queue data on a path that was already sent and is not yet acknowledged. What is acknowledged
    /// or was never sent is cut off.
    Repeat { path: PathId, from: u64, until: u64 },
    /// Give a path another congestion window and slow-start threshold (penalisation), and ask
    /// again.
    Penalise { path: PathId, cwnd_segments: u32, ssthresh_segments: u32 },
    /// Nothing now. Call again when something has changed, and at this time at the latest; `None`
    /// if the decision does not change without an event.
    Wait { until: Option<Time> },
}

impl Action {
    /// Wait until something happens.
    pub const WAIT: Action = Action::Wait { until: None };
}
