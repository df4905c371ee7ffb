//! The queue before an interface that sends at its own rate, slower than the host.

use std::collections::{BTreeMap, VecDeque};

use trackbed_core::{Bitrate, Packet, Time};
use trackbed_net::InterfaceId;

use crate::executor::TimerQueue;

/// The interfaces that have a rate. All others pass packets on at once and are not known here.
#[derive(Debug)]
pub(super) struct Egress {
    queues: BTreeMap<InterfaceId, Queue>,
    timers: TimerQueue<InterfaceId>,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) packet: Packet,
    /// The UDP socket, by key and serial number, that is charged for the packet while it waits.
    pub(super) charged: Option<(u32, u64)>,
}

#[derive(Debug)]
struct Queue {
    rate: Bitrate,
    timer: u32,
    /// The first one is being sent.
    packets: VecDeque<Waiting>,
}

impl Egress {
    pub(super) fn new(rates: &BTreeMap<InterfaceId, Bitrate>) -> Egress {
        let mut timers = TimerQueue::new();
        let queues = rates
            .iter()
            .map(|(&interface, &rate)| {
                let timer = timers.insert(0, interface);
                (interface, Queue { rate, timer, packets: VecDeque::new() })
            })
            .collect();
        Egress { queues, timers }
    }

    /// Whether no interface has a rate, so that nothing ever waits.
    pub(super) fn is_unlimited(&self) -> bool {
        self.queues.is_empty()
    }

    /// Whether packets wait in front of `interface`.
    pub(super) fn has_rate(&self, interface: InterfaceId) -> bool {
        self.queues.contains_key(&interface)
    }

    /// Queues a packet after those that wait for `interface`, which must have a rate.
    pub(super) fn push(&mut self, now: Time, interface: InterfaceId, waiting: Waiting) {
        let Some(queue) = self.queues.get_mut(&interface) else { return };
        queue.packets.push_back(waiting);
        if queue.packets.len() == 1 {
            queue.start(now, &mut self.timers);
        }
    }

    pub(super) fn next_wake(&mut self) -> Option<Time> {
        self.timers.next()
    }

    pub(super) fn pop_due(&mut self, now: Time) -> Option<Waiting> {
        let key = self.timers.pop_due(now)?;
        let queue = self.queues.get_mut(self.timers.payload(key))?;
        let sent = queue.packets.pop_front();
        queue.start(now, &mut self.timers);
        sent
    }
}

impl Queue {
    fn start(&self, now: Time, timers: &mut TimerQueue<InterfaceId>) {
        if let Some(first) = self.packets.front() {
            let done = now + self.rate.serialization(first.packet.len());
            timers.set(self.timer, Some(done));
        }
    }
}
