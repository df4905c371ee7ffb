//! The plain queue: first in, first out; packets that arrive when it is full are dropped.

use std::collections::VecDeque;
use std::sync::Arc;

use trackbed_core::{Arguments, ByteSize, Packet, Rng, Time, parameters};

use super::{Queue, QueueEntry, QueueModel};
use crate::link::{DropReason, Outlet, Waiting};
use crate::spec::SpecError;

pub(crate) static ENTRY: QueueEntry = QueueEntry {
    name: "drop-tail",
    summary: "first in, first out; packets that arrive at a full queue are dropped",
    parameters: parameters! {
        "queue_packets": Count { min: 0 }, optional =>
            "the maximum number of queued packets, without the one being sent; default: 100, or no \
             limit if `bytes` is set";
        "queue_bytes": Size, optional =>
            "the maximum number of queued bytes, IP headers included; default: no limit";
    },
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn QueueModel>, SpecError> {
    let (packets, bytes) = (arguments.get("queue_packets"), arguments.get("queue_bytes"));
    let packets = packets.or(if bytes.is_none() { Some(DEFAULT_PACKETS) } else { None });
    Ok(Arc::new(DropTail { packets, bytes }))
}

const DEFAULT_PACKETS: u64 = 100;

/// A first-in, first-out queue that refuses what exceeds its limits. A packet is taken if,
/// with it, no limit is exceeded (as Linux's `pfifo` and `bfifo`, and Mahimahi's `droptail`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropTail {
    /// The maximum number of queued packets, without the one being sent; `None` for no limit.
    pub packets: Option<u64>,
    /// The maximum number of queued bytes, IP headers included; `None` for no limit.
    pub bytes: Option<ByteSize>,
}

impl DropTail {
    /// A queue for `packets` packets of any size.
    pub const fn of_packets(packets: u64) -> DropTail {
        DropTail { packets: Some(packets), bytes: None }
    }

    /// A queue for `bytes` bytes in any number of packets.
    pub const fn of_bytes(bytes: ByteSize) -> DropTail {
        DropTail { packets: None, bytes: Some(bytes) }
    }
}

impl QueueModel for DropTail {
    fn build(&self, _rng: Rng) -> Box<dyn Queue> {
        Box::new(DropTailQueue {
            packets: self.packets.unwrap_or(u64::MAX),
            bytes: self.bytes.map_or(u64::MAX, ByteSize::as_bytes),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        })
    }
}

#[derive(Debug)]
struct DropTailQueue {
    packets: u64,
    bytes: u64,
    waiting: VecDeque<Packet>,
    waiting_bytes: u64,
}

impl Queue for DropTailQueue {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        let bytes = self.waiting_bytes + packet.len() as u64;
        if self.waiting.len() as u64 >= self.packets || bytes > self.bytes {
            return out.drop(now, packet, DropReason::QueueFull);
        }
        self.waiting_bytes = bytes;
        self.waiting.push_back(packet);
    }

    fn pop(&mut self, _now: Time, _out: &mut dyn Outlet) -> Option<Packet> {
        let packet = self.waiting.pop_front()?;
        self.waiting_bytes -= packet.len() as u64;
        Some(packet)
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) {
        for packet in which.take(&mut self.waiting, |packet| packet) {
            self.waiting_bytes -= packet.len() as u64;
            out.drop(now, packet, DropReason::Flushed);
        }
    }

    fn pops_quietly(&self) -> bool {
        true
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}
