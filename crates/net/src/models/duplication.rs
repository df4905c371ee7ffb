//! Copies: some packets arrive twice.

use std::sync::Arc;

use trackbed_core::{Packet, Ratio, Rng, Time, parameters};

use super::gate::{Gate, Gated};
use super::packet_rng::PacketRng;
use crate::link::{Alteration, Link, Outlet};
use crate::spec::{Model, ModelEntry, Stage};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
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
