//! The messages of a crossing, one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use trackbed_core::{Rng, Seed, Time};

use super::crossing::{Crossing, Kind, Pace};
use super::trigger::{CamTrigger, Due, Dynamics};
use crate::lab::{Infrastructure, Terms};
use crate::location::Position;
use crate::payload::{Vehicle, bsm, cam, geonet, psid};
use crate::point::PointForm;
use crate::refusal::Refusal;
use crate::sign::{Holder, Identification, Unsigned};
use crate::time::ItsTime;

/// Who a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The vehicle that it says.
    Vehicle,
    /// A vehicle, but its signature was made up.
    Forged,
    /// A stranger who repeats a message with a made-up signature.
    Flood,
}

/// A message that comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// When it comes.
    pub at: Time,
    /// The place of its vehicle in the crossing, below [`Crossing::vehicles`]; that of whom it repeats
    /// in a flood.
    pub vehicle: u32,
    /// Whether it should be believed.
    pub origin: Origin,
    /// Whether it has the certificate.
    pub has_certificate: bool,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The messages of a crossing in the order of their times, without end. Each is signed when it is asked
/// for, which takes some 100 us.
///
/// Draws: `v2x/traffic/phase`, `v2x/traffic/jitter`, `v2x/traffic/forged`, `v2x/traffic/flood`, and the
/// keys of the [`Infrastructure`].
pub struct Traffic {
    crossing: Crossing,
    infrastructure: Infrastructure,
    authority: Holder,
    /// The time of day at which the run begins.
    epoch: ItsTime,
    centre: Position,
    slots: Vec<Slot>,
    /// When each has its next turn; a flood is the slot behind the last.
    turns: BinaryHeap<Reverse<(Time, u32, Time)>>,
    jitter: Rng,
    forged: Rng,
    flood: Rng,
    last: Option<Transmission>,
}

/// A place in the crossing, and the vehicle that has it just now.
struct Slot {
    /// The vehicle's pseudonym: its number, and what it signs by.
    pseudonym: Option<(u64, Holder)>,
    certificate_due: Time,
    count: u8,
    trigger: CamTrigger,
}

/// How long tickets are valid: a week, as in the European certificate policy.
const TICKET_HOURS: u16 = 168;

/// How far apart those may be who have waited for the end of a blockage.
const BURST: Duration = Duration::from_millis(2);

impl Traffic {
    /// The traffic of `crossing`, around the place `centre`, in a run that begins at `epoch`.
    ///
    /// # Errors
    /// If `epoch` is beyond what certificates can tell (2140).
    pub fn new(
        crossing: Crossing,
        seed: &Seed,
        centre: Position,
        epoch: ItsTime,
    ) -> Result<Traffic, Refusal> {
        let start = epoch.before(Duration::from_secs(3_600));
        let infrastructure = Infrastructure::new(seed, &Terms::new(start, u16::MAX))?;
        let authority = infrastructure.authority(0, &Terms::new(start, 10_000))?;
        let interval = match crossing.pace {
            Pace::Every(interval) => interval,
            Pace::Triggered => Duration::from_millis(100),
        };
        let mut phase = seed.stream("v2x/traffic/phase");
        let mut turns = BinaryHeap::new();
        let mut slots = Vec::new();
        for vehicle in 0..crossing.vehicles() {
            let due = Time::ZERO + phase.span(Duration::ZERO, interval);
            turns.push(Reverse((due, vehicle, due)));
            slots.push(Slot {
                pseudonym: None,
                certificate_due: Time::ZERO,
                count: 0,
                trigger: CamTrigger::new(Duration::ZERO),
            });
        }
        if crossing.flood_hz > 0 {
            turns.push(Reverse((Time::ZERO, crossing.vehicles(), Time::ZERO)));
        }
        Ok(Traffic {
            infrastructure,
            authority,
            epoch,
            centre,
            slots,
            turns,
            jitter: seed.stream("v2x/traffic/jitter"),
            forged: seed.stream("v2x/traffic/forged"),
            flood: seed.stream("v2x/traffic/flood"),
            last: None,
            crossing,
        })
    }

    /// Whom a receiver has to trust.
    pub fn infrastructure(&self) -> &Infrastructure {
        &self.infrastructure
    }

