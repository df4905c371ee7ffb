//! The cell as a state machine: events between slots, and who sends in a slot.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::Duration;

use trackbed_core::{Packet, Seed, Time};

use super::bearer::{Bearer, CHECK, FAIRNESS_SLOTS};
use super::grid::{HARQ_TRANSMISSIONS, Settings};
use super::radio::{Channel, EFFICIENCY};
use crate::link::{Change, DropReason};
use crate::medium::{Medium, MediumModel, MediumOutlet, Station, Way};
use crate::network::ids::Direction::{self, Backward, Forward};

/// The largest grant that answers a scheduling request, of which the base station knows no size: that
/// of srsRAN.
const FIRST_GRANT: u64 = 512;
/// RLC AM sends a block again this long after HARQ gave up (t-PollRetransmit, TS 36.331 9.2.1.1).
const POLL_RETRANSMIT: Duration = Duration::from_millis(45);
/// How long an inactive station listens (onDurationTimer psf10, TS 36.331 6.3.2).
const DRX_ON: Duration = Duration::from_millis(10);

/// A running cell.
#[derive(Debug)]
struct RadioCell {
    settings: Settings,
    /// Uplink, downlink; by station.
    bearers: [Vec<Bearer>; 2],
    channels: [Vec<Channel>; 2],
    /// Until when each station listens all the time.
    awake: Vec<Time>,
    /// The stations that may have something to send: uplink, downlink.
    active: [BTreeSet<u32>; 2],
    /// By time, then by order of occurrence.
    events: BinaryHeap<Reverse<(Time, u64, Way, Event)>>,
    occurred: u64,
    /// The first slot that has not begun.
    slot: u64,
}

/// What happens between slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The base station can schedule up to this many of all bytes that ever came.
    Told(u64),
    /// A block can be sent again.
    Again(u64),
    /// A block has arrived or is given up.
    Landed(u64, bool),
    /// The cell no longer reaches the station, or does again.
    Paused(bool),
}

impl MediumModel for Settings {
    fn build(&self, stations: &[Station], seed: &Seed) -> Box<dyn Medium> {
        let channel = |number: usize, direction: &str| {
            // Evenly within the spread around the mean.
            let place = (2 * number + 1) as f64 / stations.len() as f64;
            let mean = self.snr + self.snr_spread * (place - 1.0);
            let seed = seed.child(&format!("cell/{number}/{direction}"));
            let course = stations[number].course.clone();
            Channel::new((mean, self.fading), course, self.coherence, self.bler, &seed)
        };
        let channels = |way| (0..stations.len()).map(|number| channel(number, way)).collect();
        let ranked = |one: &Station| Bearer { priority: one.priority, ..Bearer::default() };
        let mut cell = RadioCell {
            settings: Settings { grid: self.grid.shifted(seed.stream("cell/slots")), ..*self },
            bearers: [(); 2].map(|()| stations.iter().map(ranked).collect()),
            channels: ["uplink", "downlink"].map(channels),
            awake: vec![Time::ZERO; stations.len()],
            active: [BTreeSet::new(), BTreeSet::new()],
            events: BinaryHeap::new(),
            occurred: 0,
            slot: 0,
        };
        for (station, course) in (0..).zip(stations.iter().map(|one| &one.course)) {
            let Some(course) = course else { continue };
            for direction in [Forward, Backward] {
                for (from, until) in &course.paused[direction as usize] {
                    let way = Way { station, direction };
                    cell.schedule(*from, way, Event::Paused(true));
                    cell.schedule(*until, way, Event::Paused(false));
                }
            }
        }
        Box::new(cell)
    }
}

impl RadioCell {
    fn channel(&mut self, way: Way) -> &mut Channel {
        &mut self.channels[way.direction as usize][way.station as usize]
    }

    fn bearer(&mut self, way: Way) -> &mut Bearer {
        &mut self.bearers[way.direction as usize][way.station as usize]
    }

    fn schedule(&mut self, at: Time, way: Way, event: Event) {
        self.occurred += 1;
        self.events.push(Reverse((at, self.occurred, way, event)));
    }

    /// The next slot in which an active station can send.
    fn next_slot(&self) -> Option<u64> {
        let active = [Forward, Backward].into_iter();
        let active = active.filter(|direction| !self.active[*direction as usize].is_empty());
        active.map(|direction| self.settings.grid.next(direction, self.slot)).min()
    }

