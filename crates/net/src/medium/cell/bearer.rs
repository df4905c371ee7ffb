//! One direction of one station: its queue, its blocks on the air, and the order of its packets.

use std::collections::VecDeque;

use trackbed_core::{Packet, Time};

use crate::link::DropReason;
use crate::medium::{MediumOutlet, Way};

/// What MAC, RLC and PDCP add to a packet: 2 B each (TS 36.321 6.2.1, 36.322 6.2.1, 36.323 6.2.3).
const HEADERS: u64 = 6;
/// The check sum of a block (TS 36.212 5.1.1).
pub(super) const CHECK: u64 = 3;
/// Slots over which proportional fairness averages.
pub(super) const FAIRNESS_SLOTS: f64 = 100.0;

#[derive(Debug, Default)]
pub(super) struct Bearer {
    pub(super) priority: u8,
    /// The cell does not reach the station, for example during a handover.
    pub(super) is_paused: bool,
    /// Packets, and how many bytes of each are not yet in a block.
    pub(super) queue: VecDeque<(Packet, u64)>,
    /// Bytes that the queue has yet to send, with headers.
    pub(super) backlog: u64,
    /// Bytes that were put into blocks since the beginning.
    pub(super) drained: u64,
    /// In order; the first has the number `first`.
    pub(super) flight: VecDeque<Block>,
    pub(super) first: u64,
    /// The numbers of blocks that can be sent again now.
    pub(super) retries: VecDeque<u64>,
    /// A part of the next packet that ends is lost.
    pub(super) is_torn: bool,
    /// Bytes per slot of late, and the slot when that was so.
    pub(super) average: f64,
    pub(super) served: u64,
    /// Of all bytes that ever came to the queue, those for which the base station can schedule.
    pub(super) known: u64,
    /// The same, once it has heard the request or the reports that are on the way.
    pub(super) told: u64,
}

/// A transport block.
#[derive(Debug)]
pub(super) struct Block {
    /// The packets that end in it.
    packets: Vec<Packet>,
    /// Its last bytes belong to a packet that ends later.
    is_open: bool,
    /// `Some(true)` if it arrived, `Some(false)` if it is given up.
    outcome: Option<bool>,
    /// The resource blocks that it takes.
    pub(super) size: u64,
    pub(super) index: usize,
    pub(super) transmissions: u32,
    /// What the buffer status report in it tells: all bytes that had come to the queue, ever.
    pub(super) report: u64,
}

impl Bearer {
    /// Queues a packet; gives it back if it exceeds the limit.
    pub(super) fn push(&mut self, packet: Packet, limit: u64) -> Result<(), Packet> {
        let bytes = packet.len() as u64 + HEADERS;
        if self.backlog + bytes > limit {
            return Err(packet);
        }
        self.backlog += bytes;
        self.queue.push_back((packet, bytes));
        Ok(())
    }

    /// Bytes per slot of late, as they count in this slot.
    pub(super) fn recent(&self, slot: u64) -> f64 {
        let gone = slot.saturating_sub(self.served) as f64;
        self.average * libm::exp(-gone / FAIRNESS_SLOTS)
    }

    /// All bytes that ever came to the queue.
    pub(super) fn total(&self) -> u64 {
        self.drained + self.backlog
    }

    pub(super) fn held(&self) -> usize {
        self.queue.len() + self.flight.iter().map(|block| block.packets.len()).sum::<usize>()
    }

    /// Puts this many bytes of the queue into a new block, and returns its number.
    pub(super) fn fill(&mut self, bytes: u64, size: u64, index: usize) -> u64 {
        self.backlog -= bytes;
        self.drained += bytes;
        let (mut left, mut packets) = (bytes, Vec::new());
        while let Some(first) = self.queue.front_mut().filter(|_| left > 0) {
            let part = first.1.min(left);
            left -= part;
            first.1 -= part;
            if first.1 == 0 {
                packets.extend(self.queue.pop_front().map(|(packet, _)| packet));
            }
        }
        // The first packet has begun if a part of it is missing.
        let is_open =
            self.queue.front().is_some_and(|(one, rest)| *rest < one.len() as u64 + HEADERS);
        let (outcome, transmissions, report) = (None, 0, self.total());
        let block = Block { packets, is_open, outcome, size, index, transmissions, report };
        self.flight.push_back(block);
        self.first + self.flight.len() as u64 - 1
    }

    pub(super) fn block(&mut self, number: u64) -> Option<&mut Block> {
        self.flight.get_mut(number.checked_sub(self.first)? as usize)
    }

    /// A block has arrived or is given up: passes on what no longer waits for an earlier block.
    pub(super) fn land(
        &mut self,
        number: u64,
        arrived: bool,
        (now, way): (Time, Way),
        out: &mut dyn MediumOutlet,
    ) {
        if let Some(block) = self.block(number) {
            block.outcome = Some(arrived);
        }
        while let Some(arrived) = self.flight.front().and_then(|block| block.outcome) {
            let Some(block) = self.flight.pop_front() else { return };
            self.first += 1;
            for packet in block.packets {
                match arrived && !std::mem::take(&mut self.is_torn) {
                    true => out.deliver(now, way, packet),
                    false => out.drop(now, way, packet, DropReason::Loss),
                }
            }
            self.is_torn = block.is_open && (self.is_torn || !arrived);
        }
    }
}
