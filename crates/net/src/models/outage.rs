//! Outages: times at which nothing gets through.

use std::sync::Arc;

use trackbed_core::{Packet, Rng, Time, parameters};

use super::gate::{Gate, Gated};
use super::spells::Spells;
use crate::link::{DropReason, Link, Outlet};
use crate::spec::{Model, ModelEntry, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "outage",
    summary: "times at which packets are sent and lost",
    parameters: parameters! {
        "outage": Timetable, required => "from when until when nothing gets through, each time";
    },
    has_queue: false,
    example: &[("outage", "10 s: 12 s, 30 s: 30.5 s")],
    read: |arguments| Ok(Arc::new(Outage { down: Spells::from_rows(arguments.need("outage"))? })),
};

/// Times at which packets are sent and lost; those that had been sent before arrive. In the
/// default order it comes behind queue and rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When packets are lost.
    pub down: Spells,
}

impl Model for Outage {
    fn stage(&self) -> Stage {
        Stage::Outage
    }

    fn wrap(&self, _rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(Gated { gate: OutageGate { down: self.down.clone(), past: 0 }, inner })
    }
}

#[derive(Debug)]
struct OutageGate {
    down: Spells,
    /// How many outages are over.
    past: usize,
}

impl Gate for OutageGate {
    fn pass(&mut self, now: Time, packet: Packet, inner: &mut dyn Link, out: &mut dyn Outlet) {
        while self.down.get(self.past).is_some_and(|(_, until)| until <= now) {
            self.past += 1;
        }
        match self.down.get(self.past) {
            Some((from, _)) if from <= now => out.drop(now, packet, DropReason::Outage),
            _ => inner.push(now, packet, out),
        }
    }
}
