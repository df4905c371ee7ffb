//! Schedulers: which path of a multipath connection carries the next data. One file for each, and
//! one line in [`algorithms`].
//!
//! # The contract
//! The engine calls [`Scheduler::next`] whenever something may have changed (an acknowledgment, new
//! data, a timer), carries out the action and calls again, until the action is [`Action::Wait`].
//! Then the paths send their queued data.
//!
//! Data is counted in bytes from the start of the connection's stream (*offsets*), apart from the
//! sequence numbers of any path. A path delivers the data it was given by itself; a scheduler may
//! also send it on another path ([`Action::Repeat`]).
//!
//! Schedulers can be nested: [`opportunistic`] adds opportunistic retransmission to any,
//! [`handover_aware`] hides paths that are [`PathView::blocked`] or silent. A
//! [`MultipathConfig`](crate::multipath::MultipathConfig) selects the combination.
//!
//! A scheduler reads no clock. Its random numbers come from the seed that it was built with.

mod blest;
#[cfg(test)]
mod drain;
mod ecf;
#[cfg(test)]
mod fixture;
pub mod handover_aware;
mod linux;
pub(crate) mod minrtt;
pub mod opportunistic;
mod peekaboo;
mod redundant;
mod registry;
mod reinject;
mod roundrobin;
mod sttf;
mod view;

use std::fmt::Debug;
use std::time::Duration;

use trackbed_core::parameter::{Arguments, Parameter};
use trackbed_core::{Seed, Time};

pub use registry::algorithms;
pub use view::{Action, Backlog, Outstanding, PathId, PathView, Recovery, View};

/// An acknowledgment that arrived on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathAcked {
    /// When.
    pub now: Time,
    /// Where.
    pub path: PathId,
    /// Bytes that the peer newly has of what this path carried, by ACK or SACK.
    pub bytes: u64,
    /// The round-trip time that it measured, if it measured one.
    pub rtt: Option<Duration>,
}

/// Assigns data to paths. See the [contract](self#the-contract).
pub trait Scheduler: Debug + Send {
    /// The next action.
    fn next(&mut self, view: &View<'_>) -> Action;

    /// The path for data that must be sent again, because its path is dead, stale or timed out;
    /// `None` for none now.
    ///
    /// The default is that of minRTT: of the paths that can send and did not carry it yet the one
    /// with the lowest round-trip time, then of those that did; backups last.
    fn reinject(&mut self, view: &View<'_>, data: &Outstanding) -> Option<PathId> {
        view.path_for(Some(data))
    }

    /// The path that sends the oldest fragment again when the data-level timer fires, with
    /// [`Reinjection::Stale`].
    fn repeat_oldest(&mut self, view: &View<'_>) -> Option<PathId> {
        view.path_for(None)
    }

    /// When data is moved to another path because its own makes no progress.
    fn reinjection(&self) -> Reinjection {
        Reinjection::Timeout
    }

    /// An acknowledgment arrived. Called for each one, before the next [`Scheduler::next`].
    fn on_acked(&mut self, _acked: &PathAcked) {}

    /// Data was retransmitted opportunistically: the connection's window, or its send buffer, was
    /// blocked by a slow path.
    fn on_opportunistic_retransmission(&mut self) {}

    /// The path is permanently gone.
    fn on_path_removed(&mut self, _path: PathId) {}
}

/// When data is moved to another path because its own makes no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reinjection {
    /// At the first retransmission timeout of its path (RFC 8684 section 3.3.6, as the kernel of
    /// multipath-tcp.org): the path counts as stale until it delivers something.
    Timeout,
    /// As in mainline Linux (`__mptcp_retrans` of `net/mptcp/protocol.c`, 6.18): the oldest 32 KiB after a
    /// data-level timeout, if the scheduler has a path for them then; and everything when its path has
    /// delivered nothing for more than this many of these timeouts (`net.mptcp.stale_loss_cnt`, 4 there).
    Stale(u32),
}

/// An entry of the registry: makes a [`Scheduler`] for a connection.
pub struct SchedulingAlgorithm {
    /// The name in scenarios, lower case.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Its source: a paper, or a program.
    pub source: &'static str,
    /// The parameters that a scenario may set.
    pub parameters: &'static [Parameter],
    /// A scheduler for a new connection, which takes its randomness from the seed alone.
    pub build: fn(&Arguments, &Seed) -> Box<dyn Scheduler>,
}

trackbed_core::debug_by_name!(SchedulingAlgorithm);
