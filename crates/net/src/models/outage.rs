//! Outages: periods in which all packets are lost.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Packet, Rng, Time, parameters};

use super::gate::{Gate, Gated};
use crate::link::{DropReason, Link, Outlet};
use crate::spec::{Model, ModelEntry, SpecError, Stage};

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

/// Ordered periods of time, each from its first time until just before its second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spells(Arc<[(Time, Time)]>);

impl Spells {
    /// From each first time until just before the second one.
    ///
    /// # Errors
    /// If a spell is empty, or begins before the last one has ended.
    pub fn new(spells: impl IntoIterator<Item = (Time, Time)>) -> Result<Spells, SpecError> {
        let spells: Arc<[(Time, Time)]> = spells.into_iter().collect();
        let mut end = Time::ZERO;
        for &(from, until) in spells.iter() {
            if from >= until {
                return Err(SpecError::new(format!(
                    "the period from {from} until {until} is empty; make it end after it begins"
                )));
            }
            if from < end {
                return Err(SpecError::new(format!(
                    "the period from {from} on begins before the previous one ends at {end}; give \
                     the periods in order, without overlap"
                )));
            }
            end = until;
        }
        Ok(Spells(spells))
    }

    pub(super) fn from_rows(rows: Vec<(Duration, Duration)>) -> Result<Spells, SpecError> {
        Spells::new(rows.into_iter().map(|(from, until)| (Time::ZERO + from, Time::ZERO + until)))
    }

    /// The spell with this number, counted from 0.
    pub(super) fn get(&self, number: usize) -> Option<(Time, Time)> {
        self.0.get(number).copied()
    }
}