    /// The authority of all tickets.
    pub fn authority(&self) -> &Holder {
        &self.authority
    }

    /// The time of day at `at`.
    pub fn time_of_day(&self, at: Time) -> ItsTime {
        self.epoch.after(at.since(Time::ZERO))
    }

    /// The message of the vehicle in a slot whose turn was at `due` and that comes at `at`; `None`
    /// where it has nothing to say, or would say it during a blockage and will have something newer.
    fn message(&mut self, slot: u32, due: Time, at: Time) -> Option<Transmission> {
        let (place, follower) = self.place(slot, due);
        let dynamics = Dynamics {
            position: place,
            heading_ddeg: self.heading_ddeg(slot),
            speed_cm_s: u16::try_from(self.crossing.speed_m_s * 100).unwrap_or(u16::MAX),
        };
        let low_frequency = match self.crossing.pace {
            Pace::Every(_) => true,
            Pace::Triggered => {
                let trigger = &mut self.slots.get_mut(slot as usize)?.trigger;
                let Due { low_frequency } = trigger.check(due, &dynamics)?;
                low_frequency
            }
        };
        self.change_pseudonym(slot, follower, due)?;
        let time = self.time_of_day(at);
        let state = self.slots.get_mut(slot as usize)?;
        state.count = state.count.wrapping_add(1);
        let has_certificate = due >= state.certificate_due;
        if has_certificate {
            state.certificate_due = due + self.crossing.certificate_every;
        }
        let (number, holder) = state.pseudonym.as_ref()?;
        let vehicle = Vehicle {
            heading_ddeg: dynamics.heading_ddeg,
            speed_cm_s: dynamics.speed_cm_s,
            // Another name for every pseudonym.
            ..Vehicle::car((*number as u32).wrapping_mul(0x9e37_79b1), place)
        };
        let identification =
            if has_certificate { Identification::Certificate } else { Identification::Digest };
        let kind = self.crossing.kind;
        let bytes =
            sign(holder, &vehicle, kind, time, (state.count, low_frequency), identification);
        let mut bytes = bytes.ok()?;
        let origin = match self.forged.chance(self.crossing.forged) {
            true => {
                make_up_signature(&mut bytes, &mut self.forged);
                Origin::Forged
            }
            false => Origin::Vehicle,
        };
        Some(Transmission { at, vehicle: slot, origin, has_certificate, bytes })
    }

    /// Where the vehicle of a slot is, and the how manyth of the slot it is: lanes move on, and who
    /// leaves the range is followed by another at its beginning.
    fn place(&self, slot: u32, at: Time) -> (Position, u64) {
        let crossing = &self.crossing;
        let per_lane = (crossing.range_m / crossing.spacing_m.max(1)).max(1);
        let start_m = slot % per_lane * crossing.spacing_m;
        let range_mm = u64::from(crossing.range_m.max(1)) * 1_000;
        let driven_mm = u64::from(start_m) * 1_000
            + (u128::from(crossing.speed_m_s) * u128::from(at.as_nanos()) / 1_000_000) as u64;
        let along_m = (driven_mm % range_mm) as f64 / 1_000.0;
        // Roads begin a range away and lead to the middle; lanes are 3 m wide.
        let (north, east) = self.direction(slot);
        let lane = f64::from(slot / per_lane % crossing.lanes.max(1)) * 3.0;
        let left_m = f64::from(crossing.range_m) - along_m;
        let (north_m, east_m) = (-north * left_m + east * lane, -east * left_m - north * lane);
        (self.centre.moved_m(north_m, east_m), driven_mm / range_mm)
    }

    fn heading_ddeg(&self, slot: u32) -> u16 {
        let roads = u64::from(self.crossing.roads.max(1));
        ((self.road(slot) * 3_600 / roads) % 3_600) as u16
    }

    fn direction(&self, slot: u32) -> (f64, f64) {
        let angle = f64::from(self.heading_ddeg(slot)) / 10.0 * std::f64::consts::PI / 180.0;
        (libm::cos(angle), libm::sin(angle))
    }

    fn road(&self, slot: u32) -> u64 {
        let per_lane = (self.crossing.range_m / self.crossing.spacing_m.max(1)).max(1);
        let lanes = self.crossing.lanes.max(1);
        u64::from(slot / per_lane / lanes % self.crossing.roads.max(1))
    }

