//! The cell as a state machine: events between slots, and who sends in a slot.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Packet, Seed, Time};

use super::bearer::{Bearer, CHECK};
use super::grid::Settings;
use super::radio::Channel;
use crate::link::{Change, DropReason};
use crate::medium::{Medium, MediumOutlet, Station, Way};
use crate::network::Direction::{self, Backward, Forward};

/// The largest grant that answers a scheduling request, of which the base station knows no size: that
/// of srsRAN.
const FIRST_GRANT: u64 = 512;

/// Transmissions of a block before HARQ gives up: its four redundancy versions (TS 36.212 5.1.4.1.2).
const TRANSMISSIONS: u32 = 4;

/// RLC AM sends a block again this long after HARQ gave up (t-PollRetransmit, TS 36.331 9.2.1.1).
const POLL_RETRANSMIT: Duration = Duration::from_millis(45);

/// How often it does (maxRetxThreshold, ibidem). Then the radio link has failed, and packets are lost.
const RLC_RETRANSMISSIONS: u32 = 4;

/// RLC UM waits this long for a missing block (t-Reordering, ibidem).
const REORDERING: Duration = Duration::from_millis(35);

/// How long an inactive station listens (onDurationTimer psf10, TS 36.331 6.3.2).
const DRX_ON: Duration = Duration::from_millis(10);

/// Slots over which proportional fairness averages.
const FAIRNESS_SLOTS: f64 = 100.0;

/// A running cell.
#[derive(Debug)]
pub(super) struct RadioCell {
    settings: Arc<Settings>,
    /// Uplink, downlink; by station.
    bearers: [Vec<Bearer>; 2],
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
}

/// A station that can send in a slot, in the order of service: by priority, then who has something to
/// send again, then by what the scheduler prefers.
type Candidate = (u8, bool, u64, u32);

