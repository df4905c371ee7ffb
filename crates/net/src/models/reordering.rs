//! Reordering: some packets are delayed, and later ones overtake them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Packet, Ratio, Rng, Time, parameters};

use super::gate::PacketRng;
use crate::in_flight::InFlight;
use crate::link::{Alteration, Change, Link, Outlet, Waiting};
use crate::spec::{Model, ModelEntry, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "reordering",
    summary: "delays some packets, so that later ones overtake them",
    parameters: parameters! {
        "reordering": Share, required => "the share of packets that are delayed";
        "reordering_hold": Time, required => "the additional delay";
    },
    has_queue: false,
    example: &[("reordering", "1 %"), ("reordering_hold", "5 ms")],
    read: |arguments| {
        Ok(Arc::new(Reordering {
            probability: arguments.need("reordering"),
            hold: arguments.need("reordering_hold"),
        }))
    },
};

/// Delays packets by a fixed time, with the same probability for each; the others pass at once.
/// Draws once for each packet. In the default order it comes after the delay, which would otherwise
/// restore the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// The probability that a packet is delayed.
    pub probability: Ratio,
    /// For how long.
    pub hold: Duration,
}

impl Model for Reordering {
    fn stage(&self) -> Stage {
        Stage::Reordering
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(HoldingLink::new((self.probability, PacketRng::new(rng)), self.hold, inner))
    }
}

/// Picks packets out of a sequence.
pub(super) trait Picks: fmt::Debug + Send {
    /// Whether it picks the next one.
    fn picks(&mut self, packet: &Packet) -> bool;
}

impl Picks for (Ratio, PacketRng) {
    fn picks(&mut self, packet: &Packet) -> bool {
        self.1.of(packet.len()).chance(self.0)
    }
}

/// Holds packets back for a fixed time.
#[derive(Debug)]
pub(super) struct HoldingLink<P> {
    picks: P,
    hold: Duration,
    held_back: InFlight,
    inner: Box<dyn Link>,
}

impl<P> HoldingLink<P> {
    pub fn new(picks: P, hold: Duration, inner: Box<dyn Link>) -> HoldingLink<P> {
        HoldingLink { picks, hold, held_back: InFlight::new(true), inner }
    }
}

impl<P: Picks> Link for HoldingLink<P> {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        self.held_back.release(now, &mut *self.inner, out);
        if self.picks.picks(&packet) && !self.hold.is_zero() {
            out.altered(now, &packet, Alteration::HeldBack);
            return self.held_back.insert(now + self.hold, packet);
        }
        self.inner.push(now, packet, out);
    }

    fn advance(&mut self, now: Time, out: &mut dyn Outlet) {
        self.held_back.release(now, &mut *self.inner, out);
        self.inner.advance(now, out);
    }

    fn next_wake(&self) -> Option<Time> {
        let due = self.held_back.next_due().map(|at| at + self.inner.least_delay());
        [due, self.inner.next_wake()].into_iter().flatten().min()
    }

    fn held(&self) -> usize {
        self.held_back.len() + self.inner.held()
    }

    fn change(&mut self, now: Time, change: &Change) -> bool {
        self.inner.change(now, change)
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) -> bool {
        self.inner.flush(now, which, out)
    }
}
