//! The turns of a crossing; nothing is signed here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use trackbed_core::{Rng, Seed, Time};

use super::crossing::{Crossing, Pace};
use super::trigger::{CamTrigger, Dynamics};
use crate::location::Position;

/// The origin of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The claimed vehicle.
    Vehicle,
    /// A vehicle, but with a forged signature.
    Forged,
    /// An unknown sender who repeats a message with a forged signature.
    Flood,
}

/// A scheduled message that is not written yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Its arrival time.
    pub at: Time,
    /// Its scheduled time: earlier than its arrival by jitter and blockages.
    pub due: Time,
    /// The place of its vehicle in the crossing, below [`Crossing::vehicles`]; in a flood, that of
    /// the repeated vehicle.
    pub vehicle: u32,
    /// The pseudonym of its vehicle, a new one for every following vehicle and after every wave.
    pub pseudonym: u64,
    /// Whether it is genuine.
    pub origin: Origin,
    /// Whether it has the certificate.
    pub has_certificate: bool,
    /// The position and movement of its vehicle.
    pub dynamics: Dynamics,
    /// The message count of the vehicle's place, modulo 256.
    pub count: u8,
    /// Whether a CAM's low-frequency container is due.
    pub low_frequency: bool,
}

/// The turns of a crossing in the order of their times, without end.
///
/// Draws: `v2x/traffic/phase`, `v2x/traffic/certificate`, `v2x/traffic/lane`, `v2x/traffic/jitter`,
/// `v2x/traffic/forged`.
#[derive(Clone, Debug)]
pub struct Schedule {
    crossing: Crossing,
    centre: Position,
    slots: Vec<Slot>,
    /// How far each lane is ahead, in mm: vehicles of different lanes do not leave together.
    ahead_mm: Vec<u64>,
    /// The next turn of each; a flood is the slot after the last.
    turns: BinaryHeap<Reverse<(Time, u32, Time)>>,
    jitter: Rng,
    forged: Rng,
    last: Option<Turn>,
}

/// A place in the crossing, and its current vehicle.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pseudonym: Option<u64>,
    certificate_due: Time,
    count: u8,
    trigger: CamTrigger,
}

/// The maximum spread of the senders that waited for the end of a blockage.
const BURST: Duration = Duration::from_millis(2);

impl Schedule {
    /// That of `crossing`, around the place `centre`.
    pub fn new(crossing: Crossing, seed: &Seed, centre: Position) -> Schedule {
        let interval = interval(&crossing);
        let mut phase = seed.stream("v2x/traffic/phase");
        let mut certificate = seed.stream("v2x/traffic/certificate");
        let mut lane = seed.stream("v2x/traffic/lane");
        let spacing_mm = u64::from(crossing.spacing_m) * 1_000;
        let lanes = crossing.vehicles() / crossing.vehicles_per_lane().max(1);
        let ahead_mm = (0..lanes).map(|_| lane.below(spacing_mm.max(1))).collect();
        let mut turns = BinaryHeap::new();
        let mut slots = Vec::new();
        for vehicle in 0..crossing.vehicles() {
            let due = Time::ZERO + phase.span(Duration::ZERO, interval);
            turns.push(Reverse((due, vehicle, due)));
            let certificate_due =
                Time::ZERO + certificate.span(Duration::ZERO, crossing.certificate_every);
            slots.push(Slot { certificate_due, ..Slot::new() });
        }
        if crossing.flood_hz > 0 {
            turns.push(Reverse((Time::ZERO, crossing.vehicles(), Time::ZERO)));
        }
        Schedule {
            centre,
            slots,
            ahead_mm,
            turns,
            jitter: seed.stream("v2x/traffic/jitter"),
            forged: seed.stream("v2x/traffic/forged"),
            last: None,
            crossing,
        }
    }

    /// The turn of a due slot, at `at`; `None` if the vehicle has nothing to send.
    fn turn(&mut self, slot: u32, due: Time, at: Time) -> Option<Turn> {
        let (position, follower) = self.place(slot, due);
        let dynamics = Dynamics {
            position,
            heading_ddeg: self.heading_ddeg(slot),
            speed_cm_s: u16::try_from(self.crossing.speed_m_s * 100).unwrap_or(u16::MAX),
        };
        let pseudonym = pseudonym(&self.crossing, slot, follower, due);
        let state = self.slots.get_mut(slot as usize)?;
        state.turn(&self.crossing, (due, at), (slot, pseudonym), dynamics, &mut self.forged)
    }

    /// The position of a slot's vehicle, and its number in the slot: lanes move on, and a vehicle
    /// that leaves the range is replaced by another at its beginning.
    fn place(&self, slot: u32, at: Time) -> (Position, u64) {
        let crossing = &self.crossing;
        let per_lane = crossing.vehicles_per_lane().max(1);
        let start_mm = u64::from(slot % per_lane * crossing.spacing_m) * 1_000;
        let ahead_mm = self.ahead_mm.get((slot / per_lane) as usize).copied().unwrap_or_default();
        let range_mm = u64::from(crossing.range_m.max(1)) * 1_000;
        let driven_mm = start_mm
            + ahead_mm
            + (u128::from(crossing.speed_m_s) * u128::from(at.as_nanos()) / 1_000_000) as u64;
        let along_m = (driven_mm % range_mm) as f64 / 1_000.0;
        // Roads begin one range away and lead to the centre; lanes are 3 m wide.
        let angle = f64::from(self.heading_ddeg(slot)) / 10.0 * std::f64::consts::PI / 180.0;
        let (north, east) = (libm::cos(angle), libm::sin(angle));
        let lane = f64::from(slot / per_lane % crossing.lanes.max(1)) * 3.0;
        let left_m = f64::from(crossing.range_m) - along_m;
        let (north_m, east_m) = (-north * left_m + east * lane, -east * left_m - north * lane);
        (self.centre.moved_m(north_m, east_m), driven_mm / range_mm)
    }