impl RadioCell {
    pub(super) fn new(settings: Arc<Settings>, stations: &[Station], seed: &Seed) -> RadioCell {
        let bearer = |direction: &str| {
            let one = |(number, station): (usize, &Station)| {
                // Evenly from the mean minus the spread to the mean plus it.
                let place = number as f64 / (stations.len().max(2) - 1) as f64;
                let mean = settings.snr + settings.snr_spread * (2.0 * place - 1.0);
                let seed = seed.child(&format!("cell/{number}/{direction}"));
                let Settings { fading, coherence, bler, .. } = *settings;
                Bearer::new(Channel::new(mean, fading, coherence, bler, &seed), station.priority)
            };
            stations.iter().enumerate().map(one).collect()
        };
        RadioCell {
            bearers: [bearer("uplink"), bearer("downlink")],
            settings: settings.clone(),
            awake: vec![Time::ZERO; stations.len()],
            active: [BTreeSet::new(), BTreeSet::new()],
            events: BinaryHeap::new(),
            occurred: 0,
            slot: 0,
        }
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
            Event::Landed(number, arrived) => {
                bearer.land(number, arrived, (now, way), out);
                let may_wait_for_the_window = bearer.backlog > 0;
                if !arrived && way.direction == Forward {
                    // The report in the block is lost too.
                    bearer.told = bearer.known;
                    self.ask(now, way);
                }
                if !may_wait_for_the_window {
                    return;
                }
            }
        }
        // What cannot be sent leaves the list in the next slot.
        self.slot = self.slot.max(self.settings.grid.from(now));
        self.active[way.direction as usize].insert(way.station);
    }

    /// Divides a slot among the active stations of a direction.
    fn serve(&mut self, direction: Direction, slot: u64) {
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut active = std::mem::take(&mut self.active[direction as usize]);
        active.retain(|station| {
            let candidate = self.candidate(Way { station: *station, direction }, slot);
            candidates.extend(candidate);
            candidate.is_some()
        });
        self.active[direction as usize] = active;
        candidates.sort_unstable();
        let mut left = self.settings.grid.blocks(direction);
        for (.., station) in candidates {
            let way = Way { station, direction };
            left -= self.send_again(way, slot, left);
            left -= self.send_new(way, slot, left);
            if left == 0 {
                break;
            }
        }
    }

    /// The station, if it can send in this slot.
    fn candidate(&mut self, way: Way, slot: u64) -> Option<Candidate> {
        let (is_fair, start) = (self.settings.is_fair, self.settings.grid.start(slot));
        let bearer = self.bearer(way);
        let has_retries = !bearer.retries.is_empty();
        let has_more = bearer.known > bearer.drained && !bearer.is_blocked();
        if bearer.is_paused || !(has_retries || has_more) {
            return None;
        }
        let rank = match is_fair {
            false => bearer.served,
            true => {
                let rate = Channel::efficiency(bearer.channel.index(start));
                // The bits of positive numbers have their order; the largest comes first.
                !(rate / bearer.recent(slot).max(1e-9)).to_bits()
            }
        };
        let candidate = (bearer.priority, !has_retries, rank, way.station);
        if let Some(later) = self.sleeps_until(way, start).filter(|_| !has_retries) {
            self.schedule(later, way, Event::Told(0));
            return None;
        }
        Some(candidate)
    }

    /// Sends blocks again, in order, and returns how many resource blocks that took.
    fn send_again(&mut self, way: Way, slot: u64, mut left: u64) -> u64 {
        let offered = left;
        while let Some(&number) = self.bearer(way).retries.front() {
            let size = self.bearer(way).block(number).map_or(0, |block| block.size);
            if size > left {
                break;
            }
            left -= size;
            self.bearer(way).retries.pop_front();
            self.transmit(way, number, slot);
        }
        offered - left
    }

    /// Sends a new block, and returns how many resource blocks that took.
    fn send_new(&mut self, way: Way, slot: u64, left: u64) -> u64 {
        let grid = self.settings.grid;
        let start = grid.start(slot);
        let sleeps = self.sleeps_until(way, start).is_some();
        let bearer = self.bearer(way);
        let wanted = bearer.known - bearer.drained;
        let index = bearer.channel.index(start);
        let each = Channel::efficiency(index) * grid.elements(way.direction, slot) as f64;
        let needed = ((wanted + CHECK) as f64 / each).ceil() as u64;
        let size = needed.next_multiple_of(grid.carrier.group).min(left);
        let bytes = ((size as f64 * each) as u64).saturating_sub(CHECK).min(wanted);
        if bytes == 0 || sleeps || bearer.is_blocked() || !bearer.retries.is_empty() {
            return 0;
        }
        let number = bearer.fill(bytes, size, index, start);
        bearer.average = bearer.recent(slot) + size as f64 * each / FAIRNESS_SLOTS;
        bearer.served = slot;
        bearer.told = bearer.total();
        self.stay_awake(way.station, start);
        self.transmit(way, number, slot);
        size
    }

    fn transmit(&mut self, way: Way, number: u64, slot: u64) {
        let settings = self.settings.clone();
        let (grid, start) = (&settings.grid, settings.grid.start(slot));
        let landing = grid.start(slot + 1) + grid.decoding();
        let bearer = self.bearer(way);
        let Some(block) = bearer.block(number) else { return };
        block.transmissions += 1;
        let (index, sent) = (block.index, block.transmissions);
        let (begun, report) = (block.begun, block.report);
        let round = (sent - 1) % TRANSMISSIONS + 1;
        if !bearer.channel.fails(start, index, round) {
            if way.direction == Forward {
                self.schedule(grid.start(grid.granted(slot)), way, Event::Told(report));
            }
            self.schedule(landing, way, Event::Landed(number, true));
        } else if round < TRANSMISSIONS {
            let again = grid.again(way.direction, slot);
            self.schedule(grid.start(again), way, Event::Again(number));
        } else if settings.is_acknowledged && sent < TRANSMISSIONS * (1 + RLC_RETRANSMISSIONS) {
            self.schedule(landing + POLL_RETRANSMIT, way, Event::Again(number));
        } else {
            let given_up = landing.max(begun + REORDERING);
            self.schedule(given_up, way, Event::Landed(number, false));
        }
    }
}

impl Bearer {
    /// Bytes per slot of late, as they count in this slot.
    fn recent(&self, slot: u64) -> f64 {
        let gone = slot.saturating_sub(self.served) as f64;
        self.average * libm::exp(-gone / FAIRNESS_SLOTS)
    }
}

impl Medium for RadioCell {
    fn push(&mut self, now: Time, way: Way, packet: Packet, out: &mut dyn MediumOutlet) {
        self.advance(now, out);
        let (limit, ready) = (self.settings.queue_bytes, now + self.settings.grid.decoding());
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
        loop {
            let event = self.events.peek().map(|Reverse((at, ..))| *at).filter(|at| *at <= now);
            let slot = self.next_slot().filter(|slot| self.settings.grid.start(*slot) <= now);
            match (event, slot) {
                (Some(at), slot) if slot.is_none_or(|s| at <= self.settings.grid.start(s)) => {
                    if let Some(Reverse((at, _, way, event))) = self.events.pop() {
                        self.occur(at, way, event, out);
                    }
                }
                (_, Some(slot)) => {
                    self.slot = slot + 1;
                    for direction in [Forward, Backward] {
                        if self.settings.grid.elements(direction, slot) > 0 {
                            self.serve(direction, slot);
                        }
                    }
                }
                _ => return,
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
