//! The interface of link models: state machines that take packets and times and decide when, and
//! whether, each packet comes out.

use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use trackbed_core::{Bitrate, ByteSize, Packet, Ratio, Time, named};

/// One direction of a link. Models are nested: the outer one handles a packet first and passes it
/// to the inner one; the innermost is a [`Wire`].
///
/// The contract with the caller:
/// - The times passed to one link never decrease.
/// - Whatever is due is reported at its own time, so the caller calls [`Link::advance`] at
///   [`Link::next_wake`] at the latest, before it passes any later time.
/// - Every call except [`Link::next_wake`] and [`Link::held`] may change the next wake: query it
///   again.
/// - After `push` or `advance` at `now`, the next wake is later than `now`.
/// - A packet pushed at the very moment of a wake is handled after what was due at that moment.
pub trait Link: fmt::Debug + Send {
    /// Takes a packet. Reports to `out` everything that happens at once.
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet);

    /// Reports to `out` everything that is due at or before `now`, in order of time.
    fn advance(&mut self, now: Time, out: &mut dyn Outlet);

    /// When [`Link::advance`] must be called next; `None` if nothing will happen before the next
    /// packet is pushed.
    fn next_wake(&self) -> Option<Time>;

    /// The number of packets inside: queued, being sent, or in flight. A super-packet counts as
    /// one.
    fn held(&self) -> usize;

    /// Replaces a parameter while the link runs, from `now` on; call [`Link::advance`] at `now`
    /// first. False if no model in the chain has this parameter. It changes the outermost model
    /// that has it.
    fn change(&mut self, now: Time, change: &Change) -> bool {
        let _ = (now, change);
        false
    }

    /// Drops queued packets; call [`Link::advance`] at `now` first. The packet that is being sent
    /// stays. False if no model in the chain has a queue. The outermost model with a queue drops
    /// them.
    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) -> bool {
        let _ = (now, which, out);
        false
    }

    /// The least time between a push and the first call to `out` about that packet. A model that
    /// knows in advance when it will pass a packet on need not be woken before that time has also
    /// passed, which saves one event per packet.
    fn least_delay(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether packets of one flow may be pushed as a super-packet instead of one right after the
    /// other, without any difference to this link and all inside, now and after any
    /// [`Link::change`]. A model that counts packets or their bytes, or draws random numbers for
    /// each, must return false.
    fn takes_super_packets(&self) -> bool {
        false
    }
}

/// Where the packets of a link go.
pub trait Outlet {
    /// The packet leaves the link at its far end.
    fn deliver(&mut self, at: Time, packet: Packet);

    /// The packet is lost.
    fn drop(&mut self, at: Time, packet: Packet, why: DropReason);

    /// Something was done to a packet that stays in the link; a copy made by duplication is
    /// reported here once.
    fn altered(&mut self, at: Time, packet: &Packet, what: Alteration) {
        let _ = (at, packet, what);
    }
}

named! {
    /// Why a packet was lost.
    #[derive(PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum DropReason {
        /// The queue had no room for it.
        QueueFull = "queue full",
        /// The queue management chose it, to signal congestion.
        QueueManagement = "queue management",
        /// The medium lost it.
        Loss = "loss",
        /// The link was down.
        Outage = "outage",
        /// It exceeds the MTU of the link.
        TooBig = "too big",
        /// It was in a queue that was flushed.
        Flushed = "flushed",
    }
}

named! {
    /// What a link did to a packet without losing it.
    #[derive(PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Alteration {
        /// The packet was duplicated; from here on the copy is independent.
        Duplicated = "duplicated",
        /// A bit was flipped.
        Corrupted = "corrupted",
        /// A queue marked it "congestion experienced" (RFC 3168).
        Marked = "marked",
        /// It was delayed, so that later packets may overtake it.
        HeldBack = "held back",
    }
}

/// Which queued packets are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The oldest ones, up to this number of bytes.
    Longest(ByteSize),
    /// Those from or to this address.
    Of(IpAddr),
}

impl Waiting {
    /// Removes them from a queue.
    pub fn take<T>(self, queue: &mut VecDeque<T>, packet: impl Fn(&T) -> &Packet) -> VecDeque<T> {
        match self {
            Waiting::Longest(bytes) => {
                let mut left = Some(bytes.as_bytes());
                let fits = |one: &&T| {
                    left = left.and_then(|left| left.checked_sub(packet(one).len() as u64));
                    left.is_some()
                };
                let count = queue.iter().take_while(fits).count();
                queue.drain(..count).collect()
            }
            Waiting::Of(address) => {
                let ends = |one: &T| [packet(one).source(), packet(one).destination()];
                let is_of = |one: &T| ends(one).contains(&address);
                let (taken, left) = std::mem::take(queue).into_iter().partition(is_of);
                *queue = left;
                taken
            }
        }
    }
}

/// A new value for a parameter of a running link, see [`Link::change`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The rate at which packets are sent; also for the rest of the packet that is being sent.
    Rate(Bitrate),
    /// The delay becomes this fixed one, for packets that enter it from now on.
    Delay(Duration),
    /// The probability that a packet is lost.
    Loss(Ratio),
    /// Sending stops (`true`) or resumes; the queue keeps filling meanwhile.
    Paused(bool),
}

/// The innermost model: delivers each packet the moment it is pushed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire;

impl Link for Wire {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        out.deliver(now, packet);
    }

    fn advance(&mut self, _now: Time, _out: &mut dyn Outlet) {}

    fn next_wake(&self) -> Option<Time> {
        None
    }

    fn held(&self) -> usize {
        0
    }

    fn takes_super_packets(&self) -> bool {
        true
    }
}
