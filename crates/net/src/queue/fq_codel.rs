//! Flow queues with Controlled Delay, RFC 8290: each flow waits in a queue of its own, which CoDel
//! keeps short, and the queues take turns.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trackbed_core::packet::protocol;
use trackbed_core::{Arguments, ByteSize, Packet, Rng, Time, parameters};

use super::codel::CodelQueue;
use super::{Codel, Queue, QueueEntry, QueueModel};
use crate::link::{DropReason, Outlet, Waiting};
use crate::spec::SpecError;

pub(crate) static ENTRY: QueueEntry = QueueEntry {
    name: "fq-codel",
    summary: "flow queues with CoDel (RFC 8290): flows take turns, and each has a CoDel queue of \
              its own",
    parameters: parameters! {
        "queue_packets": Count { min: 0 } = "10240" =>
            "the maximum number of packets in all queues; more push out the first of the longest queue";
        "queue_bytes": Size, optional =>
            "the maximum number of bytes in all queues, IP headers included; default: no limit";
        "fq_codel_quantum": Size = "1514 B" => "bytes that a flow may send in a turn, at least 256 B";
        "fq_codel_target": Time = "5 ms" => "the acceptable standing delay of a flow's queue";
        "fq_codel_interval": Time = "100 ms" =>
            "how long the delay may exceed the target; about the largest usual round-trip time";
        "fq_codel_ecn": Flag = "true" =>
            "mark packets of ECN-capable transports instead of dropping them";
    },
    read,
};

fn read(arguments: &Arguments) -> Result<Arc<dyn QueueModel>, SpecError> {
    let names = ["fq_codel_target", "fq_codel_interval", "fq_codel_ecn"];
    let codel = Codel::read(arguments, names)?;
    Ok(Arc::new(FqCodel { codel, quantum: arguments.need("fq_codel_quantum") }))
}

/// Flow queues with CoDel (RFC 8290). The defaults are those of section 5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodel {
    /// The control of each flow's queue; its limits are those of all queues together.
    pub codel: Codel,
    /// Bytes that a flow may send in a turn, at least 256 as in Linux.
    pub quantum: ByteSize,
}

impl Default for FqCodel {
    fn default() -> FqCodel {
        let codel = Codel { packets: 10_240, ..Codel::default() };
        FqCodel { codel, quantum: ByteSize::from_bytes(1_514) }
    }
}

impl QueueModel for FqCodel {
    fn build(&self, mut rng: Rng) -> Box<dyn Queue> {
        Box::new(FqCodelQueue {
            model: *self,
            perturbation: rng.next_u64(),
            flows: FxHashMap::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        })
    }
}

/// Flows are spread over so many by a hash (RFC 8290 section 5.2.2).
const QUEUES: u64 = 1_024;

#[derive(Debug)]
struct FqCodelQueue {
    model: FqCodel,
    /// So that flows that share a queue in one run do not in another.
    perturbation: u64,
    /// The queues that have been used, by number. Nothing depends on the order of this map.
    flows: FxHashMap<u64, Flow>,
    /// The numbers of queues that have not had a whole turn since they were empty.
    new: VecDeque<u64>,
    old: VecDeque<u64>,
    packets: usize,
    bytes: u64,
}

#[derive(Debug)]
struct Flow {
    queue: CodelQueue,
    credits: i64,
    is_listed: bool,
}

impl Queue for FqCodelQueue {
    /// RFC 8290 section 4.1.
    fn push(&mut self, now: Time, packet: Packet, out: &mut dyn Outlet) {
        let FqCodel { codel, quantum, .. } = self.model;
        let number = self.number(&packet);
        let new = || Flow { queue: codel.without_limits(), credits: 0, is_listed: false };
        let flow = self.flows.entry(number).or_insert_with(new);
        if !flow.is_listed {
            (flow.is_listed, flow.credits) = (true, quantum.as_bytes().max(256) as i64);
            self.new.push_back(number);
        }
        self.packets += 1;
        self.bytes += packet.len() as u64;
        flow.queue.push(now, packet, out);
        let bytes_max = codel.bytes.map_or(u64::MAX, ByteSize::as_bytes);
        while self.packets as u64 > codel.packets || self.bytes > bytes_max {
            let length = |number: &u64| self.flows[number].queue.bytes();
            let longest = self.listed().reduce(|a, b| if length(&b) > length(&a) { b } else { a });
            let Some((_, packet)) = longest.and_then(|number| self.remove(number)) else { return };
            out.drop(now, packet, DropReason::QueueFull);
        }
    }

    /// RFC 8290 section 4.2.
    fn pop(&mut self, now: Time, out: &mut dyn Outlet) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let flow = self.flows.get_mut(&number)?;
            if flow.credits <= 0 {
                flow.credits += self.model.quantum.as_bytes().max(256) as i64;
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let (packets, bytes) = (flow.queue.len(), flow.queue.bytes());
            let packet = flow.queue.pop(now, out);
            self.packets -= packets - flow.queue.len();
            self.bytes -= bytes - flow.queue.bytes();
            if let Some(packet) = packet {
                flow.credits -= packet.len() as i64;
                return Some(packet);
            }
            list.pop_front();
            // A turn among the old ones keeps a flow from being new, and thus first, with each packet.
            if is_new { self.old.push_back(number) } else { flow.is_listed = false }
        }
    }

    fn flush(&mut self, now: Time, which: Waiting, out: &mut dyn Outlet) {
        let mut waiting = Vec::with_capacity(self.packets);
        for number in self.listed().collect::<Vec<u64>>() {
            waiting.extend(std::iter::from_fn(|| self.remove(number)));
        }
        waiting.sort_by_key(|(since, _)| *since);
        let mut waiting = VecDeque::from(waiting);
        for (_, packet) in which.take(&mut waiting, |(_, packet)| packet) {
            out.drop(now, packet, DropReason::Flushed);
        }
        waiting.into_iter().for_each(|(since, packet)| self.push(since, packet, out));
    }

    fn len(&self) -> usize {
        self.packets
    }
}

impl FqCodelQueue {
    /// The numbers of the queues with packets, and of some that are empty.
    fn listed(&self) -> impl Iterator<Item = u64> {
        self.new.iter().chain(&self.old).copied()
    }

    /// The first packet of a queue, and since when it waits.
    fn remove(&mut self, number: u64) -> Option<(Time, Packet)> {
        let (since, packet) = self.flows.get_mut(&number)?.queue.remove()?;
        self.packets -= 1;
        self.bytes -= packet.len() as u64;
        Some((since, packet))
    }

    /// The queue of a packet, by its protocol, addresses and ports.
    fn number(&self, packet: &Packet) -> u64 {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(address) => address.to_bits().into(),
            IpAddr::V6(address) => address.to_bits(),
        };
        let has_ports = [protocol::TCP, protocol::UDP, protocol::SCTP].contains(&packet.protocol());
        let ports = packet.transport().first_chunk().map_or(0, |ports| u32::from_be_bytes(*ports));
        let ports = if has_ports && !packet.is_fragment() { ports } else { 0 };
        let addresses = [packet.source(), packet.destination()].map(bits);
        let words = addresses.into_iter().flat_map(|bits: u128| [bits as u64, (bits >> 64) as u64]);
        let last = u64::from(packet.protocol()) << 32 | u64::from(ports);
        let hash = |hash, word| mixed(hash ^ word);
        words.chain([last]).fold(self.perturbation, hash) % QUEUES
    }
}

/// Spreads every bit of the input over all of the output (the finaliser of SplitMix64).
fn mixed(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