    fn heading_ddeg(&self, slot: u32) -> u16 {
        let (lanes, roads) = (self.crossing.lanes.max(1), self.crossing.roads.max(1));
        let road = slot / self.crossing.vehicles_per_lane().max(1) / lanes % roads;
        (u64::from(road) * 3_600 / u64::from(roads) % 3_600) as u16
    }

    /// The transmission time of a message that is due then; `None` if a newer one replaces it.
    fn release(&mut self, due: Time) -> Option<Time> {
        let at = due + self.jitter.span(Duration::ZERO, self.crossing.jitter);
        let Some(blockage) = self.crossing.blockage.filter(|one| !one.every.is_zero()) else {
            return Some(at);
        };
        let every = blockage.every.as_nanos() as u64;
        let since = Duration::from_nanos(at.as_nanos() % every);
        if at.as_nanos() < every || since >= blockage.lasting {
            return Some(at);
        }
        let end = at + (blockage.lasting - since);
        if let Pace::Every(interval) = self.crossing.pace
            && due + interval < end
        {
            return None;
        }
        Some(end + self.jitter.span(Duration::ZERO, BURST))
    }
}

impl Iterator for Schedule {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        loop {
            let Reverse((at, slot, due)) = self.turns.pop()?;
            if slot == self.crossing.vehicles() {
                let gap = Duration::from_nanos(1_000_000_000 / u64::from(self.crossing.flood_hz));
                self.turns.push(Reverse((at + gap, slot, at + gap)));
                match self.last {
                    Some(last) => return Some(Turn { at, origin: Origin::Flood, ..last }),
                    None => continue,
                }
            }
            if at == due {
                // Its turn: computes the transmission time.
                let next = due + interval(&self.crossing).max(Duration::from_micros(1));
                self.turns.push(Reverse((next, slot, next)));
                // At least one nanosecond later, to distinguish it from a turn.
                if let Some(at) = self.release(due) {
                    let at = at.max(due + Duration::from_nanos(1));
                    self.turns.push(Reverse((at, slot, due)));
                }
                continue;
            }
            if let Some(turn) = self.turn(slot, due, at) {
                self.last = Some(turn);
                return Some(turn);
            }
        }
    }
}

impl Slot {
    /// A place whose vehicle has sent nothing.
    pub(super) fn new() -> Slot {
        Slot {
            pseudonym: None,
            certificate_due: Time::ZERO,
            count: 0,
            trigger: CamTrigger::new(Duration::ZERO),
        }
    }

    /// That of a vehicle that has sent its certificate elsewhere, and does so again then.
    pub(super) fn driving(pseudonym: u64, certificate_due: Time) -> Slot {
        Slot { pseudonym: Some(pseudonym), certificate_due, ..Slot::new() }
    }

    /// The vehicle's turn, due and sent at these times; `None` if it has nothing to send.
    pub(super) fn turn(
        &mut self,
        crossing: &Crossing,
        (due, at): (Time, Time),
        (vehicle, pseudonym): (u32, u64),
        dynamics: Dynamics,
        forged: &mut Rng,
    ) -> Option<Turn> {
        let low_frequency = match crossing.pace {
            Pace::Every(_) => true,
            Pace::Triggered => self.trigger.check(due, &dynamics)?.low_frequency,
        };
        let before = self.pseudonym.replace(pseudonym);
        // A wave restarts the interval of all. Who follows another into range started long ago.
        let is_wave = before.is_some_and(|before| before >> 48 != pseudonym >> 48);
        let is_due = is_wave || due >= self.certificate_due;
        if is_due {
            self.certificate_due = due + crossing.certificate_every;
        }
        let has_certificate = is_due || before != Some(pseudonym);
        self.count = self.count.wrapping_add(1);
        let is_forged = forged.chance(crossing.forged);
        let origin = if is_forged { Origin::Forged } else { Origin::Vehicle };
        let count = self.count;
        Some(Turn {
            at,
            due,
            vehicle,
            pseudonym,
            origin,
            has_certificate,
            dynamics,
            count,
            low_frequency,
        })
    }
}

pub(super) fn pseudonym(crossing: &Crossing, slot: u32, follower: u64, at: Time) -> u64 {
    let every = crossing.wave_every.filter(|every| !every.is_zero());
    let wave = every.map_or(0, |every| (u128::from(at.as_nanos()) / every.as_nanos()) as u64);
    // 32 bits of the slot, 16 of the followers, 16 of the waves.
    u64::from(slot) | (follower & 0xffff) << 32 | (wave & 0xffff) << 48
}

/// Between two turns of a vehicle.
pub(super) fn interval(crossing: &Crossing) -> Duration {
    match crossing.pace {
        Pace::Every(interval) => interval,
        Pace::Triggered => Duration::from_millis(100),
    }
}
