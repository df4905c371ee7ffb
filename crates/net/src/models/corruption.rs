//! Damage: some packets arrive with a flipped bit.

use std::sync::Arc;

use trackbed_core::{Packet, Ratio, Rng, Time, parameters};

use super::gate::{Gate, Gated};
use super::packet_rng::PacketRng;
use crate::link::{Alteration, Link, Outlet};
use crate::spec::{Model, ModelEntry, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
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
