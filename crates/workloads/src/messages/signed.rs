//! Signed messages: a DENM of a pedestrian on the road as sent over the air.
//!
//! The DENM (EN 302 637-3 V1.3.1) is in packed encoding, behind the headers of GeoNetworking and
//! BTP, and signed as TS 103 097 V2.1.1 section 7.1.2 requires for DENMs: with the place and the
//! time of its generation, and always with the signer's certificate. Trust is the same in every
//! run: the root, the authority and the phones' tickets come from one seed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use trackbed_core::{Seed, Time};
use trackbed_substrate::now;
use trackbed_v2x::check::Policy;
use trackbed_v2x::job::SignatureVerifier;
use trackbed_v2x::lab::{Infrastructure, Terms};
use trackbed_v2x::location::Position;
use trackbed_v2x::payload::denm::Event;
use trackbed_v2x::payload::{Vehicle, denm, geonet, psid};
use trackbed_v2x::sign::{Holder, Identification, Unsigned};
use trackbed_v2x::{ItsTime, PointForm, Receiver, Refusal};

use super::moment::time_of_day;
use super::walk::{Fix, ORIGIN_LATITUDE, ORIGIN_LONGITUDE, TOWN_CM};

#[derive(Default)]
pub(super) struct Signed {
    trusted: OnceLock<Result<Trusted, Refusal>>,
    tickets: Mutex<BTreeMap<u32, Arc<Holder>>>,
}

struct Trusted {
    infrastructure: Infrastructure,
    authority: Holder,
    terms: Terms,
}

impl Signed {
    pub(super) fn message(
        &self,
        seed: &Seed,
        phone: u32,
        message: u32,
        time: Time,
    ) -> Result<Bytes, Refusal> {
        let generated = time_of_day(time);
        let fix = Fix::of(seed, phone, message, time);
        let position = Position { latitude: fix.latitude as i32, longitude: fix.longitude as i32 };
        let station_id = STATION_MIN + phone;
        let pedestrian =
            Vehicle { speed_cm_s: fix.speed as u16, ..Vehicle::pedestrian(station_id, position) };
        let sequence = fix.first_sequence.wrapping_add(message) as u16;
        let event = Event {
            sequence,
            cause: HUMAN_PRESENCE_ON_THE_ROAD,
            sub_cause: 0,
            detected: generated,
            validity: VALIDITY,
        };
        let denm = denm::encode(&pedestrian, &event, generated)?;
        let port = geonet::PORT_DENM;
        let payload =
            geonet::wrap_for_area(&pedestrian, generated, sequence, RADIUS_M, port, &denm);
        let unsigned = Unsigned {
            psid: psid::DENM,
            payload: &payload,
            generation_time: generated,
            expiry_time: None,
            generation_location: Some(position),
        };
        let holder = self.ticket(phone, generated)?;
        let signed = holder.sign(&unsigned, Identification::Certificate, PointForm::Compressed)?;
        Ok(Bytes::from(signed))
    }

    pub(super) fn prepare(&self, phones: u32) -> Result<(), Refusal> {
        let now = time_of_day(now());
        (0..phones).try_for_each(|phone| self.ticket(phone, now).map(drop))
    }

    /// A roadside unit in the middle of the town that does not know any ticket yet.
    pub(super) fn receiver(
        &self,
        now: ItsTime,
        verifier: &mut impl SignatureVerifier,
    ) -> Result<Receiver, Refusal> {
        let Trusted { infrastructure, authority, .. } = self.trusted(now)?;
        let middle = |origin: u64| (origin + TOWN_CM) as i32;
        let policy = Policy {
            position: Some(Position {
                latitude: middle(ORIGIN_LATITUDE),
                longitude: middle(ORIGIN_LONGITUDE),
            }),
            psids: vec![psid::DENM],
            tickets: TICKETS_MAX,
            ..Policy::default()
        };
        let root = Arc::clone(infrastructure.root().certificate());
        let mut receiver = Receiver::new(policy, &[root], verifier)?;
        let authority = Arc::clone(authority.certificate());
        receiver.add_authority(authority, verifier)?;
        Ok(receiver)
    }

    fn ticket(&self, phone: u32, now: ItsTime) -> Result<Arc<Holder>, Refusal> {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ticket) = tickets.get(&phone) {
            return Ok(Arc::clone(ticket));
        }
        let Trusted { infrastructure, authority, terms } = self.trusted(now)?;
        let ticket = Arc::new(infrastructure.ticket(authority, phone.into(), terms)?);
        tickets.insert(phone, Arc::clone(&ticket));
        Ok(ticket)
    }

    /// Created on first use, at both endpoints: they agree because neither has drawn anything.
    fn trusted(&self, now: ItsTime) -> Result<&Trusted, Refusal> {
        let make = || {
            let start = now.as_secs() / TERM_S * TERM_S;
            let terms = Terms::new(ItsTime::from_secs(start), u16::MAX);
            let infrastructure = Infrastructure::new(&Seed::of_run(0, 0), &terms)?;
            let authority = infrastructure.authority(0, &terms)?;
            Ok(Trusted { infrastructure, authority, terms })
        };
        self.trusted.get_or_init(make).as_ref().map_err(Refusal::clone)
    }
}

/// Upper bound of the size of a signed message, which is 356 bytes.
pub(super) const SIGNED_LEN_MAX: u64 = 1_000;

/// CauseCode 12 of EN 302 637-3 table 10.
const HUMAN_PRESENCE_ON_THE_ROAD: u8 = 12;
const VALIDITY: Duration = Duration::from_secs(60);
/// The radius within which it is relevant.
const RADIUS_M: u16 = 300;
/// Station numbers, as in the unsigned messages.
const STATION_MIN: u32 = 10_000;
const TICKETS_MAX: usize = 16_384;
/// Certificates become valid at a multiple of this, so that both endpoints have the same ones. They
/// are valid for 65,535 h, more than twice as long.
const TERM_S: u32 = 30_000 * 3_600;

#[cfg(test)]
mod tests;
