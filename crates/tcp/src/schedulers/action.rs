//! The decisions of a scheduler.

use trackbed_core::Time;

/// A path of a connection: a subflow, in the order in which they were opened. The number of one
/// that is gone is not used again in the same connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Queue new data on a path, in order.
    Send {
        /// The path; one of the view, with [`PathView::room_bytes`](super::PathView::room_bytes) left.
        path: PathId,
        /// The maximum number of bytes; more than zero. It is cut to the unsent data, the windows
        /// and the path's room.
        bytes: u32,
    },
    /// Queue data on a path that was already sent and is not yet acknowledged.
    Repeat {
        /// The path; one of the view.
        path: PathId,
        /// The first byte, as an offset.
        from: u64,
        /// The end, as an offset: the byte after the last one. What is acknowledged or was never
        /// sent is cut off.
        until: u64,
    },
    /// Reduce the congestion window of a path (penalisation), and ask again.
    Penalise {
        /// The path; one of the view.
        path: PathId,
        /// Its new congestion window in segments.
        cwnd_segments: u32,
        /// Its new slow-start threshold in segments.
        ssthresh_segments: u32,
    },
    /// Nothing now. Call again when something has changed, and at `until` at the latest.
    Wait {
        /// When the decision may change without an event; `None` for never.
        until: Option<Time>,
    },
}

impl Action {
    /// Wait until something happens.
    pub const WAIT: Action = Action::Wait { until: None };
}
