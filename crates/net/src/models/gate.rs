//! The common part of models that decide about a packet at once and hold none, and their random numbers.

use std::collections::BTreeMap;
use std::fmt;

use trackbed_core::{Packet, Rng, Time};

use crate::link::{Change, Link, Outlet, Waiting};

/// Decides about one packet after the other.
pub trait Gate: fmt::Debug + Send {
    /// Drops the packet, or pushes it, or more than it, into `inner`.
    fn pass(&mut self, now: Time, packet: Packet, inner: &mut dyn Link, out: &mut dyn Outlet);

    /// Replaces a parameter of it; see [`Link::change`].
    fn change(&mut self, change: &Change) -> bool {
        let _ = change;
        false
    }
}

/// A gate in front of a link. Its least delay is zero, since a gate drops packets at once.
#[derive(Debug)]
pub struct Gated<G> {
    /// What decides.
    pub gate: G,
    /// Where packets go that it lets through.
    pub inner: Box<dyn Link>,
}

impl<G: Gate> Link for Gated<G> {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        self.gate.pass(now, packet, &mut *self.inner, out);
    }

    fn advance(&mut self, now: Time, out: &mut dyn Outlet) {
        self.inner.advance(now, out);
    }

    fn next_wake(&self) -> Option<Time> {
        self.inner.next_wake()
    }

    fn held(&self) -> usize {
        self.inner.held()
    }

    fn change(&mut self, now: Time, change: &Change) -> bool {
        self.gate.change(change) || self.inner.change(now, change)
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) -> bool {
        self.inner.flush(now, which, out)
    }
}

/// Random numbers for packets, with a stream for each size of packets.
///
/// Two runs with the same seed are alike only if the same packets meet the same numbers. With one
/// stream for all, an acknowledgment more in one of them would change the fate of all data after it.
#[derive(Clone, Debug)]
pub(super) struct PacketRng {
    base: Rng,
    streams: BTreeMap<usize, Rng>,
}

/// Packets share a stream if their sizes differ by less than this number of bytes. The sizes of
/// signatures, and of numbers of variable length in QUIC, differ by one or two.
const STEP: usize = 16;

/// From this size on, in bytes, a packet is full, and shares its stream with all full ones.
const FULL: usize = 1_024;

impl PacketRng {
    pub fn new(base: Rng) -> PacketRng {
        PacketRng { base, streams: BTreeMap::new() }
    }

    /// The stream for a packet of `size` bytes.
    pub fn of(&mut self, size: usize) -> &mut Rng {
        let class = size.min(FULL) / STEP;
        self.streams.entry(class).or_insert_with(|| self.base.numbered(class as u64 + 1))
    }
}