    /// Sees to it that the vehicle has a ticket: its first, or another after a wave.
    fn change_pseudonym(&mut self, slot: u32, follower: u64, at: Time) -> Option<()> {
        let wave = self
            .crossing
            .wave_every
            .filter(|every| !every.is_zero())
            .map_or(0, |every| (u128::from(at.as_nanos()) / every.as_nanos()) as u64);
        // 32 bits of the slot, 16 of the followers, 16 of the waves.
        let number = u64::from(slot) | (follower & 0xffff) << 32 | (wave & 0xffff) << 48;
        let state = self.slots.get_mut(slot as usize)?;
        if state.pseudonym.as_ref().is_none_or(|(held, _)| *held != number) {
            let now = self.epoch.after(at.since(Time::ZERO));
            let terms = Terms::new(now.before(Duration::from_secs(60)), TICKET_HOURS);
            let ticket = self.infrastructure.ticket(&self.authority, number, &terms).ok()?;
            state.pseudonym = Some((number, ticket));
            state.certificate_due = at;
        }
        Some(())
    }

    /// The time at which something that is due then goes on the air; `None` if a newer one will go in
    /// its place.
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

    /// The last message that a vehicle has sent, with another signature.
    fn repeat(&mut self, at: Time) -> Option<Transmission> {
        let mut repeated = self.last.clone()?;
        make_up_signature(&mut repeated.bytes, &mut self.flood);
        Some(Transmission { at, origin: Origin::Flood, ..repeated })
    }
}

impl Iterator for Traffic {
    type Item = Transmission;

    fn next(&mut self) -> Option<Transmission> {
        loop {
            let Reverse((at, slot, due)) = self.turns.pop()?;
            if slot == self.crossing.vehicles() {
                let gap = Duration::from_nanos(1_000_000_000 / u64::from(self.crossing.flood_hz));
                self.turns.push(Reverse((at + gap, slot, at + gap)));
                match self.repeat(at) {
                    Some(repeated) => return Some(repeated),
                    None => continue,
                }
            }
            if at == due {
                // Its turn: when does it go on the air?
                let interval = match self.crossing.pace {
                    Pace::Every(interval) => interval,
                    Pace::Triggered => Duration::from_millis(100),
                };
                let next = due + interval.max(Duration::from_micros(1));
                self.turns.push(Reverse((next, slot, next)));
                // One nanosecond later at least, to tell it from a turn.
                if let Some(at) = self.release(due) {
                    let at = at.max(due + Duration::from_nanos(1));
                    self.turns.push(Reverse((at, slot, due)));
                }
                continue;
            }
            if let Some(message) = self.message(slot, due, at) {
                self.last = Some(message.clone());
                return Some(message);
            }
        }
    }
}

fn sign(
    holder: &Holder,
    vehicle: &Vehicle,
    kind: Kind,
    time: ItsTime,
    (count, low_frequency): (u8, bool),
    identification: Identification,
) -> Result<Vec<u8>, Refusal> {
    let (psid, payload) = match kind {
        Kind::Bsm => (psid::BSM, bsm::MessageFrame::of(vehicle, time, count).encode()?),
        Kind::Cam => {
            let [a, b, c, d] = vehicle.station_id.to_be_bytes();
            let source = geonet::Source {
                address: [2, 0, a, b, c, d],
                time,
                position: vehicle.position,
                speed_cm_s: i16::try_from(vehicle.speed_cm_s).unwrap_or(i16::MAX),
                heading_ddeg: vehicle.heading_ddeg,
            };
            let cam = cam::encode(vehicle, time, low_frequency)?;
            (psid::CAM, geonet::wrap(&source, geonet::PORT_CAM, &cam))
        }
    };
    let message = Unsigned {
        psid,
        payload: &payload,
        generation_time: time,
        expiry_time: None,
        generation_location: None,
    };
    holder.sign(&message, identification, PointForm::Compressed)
}

/// The last 64 bytes of a message are r and s: random ones, below the group's order.
fn make_up_signature(bytes: &mut [u8], rng: &mut Rng) {
    let Some(signature) = bytes.last_chunk_mut::<64>() else { return };
    rng.fill(signature);
    for half in [0, 32] {
        signature[half] &= 0x7f;
    }
}
