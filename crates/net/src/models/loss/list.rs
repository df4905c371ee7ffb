//! Loss of packets by their number: chosen ones, or every n-th.

use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::sync::Arc;

use trackbed_core::{Rng, Time, parameters};

use super::{Loss, LossLaw, LossProcess, no_packet_zero};
use crate::spec::ModelEntry;

pub(crate) static LISTED: ModelEntry = ModelEntry {
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

pub(crate) static PERIODIC: ModelEntry = ModelEntry {
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
        Box::new(PeriodicProcess { every: self.every, number: 0 })
    }
}

#[derive(Debug)]
struct PeriodicProcess {
    every: NonZeroU64,
    number: u64,
}

impl LossProcess for PeriodicProcess {
    fn loses_next(&mut self, _now: Time, _size: usize) -> bool {
        self.number += 1;
        self.number % self.every == 0
    }
}
