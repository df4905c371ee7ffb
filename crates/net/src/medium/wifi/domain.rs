//! A collision domain: an access point and its stations, which all hear each other.

use std::collections::VecDeque;
use std::time::Duration;

use trackbed_core::{Packet, Ratio, Seed, Time};

use super::sender::Sender;
use super::timing::Timing;
use crate::link::{Change, DropReason};
use crate::medium::{Medium, MediumModel, MediumOutlet, Station, Way};
use crate::network::ids::Direction;
use crate::queue::DropTail;

/// Stations and an access point in one collision domain. The model steps from one transmission to the
/// next, so idle slots cost nothing.
#[derive(Clone, Debug)]
pub struct Wifi {
    /// The standard.
    pub timing: Timing,
    /// The stations' mean signal-to-noise ratio, in dB.
    pub snr: f64,
    /// The ratios of the stations lie evenly within this many dB around the mean.
    pub snr_spread: f64,
    /// The probability that a frame is lost without a collision; in an aggregate each on its own.
    pub frame_error: Ratio,
    /// The maximum number of frames in an aggregate.
    pub aggregation: u64,
    /// How often a frame is sent before it is dropped.
    pub attempts: u64,
    /// The limits of a station's queue, and of the access point's queue for each station.
    pub queue: DropTail,
}

impl MediumModel for Wifi {
    fn build(&self, stations: &[Station], seed: &Seed) -> Box<dyn Medium> {
        let (mut flows, mut senders, mut down) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        let mut add = |name: String, class: usize, flows| {
            let (access, rng) = (self.timing.access[class], seed.stream(&name));
            senders.push(Sender { flows, access, rng, failures: 0, slots: 0, resumes: Time::ZERO });
        };
        for (n, station) in stations.iter().enumerate() {
            let class = usize::from(station.priority > 0);
            let place = (2 * n + 1) as f64 / stations.len() as f64 - 1.0;
            let rate = self.timing.rate_at(self.snr + place * self.snr_spread);
            for sender in [n, stations.len() + class] {
                flows.push(Flow { sender, rate, waiting: VecDeque::new(), is_paused: false });
            }
            add(format!("station {n}"), class, vec![2 * n]);
            down[class].push(2 * n + 1);
        }
        for (class, flows) in down.into_iter().enumerate() {
            add(format!("access point {class}"), class, flows);
        }
        let (wifi, on_air, idle_from) = (self.clone(), Vec::new(), Time::ZERO);
        Box::new(Domain { wifi, flows, senders, on_air, idle_from, next: None })
    }
}

#[derive(Debug)]
struct Domain {
    wifi: Wifi,
    /// The uplink and the downlink of each station.
    flows: Vec<Flow>,
    /// The stations, then the two classes of the access point.
    senders: Vec<Sender>,
    /// Several that collide, one, or none.
    on_air: Vec<Transmission>,
    /// When the last exchange ended, its acknowledgment included.
    idle_from: Time,
    /// When what is on the air ends, or else when the next transmission has been heard.
    next: Option<Time>,
}

/// The packets of a station in one direction.
#[derive(Debug)]
struct Flow {
    sender: usize,
    rate: usize,
    /// In the order in which they leave; the first one must be sent.
    waiting: VecDeque<Frame>,
    is_paused: bool,
}

#[derive(Debug)]
struct Frame {
    packet: Packet,
    /// How often it may still be sent; 0 while it waits for earlier ones to leave.
    attempts: u64,
    is_received: bool,
}

#[derive(Debug)]
struct Transmission {
    flow: usize,
    frames: u64,
    end: Time,
}

/// aPPDUMaxTime (21.4.4): the legacy preamble has 12 bits for the length at 6 Mbit/s.
const LONGEST: Duration = Duration::from_micros(5_484);

/// The frames that a block acknowledgment covers, from the oldest open one on (9.3.1.8).
const WINDOW: usize = 64;

impl Flow {
    fn has_room(&self, limits: &DropTail, packet: &Packet) -> bool {
        let bytes = || self.waiting.iter().map(|one| one.packet.len()).sum::<usize>();
        limits.packets.is_none_or(|most| (self.waiting.len() as u64) < most)
            && limits.bytes.is_none_or(|most| (bytes() + packet.len()) as u64 <= most.as_bytes())
    }

    /// The number of frames in its next transmission, and how long that takes.
    fn plan(&self, wifi: &Wifi) -> (u64, Duration) {
        let timing = &wifi.timing;
        let (mut frames, mut bytes, mut taken) = (0, 0, Duration::ZERO);
        for frame in self.waiting.iter().take(WINDOW).filter(|frame| frame.attempts > 0) {
            let alone = frame.packet.len() as u64 + timing.header;
            // 9.7: each has a delimiter of 4 bytes and is padded to a multiple of 4.
            bytes += alone.next_multiple_of(4) + 4;
            let longer = timing.frame(self.rate, bytes);
            let is_full = frames == wifi.aggregation || bytes > timing.aggregate;
            if frames > 0 && (is_full || longer > LONGEST) {
                break;
            }
            taken = if frames == 0 { timing.frame(self.rate, alone) } else { longer };
            frames += 1;
        }
        (frames, taken)
    }
}

impl Domain {
    /// The flow that a sender would serve now.
    fn turn(&self, sender: usize) -> Option<usize> {
        let ready = |flow: &Flow| !flow.is_paused && !flow.waiting.is_empty();
        self.senders[sender].flows.iter().copied().find(|flow| ready(&self.flows[*flow]))
    }

