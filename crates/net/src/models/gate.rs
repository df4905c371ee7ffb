//! The common part of models that decide about a packet at once and hold none.

use std::fmt;

use trackbed_core::{Packet, Time};

use crate::link::{Change, Link, Outlet, Waiting};

/// Decides about one packet after the other.
pub(super) trait Gate: fmt::Debug + Send {
    /// Drops the packet, or pushes it, or more than it, into `inner`.
    fn pass(&mut self, now: Time, packet: Packet, inner: &mut dyn Link, out: &mut dyn Outlet);

    fn change(&mut self, change: &Change) -> bool {
        let _ = change;
        false
    }
}

/// A gate in front of a link. Its least delay is zero, since a gate drops packets at once.
#[derive(Debug)]
pub(super) struct Gated<G> {
    pub(super) gate: G,
    pub(super) inner: Box<dyn Link>,
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
