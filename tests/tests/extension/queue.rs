//! A queue that drops the packet that has waited longest.

use std::collections::VecDeque;
use std::sync::Arc;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_core::{Packet, Rng, Time};
use trackbed_net::queue::{Queue, QueueEntry, QueueModel};
use trackbed_net::{DropReason, Outlet, Waiting};

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
    fn build(&self, _rng: Rng) -> Box<dyn Queue> {
        Box::new(DropHeadQueue { most: self.packets, packets: VecDeque::new() })
    }
}

#[derive(Debug)]
struct DropHeadQueue {
    most: u64,
    packets: VecDeque<Packet>,
}

impl Queue for DropHeadQueue {
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

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) {
        for packet in which.take(&mut self.packets, |packet| packet) {
            out.drop(now, packet, DropReason::Flushed);
        }
    }

    fn len(&self) -> usize {
        self.packets.len()
    }
}