    /// Sends a scheduling request if the base station does not know of what waits.
    fn ask(&mut self, now: Time, way: Way) {
        let bearer = self.bearer(way);
        let is_known = bearer.known.max(bearer.told) > bearer.drained;
        if bearer.is_paused || bearer.backlog == 0 || is_known {
            return;
        }
        let told = bearer.drained + FIRST_GRANT;
        bearer.told = told;
        let grid = &self.settings.grid;
        let grant = grid.start(grid.granted(grid.request(way.station, now)));
        self.stay_awake(way.station, grant);
        self.schedule(grant, way, Event::Told(told));
    }

    fn stay_awake(&mut self, station: u32, from: Time) {
        let until = &mut self.awake[station as usize];
        *until = (*until).max(from + self.settings.drx_inactivity);
    }

    /// When the station listens to the base station next, if it does not at `at`.
    fn sleeps_until(&self, way: Way, at: Time) -> Option<Time> {
        let cycle = self.settings.drx_cycle?.as_nanos() as u64;
        let on = DRX_ON.as_nanos() as u64;
        let turn = u64::from(way.station).wrapping_mul(on) % cycle;
        let phase = (at.as_nanos() % cycle + cycle - turn) % cycle;
        let listens = way.direction == Forward || phase < on;
        let sleeps = !listens && at >= self.awake[way.station as usize];
        sleeps.then(|| at + Duration::from_nanos(cycle - phase))
    }

    fn occur(&mut self, now: Time, way: Way, event: Event, out: &mut dyn MediumOutlet) {
        let bearer = self.bearer(way);
        match event {
            Event::Told(told) => bearer.known = bearer.known.max(told.min(bearer.total())),
            Event::Again(number) => bearer.retries.push_back(number),
            Event::Paused(paused) => {
                self.change(now, way, &Change::Paused(paused));
                return;
            }
            Event::Landed(number, arrived) => {
                bearer.land(number, arrived, (now, way), out);
                if !arrived && way.direction == Forward {
                    // The report in the block is lost too.
                    bearer.told = bearer.known;
                    self.ask(now, way);
                }
                return;
            }
        }
        // What cannot be sent leaves the list in the next slot.
        self.slot = self.slot.max(self.settings.grid.from(now));
        self.active[way.direction as usize].insert(way.station);
    }

    /// Divides a slot among the active stations of a direction.
    fn serve(&mut self, direction: Direction, slot: u64) {
        let mut candidates = Vec::new();
        let mut active = std::mem::take(&mut self.active[direction as usize]);
        active.retain(|station| {
            let candidate = self.candidate(Way { station: *station, direction }, slot);
            candidates.extend(candidate);
            candidate.is_some()
        });
        self.active[direction as usize] = active;
        candidates.sort_unstable();
        let mut left = self.settings.grid.carrier.blocks[direction as usize];
        for (.., station) in candidates {
            let way = Way { station, direction };
            self.send_again(way, slot, &mut left);
            self.send_new(way, slot, &mut left);
            if left == 0 {
                break;
            }
        }
    }

    /// The station, if it can send in this slot, after what decides the order: its priority, whether
    /// it has nothing to send again, and what the scheduler says.
    fn candidate(&mut self, way: Way, slot: u64) -> Option<(u8, bool, u64, u32)> {
        let (is_fair, start) = (self.settings.is_fair, self.settings.grid.start(slot));
        let bearer = self.bearer(way);
        let (has_retries, priority) = (!bearer.retries.is_empty(), bearer.priority);
        if bearer.is_paused || !(has_retries || bearer.known > bearer.drained) {
            return None;
        }
        let (served, recent) = (bearer.served, bearer.recent(slot).max(1e-9));
        let rank = match is_fair {
            false => served,
            // The bits of positive numbers have their order; the largest comes first.
            true => !(EFFICIENCY[self.channel(way).index(start)] / recent).to_bits(),
        };
        if let Some(later) = self.sleeps_until(way, start).filter(|_| !has_retries) {
            self.schedule(later, way, Event::Told(0));
            return None;
        }
        Some((priority, !has_retries, rank, way.station))
    }

    /// Sends blocks again, in order, as far as resource blocks are left.
    fn send_again(&mut self, way: Way, slot: u64, left: &mut u64) {
        while let Some(&number) = self.bearer(way).retries.front() {
            let size = self.bearer(way).block(number).map_or(0, |block| block.size);
            let Some(rest) = left.checked_sub(size) else { return };
            *left = rest;
            self.bearer(way).retries.pop_front();
            self.transmit(way, number, slot);
        }
    }

