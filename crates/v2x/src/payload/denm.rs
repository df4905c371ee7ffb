//! Decentralized environmental notification messages (EN 302 637-3 v1.3.1), in unaligned packed
//! encoding rules.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::its::{self, decode_its};
use super::vehicle::{self, Vehicle};
use crate::asn1::{Value, uper};
use crate::refusal::Refusal;
use crate::time::ItsTime;

/// The maximum size of a decoded DENM in bytes.
pub const MAX_LEN: usize = 2_000;

/// An event at a vehicle's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Counts the station's events.
    pub sequence: u16,
    /// Its cause (EN 302 637-3 table 10; 94 is a stationary vehicle).
    pub cause: u8,
    /// Its sub-cause.
    pub sub_cause: u8,
    /// Its detection time.
    pub detected: ItsTime,
    /// Its validity duration, at most a day.
    pub validity: Duration,
}

/// The DENM of `vehicle` about `event` at `time`.
///
/// # Errors
/// If it cannot be encoded: a time after 2143.
pub fn encode(vehicle: &Vehicle, event: &Event, time: ItsTime) -> Result<Vec<u8>, Refusal> {
    encode_denm(&json!({
        "header": { "protocolVersion": 2, "messageID": 1, "stationID": vehicle.station_id },
        "denm": {
            "management": {
                "actionID": {
                    "originatingStationID": vehicle.station_id,
                    "sequenceNumber": event.sequence,
                },
                "detectionTime": event.detected.as_millis(),
                "referenceTime": time.as_millis(),
                "eventPosition": vehicle::reference_position(&vehicle.position),
                "validityDuration": event.validity.as_secs().min(86_400),
                "stationType": vehicle.station.code(),
            },
            "situation": {
                "informationQuality": 3,
                "eventType": { "causeCode": event.cause, "subCauseCode": event.sub_cause },
            },
            "location": {
                "eventSpeed": vehicle::speed(vehicle),
                "eventPositionHeading": vehicle::heading(vehicle),
                // One trace, without points: there is no less.
                "traces": [[]],
            },
        },
    }))
}

/// The encoding of any DENM, given in the form of JSON encoding rules.
///
/// # Errors
/// If a field is missing, unknown or out of range.
pub fn encode_denm(denm: &Json) -> Result<Vec<u8>, Refusal> {
    uper::encode(&its::DENM, denm).map_err(|error| Refusal::malformed("DENM", &error))
}

/// Reads the DENM at the front of `bytes`.
///
/// # Errors
/// If it is malformed, or a different message.
pub fn decode(bytes: &[u8]) -> Result<Value, Refusal> {
    decode_its("DENM", &its::DENM, 1, MAX_LEN, bytes)
}

/// The causes that a certificate permits, from the first bit of its second byte on (EN 302 637-3
/// section 6.2.2, table 5).
const CAUSES: [u8; 24] =
    [1, 2, 3, 6, 9, 10, 11, 12, 14, 15, 17, 18, 19, 26, 27, 91, 92, 93, 94, 95, 96, 97, 98, 99];

/// The bits that the sender's certificate must have for the cause in this DENM: the second to
/// fourth byte of its permissions. None if it cancels an event without naming a cause.
pub(crate) fn required_permissions(denm: &Value) -> Result<[u8; 3], Refusal> {
    let mut bits = [0; 3];
    let Some(cause) = denm.integer("denm.situation.eventType.causeCode") else { return Ok(bits) };
    let index = CAUSES.iter().position(|known| i64::from(*known) == cause);
    let index = index.ok_or(Refusal::ServiceNotPermitted("an unknown cause of a DENM"))?;
    bits[index / 8] = 0x80 >> (index % 8);
    Ok(bits)
}
