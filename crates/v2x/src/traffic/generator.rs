//! The messages of a crossing, one after the other.

use std::time::Duration;

use trackbed_core::{Rng, Seed, Time};

use super::crossing::{Crossing, Kind};
use super::schedule::{Origin, Schedule, Turn};
use crate::lab::{Infrastructure, Terms};
use crate::location::Position;
use crate::payload::{Vehicle, bsm, cam, geonet, psid};
use crate::point::PointForm;
use crate::refusal::Refusal;
use crate::sign::{Holder, Identification, Unsigned};
use crate::time::ItsTime;

/// An incoming message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Its arrival time.
    pub at: Time,
    /// The place of its vehicle in the crossing, below [`Crossing::vehicles`]; in a flood, that of
    /// the repeated vehicle.
    pub vehicle: u32,
    /// Whether it is genuine.
    pub origin: Origin,
    /// Whether it has the certificate.
    pub has_certificate: bool,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The messages of a crossing in the order of their times, without end. Each is signed on demand,
/// which takes some 100 us.
///
/// Draws: those of its [`Schedule`], `v2x/traffic/signature` for forged signatures, and the keys of
/// the [`Infrastructure`].
pub struct Traffic {
    kind: Kind,
    schedule: Schedule,
    infrastructure: Infrastructure,
    authority: Holder,
    /// The time of day at which the run begins.
    epoch: ItsTime,
    /// The pseudonym of each place in the crossing: its number and its holder.
    pseudonyms: Vec<Option<(u64, Holder)>>,
    made_up: Rng,
    last: Option<Transmission>,
}

/// How long tickets are valid: a week, as in the European certificate policy.
const TICKET_HOURS: u16 = 168;

impl Traffic {
    /// The traffic of `crossing`, around the place `centre`, in a run that begins at `epoch`.
    ///
    /// # Errors
    /// If `epoch` is beyond the range of certificates (2140).
    pub fn new(
        crossing: Crossing,
        seed: &Seed,
        centre: Position,
        epoch: ItsTime,
    ) -> Result<Traffic, Refusal> {
        let start = epoch.before(Duration::from_secs(3_600));
        let infrastructure = Infrastructure::new(seed, &Terms::new(start, u16::MAX))?;
        let authority = infrastructure.authority(0, &Terms::new(start, 10_000))?;
        Ok(Traffic {
            infrastructure,
            authority,
            epoch,
            pseudonyms: (0..crossing.vehicles()).map(|_| None).collect(),
            made_up: seed.stream("v2x/traffic/signature"),
            last: None,
            kind: crossing.kind,
            schedule: Schedule::new(crossing, seed, centre),
        })
    }

    /// The root that a receiver has to trust.
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

    /// The message of a turn; `None` if it cannot be encoded.
    fn message(&mut self, turn: &Turn) -> Option<Transmission> {
        let Turn { at, vehicle: slot, origin, has_certificate, dynamics, .. } = *turn;
        let time = self.time_of_day(at);
        let kind = self.kind;
        let vehicle = Vehicle {
            heading_ddeg: dynamics.heading_ddeg,
            speed_cm_s: dynamics.speed_cm_s,
            // A new name for every pseudonym.
            ..Vehicle::car((turn.pseudonym as u32).wrapping_mul(0x9e37_79b1), dynamics.position)
        };
        let identification =
            if has_certificate { Identification::Certificate } else { Identification::Digest };
        let holder = self.holder(turn)?;
        let state = (turn.count, turn.low_frequency);
        let mut bytes = sign(holder, &vehicle, kind, time, state, identification).ok()?;
        if origin == Origin::Forged {
            make_up_signature(&mut bytes, &mut self.made_up);
        }
        Some(Transmission { at, vehicle: slot, origin, has_certificate, bytes })
    }

    /// The ticket of a vehicle: its first, or another after a wave.
    fn holder(&mut self, turn: &Turn) -> Option<&Holder> {
        let held = self.pseudonyms.get_mut(turn.vehicle as usize)?;
        if held.as_ref().is_none_or(|(number, _)| *number != turn.pseudonym) {
            let now = self.epoch.after(turn.due.since(Time::ZERO));
            let terms = Terms::new(now.before(Duration::from_secs(60)), TICKET_HOURS);
            let ticket =
                self.infrastructure.ticket(&self.authority, turn.pseudonym, &terms).ok()?;
            *held = Some((turn.pseudonym, ticket));
        }
        held.as_ref().map(|(_, holder)| holder)
    }

    fn repeat(&mut self, at: Time) -> Option<Transmission> {
        let mut repeated = self.last.clone()?;
        make_up_signature(&mut repeated.bytes, &mut self.made_up);
        Some(Transmission { at, origin: Origin::Flood, ..repeated })
    }
}

impl Iterator for Traffic {
    type Item = Transmission;

    fn next(&mut self) -> Option<Transmission> {
        loop {
            let turn = self.schedule.next()?;
            if turn.origin == Origin::Flood {
                match self.repeat(turn.at) {
                    Some(repeated) => return Some(repeated),
                    None => continue,
                }
            }
            if let Some(message) = self.message(&turn) {
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
        Kind::Bsm => (psid::BSM, bsm::encode(vehicle, time, count)?),
        Kind::Cam => {
            let cam = cam::encode(vehicle, time, low_frequency)?;
            (psid::CAM, geonet::wrap(vehicle, time, geonet::PORT_CAM, &cam))
        }
    };
    let message = Unsigned::new(psid, &payload, time);
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
