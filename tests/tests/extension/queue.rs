//! A queue that drops the packet that has waited longest.

use std::collections::VecDeque;
use std::sync::Arc;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_core::{ByteSize, Packet, Time};
use trackbed_net::queue::{Queue, QueueEntry, QueueModel};
use trackbed_net::{DropReason, Outlet};

/// The registry entry.
pub static ENTRY: QueueEntry = QueueEntry {
    name: "drop-head",
    summary: "first in, first out; when it is full, the oldest packet is lost",
    parameters: &[Parameter::with_default(
        "queue_packets",
        Kind::Count { min: 1 },
        "100",
        "the most packets that wait",
    )],
    read: |arguments| Ok(Arc::new(DropHead { packets: arguments.need("queue_packets") })),
};

#[derive(Debug)]
struct DropHead {
    packets: u64,
}

impl QueueModel for DropHead {
    fn build(&self) -> Box<dyn Queue> {
        Box::new(Waiting { most: self.packets, packets: VecDeque::new() })
    }
}

#[derive(Debug)]
struct Waiting {
    most: u64,
    packets: VecDeque<Packet>,
}

impl Queue for Waiting {
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        self.packets.push_back(packet);
        if self.packets.len() as u64 > self.most
            && let Some(oldest) = self.packets.pop_front()
        {
            out.drop(now, oldest, DropReason::QueueFull);
        }
    }

    fn pop(&mut self, _: Time, _: &mut dyn Outlet) -> Option<Packet> {
        self.packets.pop_front()
    }

    fn flush(&mut self, now: Time, bytes: ByteSize, out: &mut dyn Outlet) {
        let mut left = bytes.as_bytes();
        while self.packets.front().is_some_and(|oldest| oldest.len() as u64 <= left)
            && let Some(oldest) = self.packets.pop_front()
        {
            left -= oldest.len() as u64;
            out.drop(now, oldest, DropReason::Flushed);
        }
    }

    fn len(&self) -> usize {
        self.packets.len()
    }
}
