//! The decisions of a scheduler.

use trackbed_core::Time;

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
