//! Queues before a rate: which packets may wait, and which is sent next.

pub(crate) mod codel;
pub(crate) mod drop_tail;
pub(crate) mod fq_codel;

use std::fmt;
use std::sync::Arc;

use trackbed_core::parameter::{Arguments, Parameter};
use trackbed_core::{Packet, Rng, Time};

use crate::link::{Outlet, Waiting};
use crate::spec::SpecError;

pub use codel::Codel;
pub use drop_tail::DropTail;
pub use fq_codel::FqCodel;

/// Packets that wait to be sent.
///
/// The packet that is being sent is no longer in the queue, as with Linux's queueing disciplines
/// in front of a device and with Mahimahi: behind an idle link a packet passes by the queue, and
/// a queue of `n` packets together with the link holds `n + 1`.
pub trait Queue: fmt::Debug + Send {
    /// Takes a packet, or reports to `out` the packet that is dropped instead.
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet);

    /// The packet to send next, if one waits. Reports to `out` packets that the queue drops or
    /// marks before it. Called each time the link is free; after `None` the link is idle.
    fn pop(&mut self, now: Time, out: &mut dyn Outlet) -> Option<Packet>;

    /// Drops packets that wait.
    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet);

    /// True if `pop` never drops or marks.
    fn pops_quietly(&self) -> bool {
        false
    }

    /// The number of packets that wait.
    fn len(&self) -> usize;

    /// True if no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The description of a queue: plain data, from which each link builds its own queue.
pub trait QueueModel: fmt::Debug + Send + Sync {
    /// An empty queue. Only this queue draws from `rng`.
    fn build(&self, rng: Rng) -> Box<dyn Queue>;
}

impl<Q: QueueModel + ?Sized> QueueModel for Arc<Q> {
    fn build(&self, rng: Rng) -> Box<dyn Queue> {
        (**self).build(rng)
    }
}

/// The registry entry of a queue.
pub struct QueueEntry {
    /// The name under which scenarios use the queue.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Its parameters; their names begin with the queue's or with `queue`.
    pub parameters: &'static [Parameter],
    /// The queue that these values describe.
    pub read: fn(&Arguments) -> Result<Arc<dyn QueueModel>, SpecError>,
}

trackbed_core::debug_by_name!(QueueEntry);
