//! Independent loss.

use std::sync::Arc;

use trackbed_core::{Ratio, Rng, Time, parameters};

use super::{Loss, LossLaw, LossProcess};
use crate::models::packet_rng::PacketRng;
use crate::spec::ModelEntry;

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "loss",
    summary: "loses each packet with the same probability, independently of the others",
    parameters: parameters! {
        "loss": Share, required => "the probability that a packet is lost";
    },
    has_queue: false,
    example: &[("loss", "0.3 %")],
    read: |arguments| Ok(Arc::new(Loss::bernoulli(arguments.need("loss")))),
};

/// Loses each packet with the same probability. Draws once for each packet, also at probability
/// zero, so that runs with different probabilities use the same draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bernoulli {
    /// The probability that a packet is lost.
    pub probability: Ratio,
}

impl LossLaw for Bernoulli {
    fn begin(&self, rng: Rng) -> Box<dyn LossProcess> {
        Box::new(Process { law: *self, rng: PacketRng::new(rng) })
    }
}

#[derive(Debug)]
struct Process {
    law: Bernoulli,
    rng: PacketRng,
}

impl LossProcess for Process {
    fn loses_next(&mut self, _now: Time, size: usize) -> bool {
        self.rng.of(size).chance(self.law.probability)
    }

    fn set_probability(&mut self, probability: Ratio) -> bool {
        self.law.probability = probability;
        true
    }
}
