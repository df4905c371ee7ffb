//! Reordering: some packets are delayed, and later ones overtake them.

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
        let (rng, held_back) = (PacketRng::new(rng), InFlight::new(true));
        Box::new(ReorderingLink { model: *self, rng, held_back, inner })
    }
}

#[derive(Debug)]
struct ReorderingLink {
    model: Reordering,
    rng: PacketRng,
    held_back: InFlight,
    inner: Box<dyn Link>,
}

impl Link for ReorderingLink {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        self.held_back.release(now, &mut *self.inner, out);
        let delays = self.rng.of(packet.len()).chance(self.model.probability);
        if delays && !self.model.hold.is_zero() {
            out.altered(now, &packet, Alteration::HeldBack);
            return self.held_back.insert(now + self.model.hold, packet);
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
