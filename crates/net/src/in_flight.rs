//! Packets in flight, each with its due time.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use trackbed_core::{Packet, Time};

use crate::link::{Link, Outlet};

#[derive(Debug)]
pub(crate) enum InFlight {
    /// Packets leave in the order in which they came: none is due before its predecessor.
    Ordered(VecDeque<Due>),
    /// Packets leave when they are due; those due together, in the order in which they came.
    Overtaking {
        /// The earliest on top.
        heap: BinaryHeap<Due>,
        /// The number of the next packet.
        sequence: u64,
    },
}

/// A packet and when it comes out. Ordered so that the greatest is the first one out.
#[derive(Debug)]
pub(crate) struct Due {
    at: Time,
    sequence: u64,
    packet: Packet,
}

impl InFlight {
    pub(crate) fn new(keep_order: bool) -> InFlight {
        match keep_order {
            true => InFlight::Ordered(VecDeque::new()),
            false => InFlight::Overtaking { heap: BinaryHeap::new(), sequence: 0 },
        }
    }

    /// Takes a packet that is due at `at`; where order is kept, at its predecessor's time if that
    /// is later.
    pub(crate) fn insert(&mut self, at: Time, packet: Packet) {
        match self {
            InFlight::Ordered(queue) => {
                let at = queue.back().map_or(at, |last| at.max(last.at));
                queue.push_back(Due { at, sequence: 0, packet });
            }
            InFlight::Overtaking { heap, sequence } => {
                heap.push(Due { at, sequence: *sequence, packet });
                *sequence += 1;
            }
        }
    }

    pub(crate) fn next_due(&self) -> Option<Time> {
        match self {
            InFlight::Ordered(queue) => queue.front().map(|due| due.at),
            InFlight::Overtaking { heap, .. } => heap.peek().map(|due| due.at),
        }
    }

    /// Pushes every packet that is due by `now` into `inner`, at its time.
    pub(crate) fn release(&mut self, now: Time, inner: &mut dyn Link, out: &mut dyn Outlet) {
        while let Some((at, packet)) = self.take_due(now) {
            inner.advance(at, out);
            inner.push(at, packet, out);
        }
    }

    /// The next packet, if it is due at or before `now`, and when it was.
    fn take_due(&mut self, now: Time) -> Option<(Time, Packet)> {
        if self.next_due()? > now {
            return None;
        }
        let due = match self {
            InFlight::Ordered(queue) => queue.pop_front(),
            InFlight::Overtaking { heap, .. } => heap.pop(),
        };
        due.map(|due| (due.at, due.packet))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            InFlight::Ordered(queue) => queue.len(),
            InFlight::Overtaking { heap, .. } => heap.len(),
        }
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}

#[cfg(test)]
mod tests {
    use trackbed_core::packet::{Ecn, UdpDatagram};

    use super::*;

    fn packet(number: u8) -> Packet {
        let socket = "10.0.0.1:1".parse().unwrap();
        UdpDatagram::emit(socket, socket, Ecn::NotCapable, &[number])
    }

    fn order(keep_order: bool, due: &[u64]) -> Vec<(u64, u8)> {
        let mut in_flight = InFlight::new(keep_order);
        for (number, at) in (0..).zip(due) {
            in_flight.insert(Time::from_millis(*at), packet(number));
        }
        let next = || in_flight.take_due(Time::from_millis(100));
        let taken = std::iter::from_fn(next);
        taken.map(|(at, packet)| (at.as_nanos() / 1_000_000, packet.transport()[8])).collect()
    }

    #[test]
    fn packets_come_out_when_due_and_ties_in_order() {
        let due = [5, 3, 3, 3, 3, 3, 4, 101];
        assert_eq!(order(false, &due), [(3, 1), (3, 2), (3, 3), (3, 4), (3, 5), (4, 6), (5, 0)]);
        assert_eq!(order(true, &due), [0, 1, 2, 3, 4, 5, 6].map(|number| (5, number)));
    }
}
