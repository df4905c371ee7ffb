//! Damage and copies: some packets arrive with a flipped bit, some twice.

use std::sync::Arc;

use trackbed_core::{Packet, Ratio, Rng, Time, parameters};

use super::gate::{Gate, Gated, PacketRng};
use crate::link::{Alteration, Link, Outlet};
use crate::spec::{Model, ModelEntry, Stage};

pub(crate) static CORRUPTION: ModelEntry = ModelEntry {
    name: "corruption",
    summary: "flips one bit after the IP header in some packets, so that a checksum fails",
    parameters: parameters! {
        "corruption": Share, required => "the share of packets that are corrupted";
    },
    has_queue: false,
    example: &[("corruption", "0.01 %")],
    read: |arguments| Ok(Arc::new(Corruption { probability: arguments.need("corruption") })),
};

/// Flips one bit after the IP header of each packet with the same probability. Draws twice for each
/// packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// The probability that a packet is hit.
    pub probability: Ratio,
}

impl Model for Corruption {
    fn stage(&self) -> Stage {
        Stage::Corruption
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(Gated { gate: (*self, PacketRng::new(rng)), inner })
    }
}

impl Gate for (Corruption, PacketRng) {
    fn pass(&mut self, now: Time, packet: Packet, inner: &mut dyn Link, out: &mut dyn Outlet) {
        let rng = self.1.of(packet.len());
        let (hit, bit) = (rng.chance(self.0.probability), rng.next_u64());
        if !hit {
            return inner.push(now, packet, out);
        }
        let damaged = packet.with_flipped_bit(bit);
        out.altered(now, &damaged, Alteration::Corrupted);
        inner.push(now, damaged, out);
    }
}

pub(crate) static DUPLICATION: ModelEntry = ModelEntry {
    name: "duplication",
    summary: "sends a copy right after some packets",
    parameters: parameters! {
        "duplication": Share, required => "the share of packets that are duplicated";
    },
    has_queue: false,
    example: &[("duplication", "0.1 %")],
    read: |arguments| Ok(Arc::new(Duplication { probability: arguments.need("duplication") })),
};

/// Sends a copy right after a packet, with the same probability for each. A copy is not copied
/// again; the inner models treat it as a separate packet. Draws once for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplication {
    /// The probability that a packet is followed by a copy.
    pub probability: Ratio,
}

impl Model for Duplication {
    fn stage(&self) -> Stage {
        Stage::Duplication
    }

    fn wrap(&self, rng: Rng, inner: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(Gated { gate: (*self, PacketRng::new(rng)), inner })
    }
}

impl Gate for (Duplication, PacketRng) {
    fn pass(&mut self, now: Time, packet: Packet, inner: &mut dyn Link, out: &mut dyn Outlet) {
        if !self.1.of(packet.len()).chance(self.0.probability) {
            return inner.push(now, packet, out);
        }
        inner.push(now, packet.clone(), out);
        out.altered(now, &packet, Alteration::Duplicated);
        inner.push(now, packet, out);
    }
}
