//! Regular loss.

use std::num::NonZeroU64;
use std::sync::Arc;

use trackbed_core::{Rng, Time, parameters};

use super::{Loss, LossLaw, LossProcess, no_packet_zero};
use crate::spec::ModelEntry;

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "loss-periodic",
    summary: "loses every n-th packet",
    parameters: parameters! {
        "every": Count { min: 0 }, required => "n: packets n, 2n, 3n, ... are lost";
    },
    has_queue: false,
    example: &[("every", "100")],
    read: |arguments| match NonZeroU64::new(arguments.need("every")) {
        Some(every) => Ok(Arc::new(Loss::new(Periodic { every }))),
        None => Err(no_packet_zero("every")),
    },
};

/// Loses packets number `every`, `2 * every` and so on, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Periodic {
    /// One packet in this many is lost.
    pub every: NonZeroU64,
}

impl LossLaw for Periodic {
    fn begin(&self, _rng: Rng) -> Box<dyn LossProcess> {
        Box::new(Process { every: self.every, number: 0 })
    }
}

#[derive(Debug)]
struct Process {
    every: NonZeroU64,
    number: u64,
}

impl LossProcess for Process {
    fn loses_next(&mut self, _now: Time, _size: usize) -> bool {
        self.number += 1;
        self.number % self.every == 0
    }
}
