//! Basic safety messages (SAE J2735), in unaligned packed encoding rules: the core data that each has.
//! Messages with optional parts are refused.
#![allow(non_upper_case_globals, reason = "a type has the name that it has in the standard")]

use serde_json::{Value as Json, json};

use super::vehicle::Vehicle;
use crate::asn1::{Value, uper};
use crate::location::Position;
use crate::refusal::Refusal;
use crate::time::ItsTime;

module!("bsm.asn1": BasicSafetyMessage);

/// The maximum size of a decoded message in bytes.
pub const MAX_LEN: usize = 1_400;

/// `DSRCmsgID` of a basic safety message.
const BASIC_SAFETY_MESSAGE: u16 = 20;

/// The BSM of `vehicle` at `time`, its `count`th.
///
/// # Errors
/// If it cannot be encoded; no vehicle is known to cause this.
pub fn encode(vehicle: &Vehicle, time: ItsTime, count: u8) -> Result<Vec<u8>, Refusal> {
    let Position { latitude, longitude } = vehicle.position;
    encode_core(&json!({
        "msgCnt": count % 128,
        "id": format!("{:08X}", vehicle.station_id),
        "secMark": time.as_millis() % 60_000,
        "lat": latitude.clamp(-900_000_000, 900_000_001),
        "long": longitude.clamp(-1_799_999_999, 1_800_000_001),
        // Unknown, as are the angle of the wheels and accelerations to the side and downwards.
        "elev": -4_096,
        // Two metres either way, in steps of 5 cm.
        "accuracy": { "semiMajor": 40, "semiMinor": 40, "orientation": 0 },
        "transmission": "ForwardGears",
        // In steps of 2 cm/s; 8,191 is unknown.
        "speed": (vehicle.speed_cm_s / 2).min(8_190),
        // In steps of 0.0125 degrees.
        "heading": vehicle.heading_ddeg % 3_600 * 8,
        "angle": 127,
        "accelSet": {
            "long": vehicle.acceleration_cm_s2.clamp(-2_000, 2_000),
            "lat": 2_001,
            "vert": -127,
            "yaw": 0,
        },
        // The first bit marks the state of the wheels' brakes as unknown.
        "brakes": {
            "wheelBrakes": "80", "traction": 0, "abs": 0, "scs": 0, "brakeBoost": 0, "auxBrakes": 0,
        },
        "size": { "width": vehicle.width_cm.min(1_023), "length": vehicle.length_cm.min(4_095) },
    }))
}

/// The encoding of a message with any core data, given in the form of JSON encoding rules.
///
/// # Errors
/// If a field is missing, unknown or out of range.
pub fn encode_core(core: &Json) -> Result<Vec<u8>, Refusal> {
    let message = uper::encode(&BasicSafetyMessage, &json!({ "coreData": core }));
    let message = message.map_err(|error| Refusal::malformed("BSM", &error))?;
    // All core data are of one size, and that is below 128.
    Ok([&BASIC_SAFETY_MESSAGE.to_be_bytes()[..], &[message.len() as u8], &message].concat())
}

/// Reads the core data of a BSM.
///
/// # Errors
/// If it is malformed, a different message, or has more than the core data.
pub fn decode(bytes: &[u8]) -> Result<Value, Refusal> {
    const WHAT: &str = "BSM";
    Refusal::limit(bytes.len(), MAX_LEN)?;
    // The frame: an extension bit, which message it is, and that in a separate field.
    let cut_short = || Refusal::malformed(WHAT, &"it ends within its frame");
    let (number, value) = bytes.split_first_chunk().ok_or_else(cut_short)?;
    let number = u16::from_be_bytes(*number) & 0x7fff;
    let (len, value) = match value {
        [len @ 0..128, value @ ..] => (usize::from(*len), value),
        [high @ 128..192, low, value @ ..] => {
            (usize::from(high & 63) << 8 | usize::from(*low), value)
        }
        _ => return Err(cut_short()),
    };
    let message = value.get(..len).ok_or_else(cut_short)?;
    if number != BASIC_SAFETY_MESSAGE {
        let text = format!("message {number} of J2735, not a BSM (20)");
        return Err(Refusal::malformed(WHAT, &text));
    }
    // The extension bit and those of the two optional parts come first.
    if message.first().is_some_and(|byte| byte & 0xe0 != 0) {
        return Err(Refusal::Unsupported("BSMs with optional parts"));
    }
    match uper::decode(&BasicSafetyMessage, message) {
        Ok(Value::Fields(mut fields)) if !fields.is_empty() => Ok(fields.swap_remove(0).1),
        Ok(_) => Err(cut_short()),
        Err(error) => Err(Refusal::malformed(WHAT, &error)),
    }
}
