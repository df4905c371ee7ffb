//! Loss of chosen packets.

use std::collections::BTreeSet;
use std::sync::Arc;

use trackbed_core::{Rng, Time, parameters};

use super::{Loss, LossLaw, LossProcess, no_packet_zero};
use crate::spec::ModelEntry;

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "loss-list",
    summary: "loses the packets with the given numbers",
    parameters: parameters! {
        "packets": Counts, required =>
            "the numbers of the packets that are lost; the first packet of the link is number 1";
    },
    has_queue: false,
    example: &[("packets", "3, 17")],
    read: |arguments| {
        let packets: Vec<u64> = arguments.need("packets");
        match packets.contains(&0) {
            true => Err(no_packet_zero("packets")),
            false => Ok(Arc::new(Loss::new(Listed::new(packets)))),
        }
    },
};

/// Loses the packets with these numbers, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    packets: Arc<[u64]>,
}

impl Listed {
    /// The packets with these numbers, in any order; the first packet of the link is number 1.
    pub fn new(packets: impl IntoIterator<Item = u64>) -> Listed {
        let sorted: BTreeSet<u64> = packets.into_iter().collect();
        Listed { packets: sorted.into_iter().collect() }
    }
}

impl LossLaw for Listed {
    fn begin(&self, _rng: Rng) -> Box<dyn LossProcess> {
        Box::new(Process { packets: Arc::clone(&self.packets), number: 0, passed: 0 })
    }
}

#[derive(Debug)]
struct Process {
    packets: Arc<[u64]>,
    number: u64,
    /// How many of the listed numbers lie behind.
    passed: usize,
}

impl LossProcess for Process {
    fn loses_next(&mut self, _now: Time, _size: usize) -> bool {
        self.number += 1;
        while self.packets.get(self.passed).is_some_and(|listed| *listed < self.number) {
            self.passed += 1;
        }
        self.packets.get(self.passed) == Some(&self.number)
    }
}
