//! Which of several paths carries the next data
//! (<https://www.ietf.org/archive/id/draft-ietf-quic-multipath-21.html#name-packet-scheduling>).

use alloc::{boxed::Box, vec::Vec};
use core::{fmt, time::Duration};

use crate::{FourTuple, PathId, PathStatus};

/// A path that may carry data, as a [`PathScheduler`] sees it
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedulablePath {
    /// Which path it is
    pub id: PathId,
    /// Its addresses
    pub network_path: FourTuple,
    /// The smoothed round-trip time, or what stands in for it before the first sample
    pub rtt: Duration,
    /// What this endpoint has said about the path
    pub local_status: PathStatus,
    /// What the peer has said about it, if it has said anything
    pub remote_status: Option<PathStatus>,
}

/// Decides for one connection which of its paths carries the next data
///
/// It is asked before each transmission of a connection that has several paths, and sees those
/// that are validated and have not been silent for a probe timeout; if all have been, it sees them
/// all, and what it chooses carries data in probes alone.
pub trait PathScheduler: Send + Sync + fmt::Debug {
    /// Puts the paths that may carry data in order, the first choice first, and removes the others
    ///
    /// The next datagram is sent on the first one whose congestion window and pacer have room.
    fn rank(&mut self, paths: &mut Vec<SchedulablePath>);

    /// A datagram that the peer has to acknowledge was sent on this path
    #[allow(unused_variables)]
    fn on_sent(&mut self, path: PathId) {}
}

/// Builds a scheduler for each connection
pub trait PathSchedulerFactory {
    /// A scheduler for a new connection
    fn build(&self) -> Box<dyn PathScheduler>;
}
