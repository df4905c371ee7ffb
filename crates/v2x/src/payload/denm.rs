//! Decentralized environmental notification messages (EN 302 637-3 v1.3.1), in unaligned packed
//! encoding rules.

use std::time::Duration;

use c_its_parser::standards::cdd_1_3_1_1::its_container as cdd;
use c_its_parser::standards::denm_1_3_1::denm_pdu_descriptions::{
    DENM, DecentralizedEnvironmentalNotificationMessage, LocationContainer, ManagementContainer,
    SituationContainer,
};

use super::vehicle::{self, Vehicle};
use crate::refusal::Refusal;
use crate::time::ItsTime;

/// The longest DENM that is read, in bytes.
pub const MAX_LEN: usize = 2_000;

/// That something has happened where a vehicle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Counts the station's events.
    pub sequence: u16,
    /// What it is (EN 302 637-3 table 10; 94 is a stationary vehicle).
    pub cause: u8,
    /// What exactly.
    pub sub_cause: u8,
    /// When it was noticed.
    pub detected: ItsTime,
    /// For how long it is to be believed, at most a day.
    pub validity: Duration,
}

/// The DENM by which `vehicle` tells of `event` at `time`.
///
/// # Errors
/// If it cannot be encoded: a time after 2143.
pub fn encode(vehicle: &Vehicle, event: &Event, time: ItsTime) -> Result<Vec<u8>, Refusal> {
    let station = cdd::StationID(vehicle.station_id);
    let management = ManagementContainer::new(
        cdd::ActionID::new(station.clone(), cdd::SequenceNumber(event.sequence)),
        cdd::TimestampIts(event.detected.as_millis()),
        cdd::TimestampIts(time.as_millis()),
        None,
        vehicle::reference_position(&vehicle.position),
        None,
        None,
        cdd::ValidityDuration(event.validity.as_secs().min(86_400) as u32),
        None,
        cdd::StationType(vehicle.station.code()),
    );
    let situation = SituationContainer::new(
        cdd::InformationQuality(3),
        cdd::CauseCode::new(
            cdd::CauseCodeType(event.cause),
            cdd::SubCauseCodeType(event.sub_cause),
        ),
        None,
        None,
    );
    let location = LocationContainer::new(
        Some(vehicle::speed(vehicle)),
        Some(vehicle::heading(vehicle)),
        // One trace, without points: there is no less.
        cdd::Traces(vec![cdd::PathHistory(Vec::new())]),
        None,
    );
    let body = DecentralizedEnvironmentalNotificationMessage::new(
        management,
        Some(situation),
        Some(location),
        None,
    );
    encode_denm(&DENM::new(cdd::ItsPduHeader::new(2, 1, station), body))
}

/// The encoding of any DENM.
///
/// # Errors
/// If a value of it is out of range.
pub fn encode_denm(denm: &DENM) -> Result<Vec<u8>, Refusal> {
    rasn::uper::encode(denm).map_err(|error| Refusal::malformed("DENM", &error))
}

/// Reads a DENM that fills `bytes`.
///
/// # Errors
/// If it is malformed, or another message.
pub fn decode(bytes: &[u8]) -> Result<DENM, Refusal> {
    if bytes.len() > MAX_LEN {
        return Err(Refusal::TooLong { len: bytes.len(), max: MAX_LEN });
    }
    let denm: DENM =
        rasn::uper::decode(bytes).map_err(|error| Refusal::malformed("DENM", &error))?;
    match (denm.header.message_id, denm.header.protocol_version) {
        (1, 1 | 2) => Ok(denm),
        (id, version) => {
            let text = format!("message {id} of version {version}, where DENMs are 1 of version 2");
            Err(Refusal::malformed("DENM", &text))
        }
    }
}

/// The causes that a certificate permits, from the first bit of its second byte on (EN 302 637-3
/// section 6.2.2, table 5).
const CAUSES: [u8; 24] =
    [1, 2, 3, 6, 9, 10, 11, 12, 14, 15, 17, 18, 19, 26, 27, 91, 92, 93, 94, 95, 96, 97, 98, 99];

/// The bits that the sender's certificate must have for the cause in this DENM: the second to fourth
/// byte of its permissions. None where it tells that an event is over, and no cause.
pub(crate) fn required_permissions(denm: &DENM) -> Result<[u8; 3], Refusal> {
    let mut bits = [0; 3];
    let Some(situation) = &denm.denm.situation else { return Ok(bits) };
    let cause = situation.event_type.cause_code.0;
    let index = CAUSES.iter().position(|known| *known == cause);
    let index = index.ok_or(Refusal::ServiceNotPermitted("a cause that nobody is permitted"))?;
    bits[index / 8] = 0x80 >> (index % 8);
    Ok(bits)
}