    /// Sends a new block of what waits, as far as resource blocks are left.
    fn send_new(&mut self, way: Way, slot: u64, left: &mut u64) {
        let grid = self.settings.grid;
        let start = grid.start(slot);
        let index = self.channel(way).index(start);
        let bearer = self.bearer(way);
        let wanted = bearer.known - bearer.drained;
        let each = EFFICIENCY[index] / 8.0 * grid.elements(way.direction, slot) as f64;
        let needed = ((wanted + CHECK) as f64 / each).ceil() as u64;
        let size = needed.next_multiple_of(grid.carrier.group).min(*left);
        let bytes = ((size as f64 * each) as u64).saturating_sub(CHECK).min(wanted);
        if bytes == 0 {
            return;
        }
        *left -= size;
        let number = bearer.fill(bytes, size, index);
        bearer.average = bearer.recent(slot) + size as f64 * each / FAIRNESS_SLOTS;
        bearer.served = slot;
        bearer.told = bearer.total();
        self.stay_awake(way.station, start);
        self.transmit(way, number, slot);
    }

    fn transmit(&mut self, way: Way, number: u64, slot: u64) {
        let (grid, start) = (self.settings.grid, self.settings.grid.start(slot));
        let landing = grid.start(slot + 1) + grid.decoding();
        let bearer = self.bearer(way);
        let Some(block) = bearer.block(number) else { return };
        block.transmissions += 1;
        let (index, sent, report) = (block.index, block.transmissions, block.report);
        let round = (sent - 1) % HARQ_TRANSMISSIONS + 1;
        if !self.channel(way).fails(start, index, round) {
            if way.direction == Forward {
                self.schedule(grid.start(grid.granted(slot)), way, Event::Told(report));
            }
            self.schedule(landing, way, Event::Landed(number, true));
        } else if round < HARQ_TRANSMISSIONS {
            let again = grid.again(way.direction, slot);
            self.schedule(grid.start(again), way, Event::Again(number));
        } else if sent < self.settings.transmissions {
            self.schedule(landing + POLL_RETRANSMIT, way, Event::Again(number));
        } else {
            self.schedule(landing, way, Event::Landed(number, false));
        }
    }
}

impl Medium for RadioCell {
    fn push(&mut self, now: Time, way: Way, packet: Packet, out: &mut dyn MediumOutlet) {
        self.advance(now, out);
        let (limit, ready) = (self.settings.queue, now + self.settings.grid.decoding());
        let bearer = self.bearer(way);
        if let Err(packet) = bearer.push(packet, limit) {
            return out.drop(now, way, packet, DropReason::QueueFull);
        }
        let total = bearer.total();
        match way.direction {
            Forward => self.ask(now, way),
            Backward => self.schedule(ready, way, Event::Told(total)),
        }
    }

    fn advance(&mut self, now: Time, out: &mut dyn MediumOutlet) {
        while self.next_wake().is_some_and(|wake| wake <= now) {
            let event = self.events.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
            let grid = self.settings.grid;
            if let Some(slot) = self.next_slot().filter(|slot| grid.start(*slot) < event) {
                self.slot = slot + 1;
                let ways = [Forward, Backward].into_iter();
                let ways = ways.filter(|direction| grid.elements(*direction, slot) > 0);
                ways.for_each(|direction| self.serve(direction, slot));
            } else if let Some(Reverse((at, _, way, event))) = self.events.pop() {
                self.occur(at, way, event, out);
            }
        }
    }

    fn next_wake(&self) -> Option<Time> {
        let event = self.events.peek().map(|Reverse((at, ..))| *at);
        let slot = self.next_slot().map(|slot| self.settings.grid.start(slot));
        event.into_iter().chain(slot).min()
    }

    fn held(&self, way: Way) -> usize {
        self.bearers[way.direction as usize][way.station as usize].held()
    }

    fn change(&mut self, now: Time, way: Way, change: &Change) -> bool {
        let Change::Paused(paused) = *change else { return false };
        let bearer = self.bearer(way);
        bearer.is_paused = paused;
        if !paused && way.direction == Forward {
            // The next base station knows nothing of the queue.
            (bearer.known, bearer.told) = (bearer.drained, bearer.drained);
            self.ask(now, way);
        }
        self.schedule(now + Duration::from_nanos(1), way, Event::Told(0));
        true
    }
}
