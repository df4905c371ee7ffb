//! Queues in front of a rate: who may wait, and who goes next.

mod codel;
mod drop_tail;

use std::fmt;
use std::sync::Arc;

use trackbed_core::parameter::{ArgumentError, Arguments, Kind, Parameter, Value};
use trackbed_core::{ByteSize, Packet, Time};

use crate::link::Outlet;
use crate::spec::SpecError;

pub use codel::Codel;
pub use drop_tail::DropTail;

/// Every queue, in the order in which they are listed. A new queue is a file and a line here,
/// and its name in [`SELECTOR`].
pub static QUEUES: &[&QueueEntry] = &[&drop_tail::ENTRY, &codel::ENTRY];

/// The parameter by which a model that has a queue lets one choose it.
pub static SELECTOR: Parameter = Parameter::with_default(
    "queue",
    Kind::Choice(&["drop-tail", "codel"]),
    "drop-tail",
    "the queue in which packets wait",
);

/// Packets that wait to be sent.
///
/// The packet that is being sent is no longer in the queue, as with Linux's queueing disciplines
/// in front of a device and with Mahimahi: behind an idle link a packet passes by the queue, and
/// a queue of `n` packets together with the link holds `n + 1`.
pub trait Queue: fmt::Debug + Send {
    /// Takes a packet, or tells `out` of the packet that is dropped instead.
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet);

    /// The packet to send next, if one waits. Tells `out` of packets that the queue drops or marks
    /// on the way to it. Called each time the link is free; `None` is the queue's notice that the
    /// link goes idle.
    fn pop(&mut self, now: Time, out: &mut dyn Outlet) -> Option<Packet>;

    /// Drops the packets that have waited longest, as many as fit into `bytes`.
    fn flush(&mut self, now: Time, bytes: ByteSize, out: &mut dyn Outlet);

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

/// The description of a queue: plain data, from which each link builds a queue of its own.
pub trait QueueModel: fmt::Debug + Send + Sync {
    /// An empty queue.
    fn build(&self) -> Box<dyn Queue>;
}

impl<Q: QueueModel + ?Sized> QueueModel for Arc<Q> {
    fn build(&self) -> Box<dyn Queue> {
        (**self).build()
    }
}

/// What is known of a queue before its parameters are.
pub struct QueueEntry {
    /// The name under which scenarios use the queue.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Its parameters; their names begin with the queue's or with `queue`.
    pub parameters: &'static [Parameter],
    pub(crate) read: fn(&Arguments) -> Result<Arc<dyn QueueModel>, SpecError>,
}

impl QueueEntry {
    /// The queue that the parameters `given` to a model choose.
    pub(crate) fn chosen(given: &[(&str, Value)]) -> Result<&'static QueueEntry, ArgumentError> {
        let selector: Vec<_> =
            given.iter().filter(|(name, _)| *name == SELECTOR.name).cloned().collect();
        Ok(QueueEntry::selected(&Arguments::read([&SELECTOR], &selector)?))
    }

    /// The queue that the arguments of a model describe.
    pub(crate) fn model(arguments: &Arguments) -> Result<Arc<dyn QueueModel>, SpecError> {
        (QueueEntry::selected(arguments).read)(arguments)
    }

    fn selected(arguments: &Arguments) -> &'static QueueEntry {
        let name: &str = arguments.need(SELECTOR.name);
        let entry = QUEUES.iter().find(|entry| entry.name == name);
        entry.expect("the selector offers the queues there are")
    }
}

impl fmt::Debug for QueueEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueEntry").field("name", &self.name).finish_non_exhaustive()
    }
}
