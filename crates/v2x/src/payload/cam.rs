//! Cooperative awareness messages (EN 302 637-2 v1.4.1), in unaligned packed encoding rules.

use serde_json::{Value as Json, json};

use super::its::{self, decode_its};
use super::vehicle::{self, Vehicle};
use crate::asn1::{Value, uper};
use crate::refusal::Refusal;
use crate::time::ItsTime;

/// The maximum size of a decoded CAM in bytes.
pub const MAX_LEN: usize = 1_400;

/// The CAM of `vehicle` at `time`; with the low-frequency container when it is due, every 500 ms.
///
/// # Errors
/// If it cannot be encoded; no vehicle is known to cause this, because values out of range are
/// written as "out of range" or clamped.
pub fn encode(vehicle: &Vehicle, time: ItsTime, low_frequency: bool) -> Result<Vec<u8>, Refusal> {
    let mut parameters = json!({
        "basicContainer": {
            "stationType": vehicle.station.code(),
            "referencePosition": vehicle::reference_position(&vehicle.position),
        },
        "highFrequencyContainer": { "basicVehicleContainerHighFrequency": high_frequency(vehicle) },
    });
    if low_frequency {
        parameters["lowFrequencyContainer"] = json!({ "basicVehicleContainerLowFrequency": {
            "vehicleRole": "default", "exteriorLights": "00", "pathHistory": [],
        } });
    }
    encode_cam(&json!({
        "header": { "protocolVersion": 2, "messageID": 2, "stationID": vehicle.station_id },
        "cam": {
            // Milliseconds modulo 65,536 (annex B.3).
            "generationDeltaTime": time.as_millis() % 65_536,
            "camParameters": parameters,
        },
    }))
}

/// The encoding of any CAM, given in the form of JSON encoding rules.
///
/// # Errors
/// If a field is missing, unknown or out of range.
pub fn encode_cam(cam: &Json) -> Result<Vec<u8>, Refusal> {
    uper::encode(&its::CAM, cam).map_err(|error| Refusal::malformed("CAM", &error))
}

/// Reads the CAM at the front of `bytes`.
///
/// # Errors
/// If it is malformed, or a different message.
pub fn decode(bytes: &[u8]) -> Result<Value, Refusal> {
    decode_its("CAM", &its::CAM, 2, MAX_LEN, bytes)
}

/// The bits that the sender's certificate must have for the content of this CAM: the second and
/// third byte of its permissions (EN 302 637-2 section 6.2.2.1, table 5).
pub(crate) fn required_permissions(cam: &Value) -> [u8; 2] {
    const CLOSED_LANES: u8 = 0x80;
    const REQUEST_FOR_RIGHT_OF_WAY: u8 = 0x40;
    const REQUEST_FOR_FREE_CROSSING: u8 = 0x20;
    const NO_PASSING: u8 = 0x10;
    const NO_PASSING_FOR_TRUCKS: u8 = 0x08;
    const SPEED_LIMIT: u8 = 0x04;
    let tolling = cam.at("cam.camParameters.highFrequencyContainer").is_some_and(|container| {
        container.at("basicVehicleContainerHighFrequency.cenDsrcTollingZone").is_some()
            || container.at("rsuContainerHighFrequency.protectedCommunicationZonesRSU").is_some()
    });
    let special = match cam.at("cam.camParameters.specialVehicleContainer") {
        Some(Value::Fields(alternative)) => alternative.first(),
        _ => None,
    };
    let (first, second) = match special.map(|(name, container)| (*name, container)) {
        None => (0, 0),
        Some(("publicTransportContainer", _)) => (0x40, 0),
        Some(("specialTransportContainer", _)) => (0x20, 0),
        Some(("dangerousGoodsContainer", _)) => (0x10, 0),
        Some(("roadWorksContainerBasic", works)) => {
            (0x08, bit_if(works.at("closedLanes").is_some(), CLOSED_LANES))
        }
        Some(("rescueContainer", _)) => (0x04, 0),
        Some(("emergencyContainer", one)) => {
            let bits = match one.at("emergencyPriority") {
                Some(Value::Bits(bits, _)) => *bits,
                _ => 0,
            };
            let right_of_way = bit_if(bits & 0b10 != 0, REQUEST_FOR_RIGHT_OF_WAY);
            (0x02, right_of_way | bit_if(bits & 0b01 != 0, REQUEST_FOR_FREE_CROSSING))
        }
        Some(("safetyCarContainer", car)) => {
            let rule = match car.at("trafficRule") {
                Some(Value::Name("noPassing")) => NO_PASSING,
                Some(Value::Name("noPassingForTrucks")) => NO_PASSING_FOR_TRUCKS,
                _ => 0,
            };
            (0x01, rule | bit_if(car.at("speedLimit").is_some(), SPEED_LIMIT))
        }
        // A container of a later version: unknown content is never permitted.
        Some(_) => (0xff, 0xff),
    };
    [first | bit_if(tolling, 0x80), second]
}

fn bit_if(condition: bool, bit: u8) -> u8 {
    if condition { bit } else { 0 }
}

fn high_frequency(vehicle: &Vehicle) -> Json {
    json!({
        "heading": vehicle::heading(vehicle),
        "speed": vehicle::speed(vehicle),
        "driveDirection": "forward",
        "vehicleLength": {
            "vehicleLengthValue": (vehicle.length_cm / 10).clamp(1, 1_022),
            "vehicleLengthConfidenceIndication": "noTrailerPresent",
        },
        "vehicleWidth": (vehicle.width_cm / 10).clamp(1, 61),
        "longitudinalAcceleration": {
            "longitudinalAccelerationValue": (vehicle.acceleration_cm_s2 / 10).clamp(-160, 160),
            "longitudinalAccelerationConfidence": 102,
        },
        "curvature": { "curvatureValue": 0, "curvatureConfidence": "unavailable" },
        "curvatureCalculationMode": "yawRateUsed",
        "yawRate": { "yawRateValue": 0, "yawRateConfidence": "unavailable" },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Position;

    /// What is required of a CAM with `addition` at `place`, a pointer into its parameters.
    fn required_with(place: &str, addition: Json) -> [u8; 2] {
        let vehicle = Vehicle::car(1, Position { latitude: 0, longitude: 0 });
        let sent = encode(&vehicle, ItsTime::from_secs(0), false).unwrap();
        let mut cam = decode(&sent).unwrap().to_json();
        let (container, field) = place.rsplit_once('/').unwrap();
        cam["cam"]["camParameters"].pointer_mut(container).unwrap()[field] = addition;
        required_permissions(&decode(&encode_cam(&cam).unwrap()).unwrap())
    }

    /// By table 5 of EN 302 637-2: where something is added to a CAM, what, and the bits that it needs.
    #[test]
    fn containers_need_their_permissions() {
        for row in include_str!("cam-permissions.txt").lines() {
            let fields: Vec<&str> = row.split(" | ").collect();
            let required = required_with(fields[0], serde_json::from_str(fields[1]).unwrap());
            assert_eq!(format!("{:04x}", u16::from_be_bytes(required)), fields[2], "{row}");
        }
    }
}
