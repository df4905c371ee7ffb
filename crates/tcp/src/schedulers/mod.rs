//! Schedulers: which path of a multipath connection carries the next data. One file for each, and
//! one line in [`algorithms`].
//!
//! # The contract
//! The engine asks [`Scheduler::next`] whenever something may have changed (an acknowledgment, new
//! data, a timer), carries out the answer and asks again, until the answer is [`Action::Wait`].
//! Then the paths send what was queued on them.
//!
//! Data is counted in bytes from the start of the connection's stream (*offsets*), apart from the
//! sequence numbers of any path. What was given to a path once, that path delivers by itself; a
//! scheduler may have it carried by another path as well ([`Action::Repeat`]).
//!
//! Schedulers wrap one another: [`opportunistic`] adds opportunistic retransmission to any,
//! [`proactive`] hides the paths that are [`PathView::blocked`], [`reactive`] blocks those that fell
//! silent. A [`MultipathConfig`](crate::multipath::MultipathConfig) says which are put together.
//!
//! A scheduler reads no clock. What it draws at random comes from the seed that it was built with.

mod action;
mod blest;
#[cfg(test)]
mod drain;
mod ecf;
#[cfg(test)]
mod fixture;
mod linux;
pub(crate) mod minrtt;
pub mod opportunistic;
mod peekaboo;
pub mod proactive;
pub mod reactive;
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

pub use action::{Action, PathId};
pub use registry::algorithms;
pub use view::{Backlog, Outstanding, PathView, Recovery, View};

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

/// Decides which path carries what. See the [contract](self#the-contract).
pub trait Scheduler: Debug + Send {
    /// What is to happen next.
    fn next(&mut self, view: &View<'_>) -> Action;

    /// The path for data that the engine wants carried again, because its path is dead, stale or
    /// timed out; `None` for none now.
    ///
    /// The default is that of minRTT: of the paths that can send and did not carry it yet the one
    /// with the lowest round-trip time, then of those that did; backups last.
    fn reinject(&mut self, view: &View<'_>, data: &Outstanding) -> Option<PathId> {
        view.path_for(Some(data))
    }

    /// An acknowledgment arrived. Called for every one, before the paths are asked again.
    fn on_acked(&mut self, _acked: &PathAcked) {}

    /// Data was retransmitted opportunistically: the connection's window, or its send buffer, was
    /// blocked by a slow path.
    fn on_opportunistic_retransmission(&mut self) {}

    /// The path is gone for good.
    fn on_path_removed(&mut self, _path: PathId) {}
}

/// An entry of the registry: makes a [`Scheduler`] for a connection.
#[derive(Debug)]
pub struct SchedulingAlgorithm {
    /// The name in scenarios, lower case.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Where it comes from: a paper, or a program.
    pub source: &'static str,
    /// What a scenario may set.
    pub parameters: &'static [Parameter],
    /// A scheduler for a new connection, which takes its randomness from the seed alone.
    pub build: fn(&Arguments, &Seed) -> Box<dyn Scheduler>,
}
