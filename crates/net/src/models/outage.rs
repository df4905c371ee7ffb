//! Outages: periods in which all packets are lost.

use std::sync::Arc;

use trackbed_core::{Packet, Rng, Time, parameters};

use super::gate::{Gate, Gated};
use super::spells::Spells;
use crate::link::{DropReason, Link, Outlet};
use crate::spec::{Model, ModelEntry, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "outage",
    summary: "times at which packets are sent but lost",
    parameters: parameters! {
        "outage": Timetable, required => "pairs of times between which all packets are lost";
    },
    has_queue: false,
    example: &[("outage", "10 s: 12 s, 30 s: 30.5 s")],
    read: |arguments| Ok(Arc::new(Outage { down: Spells::from_rows(arguments.need("outage"))? })),
};

/// Periods in which packets are sent but lost; packets sent before still arrive. In the default
/// order it comes after queue and rate.
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