    /// Changes a flow, after which its sender may contend, or no longer.
    fn alter(&mut self, now: Time, flow: usize, alter: impl FnOnce(&mut Flow)) {
        let sender = self.flows[flow].sender;
        let had_none = self.turn(sender).is_none();
        alter(&mut self.flows[flow]);
        if had_none && self.turn(sender).is_some() {
            let is_busy = !self.on_air.is_empty() || now < self.idle_from;
            self.senders[sender].request(now, is_busy, &self.wifi.timing);
        }
        self.schedule();
    }

    fn schedule(&mut self) {
        let timing = &self.wifi.timing;
        self.next = self.on_air.iter().map(|one| one.end).max().or_else(|| {
            let ready = (0..self.senders.len()).filter(|one| self.turn(*one).is_some());
            Some(ready.map(|one| self.senders[one].starts(timing)).min()? + timing.sensing)
        });
    }

    /// From `now` on all hear a transmission: those that have not started yet wait.
    fn begin(&mut self, now: Time) {
        let timing = self.wifi.timing;
        for sender in 0..self.senders.len() {
            let starts = self.senders[sender].starts(&timing);
            let Some(flow) = self.turn(sender).filter(|_| starts < now) else {
                self.senders[sender].freeze(now, &timing);
                continue;
            };
            if flow % 2 == 1 && self.on_air.iter().any(|one| one.flow % 2 == 1) {
                // The access point has one radio: its lower class has collided (10.23.2.4).
                self.senders[sender].end(false, self.wifi.attempts);
                continue;
            }
            let (frames, taken) = self.flows[flow].plan(&self.wifi);
            self.on_air.push(Transmission { flow, frames, end: starts + taken });
        }
    }

    /// The last transmission on the air has ended.
    fn finish(&mut self, now: Time, out: &mut dyn MediumOutlet) {
        let timing = self.wifi.timing;
        let on_air = std::mem::take(&mut self.on_air);
        let collide = on_air.len() > 1;
        // Who reads a frame waits for its acknowledgment, even if none comes (10.3.2.4). Frames that
        // collide cannot be read.
        let read = on_air.first().filter(|_| !collide);
        let answer = read.map(|one| timing.answer(self.flows[one.flow].rate, one.frames));
        self.idle_from = now + answer.unwrap_or_default();
        let others = if collide { now + timing.collision_wait } else { self.idle_from };
        self.senders.iter_mut().for_each(|sender| sender.resume(others, &timing));
        for one in on_air {
            self.settle(now, &one, collide, out);
        }
    }

    /// Decides about the frames of a transmission.
    fn settle(&mut self, now: Time, sent: &Transmission, lost: bool, out: &mut dyn MediumOutlet) {
        let (wifi, flow) = (&self.wifi, &mut self.flows[sent.flow]);
        let sender = &mut self.senders[flow.sender];
        let mut arrived = false;
        let open = flow.waiting.iter_mut().filter(|frame| frame.attempts > 0);
        for frame in open.take(sent.frames as usize) {
            frame.is_received = !sender.rng.chance(wifi.frame_error) && !lost;
            frame.attempts = if frame.is_received { 0 } else { frame.attempts - 1 };
            arrived |= frame.is_received;
        }
        sender.end(arrived, wifi.attempts);
        if !arrived {
            sender.resume((sent.end + wifi.timing.ack_timeout).max(now), &wifi.timing);
        }
        while let Some(Frame { attempts: 0, .. }) = flow.waiting.front()
            && let Some(frame) = flow.waiting.pop_front()
        {
            match frame.is_received {
                true => out.deliver(now, way(sent.flow), frame.packet),
                false => out.drop(now, way(sent.flow), frame.packet, DropReason::Loss),
            }
        }
        sender.flows.retain(|flow| *flow != sent.flow);
        sender.flows.push(sent.flow);
    }
}

/// The number of the flow that goes this way.
fn number(way: Way) -> usize {
    2 * way.station as usize + usize::from(way.direction == Direction::Backward)
}

fn way(number: usize) -> Way {
    let direction = if number.is_multiple_of(2) { Direction::Forward } else { Direction::Backward };
    Way { station: (number / 2) as u32, direction }
}

impl Medium for Domain {
    fn push(&mut self, now: Time, way: Way, packet: Packet, out: &mut dyn MediumOutlet) {
        self.advance(now, out);
        if !self.flows[number(way)].has_room(&self.wifi.queue, &packet) {
            return out.drop(now, way, packet, DropReason::QueueFull);
        }
        let frame = Frame { packet, attempts: self.wifi.attempts, is_received: false };
        self.alter(now, number(way), |flow| flow.waiting.push_back(frame));
    }

    fn advance(&mut self, now: Time, out: &mut dyn MediumOutlet) {
        while let Some(at) = self.next.filter(|at| *at <= now) {
            match self.on_air.is_empty() {
                true => self.begin(at),
                false => self.finish(at, out),
            }
            self.schedule();
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.next
    }

    fn held(&self, way: Way) -> usize {
        self.flows[number(way)].waiting.len()
    }

    fn change(&mut self, now: Time, way: Way, change: &Change) -> bool {
        let Change::Paused(is_paused) = *change else { return false };
        self.alter(now, number(way), |flow| flow.is_paused = is_paused);
        true
    }
}
