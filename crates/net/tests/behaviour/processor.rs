//! Networks with a processor at an end: what it holds, and when that goes on.

use trackbed_net::{Handled, Processor, Way};

use crate::harness::*;
use crate::topology::{self, drain, duplex};

/// Handles one packet after the other, each for this long; holds this many.
#[derive(Debug)]
struct Queue {
    each: Duration,
    room: usize,
    waiting: VecDeque<(Time, Handled)>,
    handled: VecDeque<Handled>,
}

impl Queue {
    fn new(each: Duration, room: usize) -> Box<Queue> {
        Box::new(Queue { each, room, waiting: VecDeque::new(), handled: VecDeque::new() })
    }
}

impl Processor for Queue {
    fn take(&mut self, now: Time, node: NodeId, way: Way, packet: Packet) -> Result<(), Packet> {
        if self.waiting.len() >= self.room {
            return Err(packet);
        }
        let begin = self.waiting.back().map_or(now, |(at, _)| now.max(*at));
        self.waiting.push_back((begin + self.each, Handled { node, way, packet }));
        self.advance(now);
        Ok(())
    }

    fn advance(&mut self, now: Time) {
        while let Some((at, _)) = self.waiting.front()
            && *at <= now
        {
            self.handled.extend(self.waiting.pop_front().map(|(_, handled)| handled));
        }
    }

    fn next_handled(&mut self) -> Option<Handled> {
        self.handled.pop_front()
    }

    fn next_wake(&self) -> Option<Time> {
        self.waiting.front().map(|(at, _)| *at)
    }
}

/// Two hosts, 10 ms apart at 12 Mbit/s: a millisecond for 1,500 B.
fn pair() -> (Network, NodeId, NodeId) {
    let (network, a, b, _) = topology::pair(duplex(12, ms(10)));
    (network, a, b)
}

fn there(len: usize) -> Packet {
    datagram("10.0.0.1", "10.0.0.2", len)
}

fn back(len: usize) -> Packet {
    datagram("10.0.0.2", "10.0.0.1", len)
}

fn arrivals(deliveries: &[Delivery]) -> Vec<(NodeId, Time)> {
    deliveries.iter().map(|delivery| (delivery.node, delivery.at)).collect()
}

#[test]
fn both_directions_wait_for_the_same_processor() {
    let (mut network, a, b) = pair();
    network.add_processor(vec![a], Queue::new(ms(4), 100));
    network.send(Time::ZERO, b, back(1500));
    // What comes at 11 ms is handled until 15 ms; what is sent at 12 ms waits for it.
    network.advance(Time::from_millis(12));
    network.send(Time::from_millis(12), a, there(1500));
    let found = drain(&mut network);
    assert_eq!(arrivals(&found), [(a, Time::from_millis(15)), (b, Time::from_millis(30))]);
    // The other host takes no time.
    network.send(Time::from_millis(40), b, back(1500));
    assert_eq!(arrivals(&drain(&mut network)), [(a, Time::from_millis(55))]);
}

#[test]
fn a_processor_that_takes_no_time_makes_no_difference() {
    let packets = |network: &mut Network, a, b| {
        let mut found = Vec::new();
        for step in 0..50 {
            let now = Time::from_micros(700 * step);
            network.advance(now);
            network.send(now, a, there(40 + 28 * step as usize));
            network.send(now, b, back(1500));
            found.extend(std::iter::from_fn(|| network.poll_delivery()));
        }
        found.extend(drain(network));
        found
    };
    let (mut bare, a, b) = pair();
    let (mut busy, _, _) = pair();
    busy.add_processor(vec![b, a], Queue::new(Duration::ZERO, 1));
    assert_eq!(packets(&mut busy, a, b), packets(&mut bare, a, b));
    assert_eq!(busy.refused().packets, 0);
}

#[test]
fn what_the_processor_has_no_room_for_is_lost_and_counted() {
    let (mut network, a, _) = pair();
    network.add_processor(vec![a], Queue::new(ms(1), 2));
    for _ in 0..5 {
        network.send(Time::ZERO, a, there(1500));
    }
    assert_eq!(drain(&mut network).len(), 2);
    assert_eq!((network.refused().packets, network.refused().bytes), (3, 4_500));
}

/// Who moves on while its packet is being handled sends nothing from its old address.
#[test]
fn a_packet_leaves_by_the_addresses_of_its_own_time() {
    let (mut network, a, _) = pair();
    network.add_processor(vec![a], Queue::new(ms(5), 10));
    network.send(Time::ZERO, a, there(1500));
    network.withdraw(Time::from_millis(1), ip("10.0.0.1"));
    assert_eq!(drain(&mut network), []);
    assert_eq!(network.unroutable().packets, 1);
}

/// A host's packets to itself bypass its processor.
#[test]
fn packets_to_oneself_are_not_held() {
    let (mut network, a, _) = pair();
    network.add_processor(vec![a], Queue::new(ms(5), 10));
    network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.0.1", 100));
    assert_eq!(arrivals(&drain(&mut network)), [(a, Time::ZERO + trackbed_net::LOOPBACK_DELAY)]);
}
