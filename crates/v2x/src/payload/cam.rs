//! Cooperative awareness messages (EN 302 637-2 v1.4.1), in unaligned packed encoding rules.

use c_its_parser::standards::cam_1_4_1::cam_pdu_descriptions::{
    BasicContainer, BasicVehicleContainerHighFrequency, BasicVehicleContainerLowFrequency, CAM,
    CamParameters, CoopAwareness, GenerationDeltaTime, HighFrequencyContainer,
    LowFrequencyContainer, SpecialVehicleContainer,
};
use c_its_parser::standards::cdd_1_3_1_1::its_container as cdd;

use super::vehicle::{self, Vehicle};
use crate::refusal::Refusal;
use crate::time::ItsTime;

/// The longest CAM that is read, in bytes.
pub const MAX_LEN: usize = 1_400;

/// The CAM of `vehicle` at `time`; with the low-frequency container where that is due, every 500 ms.
///
/// # Errors
/// If it cannot be encoded, which no vehicle is known to bring about: what is out of range is written
/// as "out of range" or at its end.
pub fn encode(vehicle: &Vehicle, time: ItsTime, low_frequency: bool) -> Result<Vec<u8>, Refusal> {
    let low = low_frequency.then(|| {
        LowFrequencyContainer::basicVehicleContainerLowFrequency(
            BasicVehicleContainerLowFrequency::new(
                cdd::VehicleRole::default,
                cdd::ExteriorLights(Default::default()),
                cdd::PathHistory(Vec::new()),
            ),
        )
    });
    let basic = BasicContainer::new(
        cdd::StationType(vehicle.station.code()),
        vehicle::reference_position(&vehicle.position),
    );
    let parameters = CamParameters::new(basic, high_frequency(vehicle), low, None);
    // Milliseconds modulo 65,536 (annex B.3).
    let time = GenerationDeltaTime((time.as_millis() % 65_536) as u16);
    let header = cdd::ItsPduHeader::new(2, 2, cdd::StationID(vehicle.station_id));
    encode_cam(&CAM::new(header, CoopAwareness::new(time, parameters)))
}

/// The encoding of any CAM.
///
/// # Errors
/// If a value of it is out of range.
pub fn encode_cam(cam: &CAM) -> Result<Vec<u8>, Refusal> {
    rasn::uper::encode(cam).map_err(|error| Refusal::malformed("CAM", &error))
}

/// Reads a CAM that fills `bytes`.
///
/// # Errors
/// If it is malformed, or another message.
pub fn decode(bytes: &[u8]) -> Result<CAM, Refusal> {
    if bytes.len() > MAX_LEN {
        return Err(Refusal::TooLong { len: bytes.len(), max: MAX_LEN });
    }
    let cam: CAM = rasn::uper::decode(bytes).map_err(|error| Refusal::malformed("CAM", &error))?;
    match (cam.header.message_id, cam.header.protocol_version) {
        (2, 1 | 2) => Ok(cam),
        (id, version) => {
            let text = format!("message {id} of version {version}, where CAMs are 2 of version 2");
            Err(Refusal::malformed("CAM", &text))
        }
    }
}

/// The bits that the sender's certificate must have for what is in this CAM: the second and third byte
/// of its permissions (EN 302 637-2 section 6.2.2.1, table 5).
pub(crate) fn required_permissions(cam: &CAM) -> [u8; 2] {
    use SpecialVehicleContainer as Special;
    const CLOSED_LANES: u8 = 0x80;
    const REQUEST_FOR_RIGHT_OF_WAY: u8 = 0x40;
    const REQUEST_FOR_FREE_CROSSING: u8 = 0x20;
    const NO_PASSING: u8 = 0x10;
    const NO_PASSING_FOR_TRUCKS: u8 = 0x08;
    const SPEED_LIMIT: u8 = 0x04;
    let parameters = &cam.cam.cam_parameters;
    let tolling = match &parameters.high_frequency_container {
        HighFrequencyContainer::basicVehicleContainerHighFrequency(vehicle) => {
            vehicle.cen_dsrc_tolling_zone.is_some()
        }
        HighFrequencyContainer::rsuContainerHighFrequency(unit) => {
            unit.protected_communication_zones_rsu.is_some()
        }
        _ => false,
    };
    let priority = |bits: &Option<cdd::EmergencyPriority>| {
        let bit = |index: usize| {
            bits.as_ref().is_some_and(|bits| bits.0.iter().nth(index).is_some_and(|bit| *bit))
        };
        bit_if(bit(0), REQUEST_FOR_RIGHT_OF_WAY) | bit_if(bit(1), REQUEST_FOR_FREE_CROSSING)
    };
    let (first, second) = match &parameters.special_vehicle_container {
        None => (0, 0),
        Some(Special::publicTransportContainer(_)) => (0x40, 0),
        Some(Special::specialTransportContainer(_)) => (0x20, 0),
        Some(Special::dangerousGoodsContainer(_)) => (0x10, 0),
        Some(Special::roadWorksContainerBasic(works)) => {
            (0x08, bit_if(works.closed_lanes.is_some(), CLOSED_LANES))
        }
        Some(Special::rescueContainer(_)) => (0x04, 0),
        Some(Special::emergencyContainer(one)) => (0x02, priority(&one.emergency_priority)),
        Some(Special::safetyCarContainer(car)) => {
            let rule = match car.traffic_rule {
                Some(cdd::TrafficRule::noPassing) => NO_PASSING,
                Some(cdd::TrafficRule::noPassingForTrucks) => NO_PASSING_FOR_TRUCKS,
                _ => 0,
            };
            (0x01, rule | bit_if(car.speed_limit.is_some(), SPEED_LIMIT))
        }
        // A container of a later version: nobody is permitted what is not known.
        Some(_) => (0xff, 0xff),
    };
    [first | bit_if(tolling, 0x80), second]
}

fn bit_if(condition: bool, bit: u8) -> u8 {
    if condition { bit } else { 0 }
}

fn high_frequency(vehicle: &Vehicle) -> HighFrequencyContainer {
    let acceleration = (vehicle.acceleration_cm_s2 / 10).clamp(-160, 160);
    HighFrequencyContainer::basicVehicleContainerHighFrequency(
        BasicVehicleContainerHighFrequency::new(
            vehicle::heading(vehicle),
            vehicle::speed(vehicle),
            cdd::DriveDirection::forward,
            cdd::VehicleLength::new(
                cdd::VehicleLengthValue((vehicle.length_cm / 10).clamp(1, 1_022)),
                cdd::VehicleLengthConfidenceIndication::noTrailerPresent,
            ),
            cdd::VehicleWidth((vehicle.width_cm / 10).clamp(1, 61) as u8),
            cdd::LongitudinalAcceleration::new(
                cdd::LongitudinalAccelerationValue(acceleration),
                cdd::AccelerationConfidence(102),
            ),
            cdd::Curvature::new(cdd::CurvatureValue(0), cdd::CurvatureConfidence::unavailable),
            cdd::CurvatureCalculationMode::yawRateUsed,
            cdd::YawRate::new(cdd::YawRateValue(0), cdd::YawRateConfidence::unavailable),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
        ),
    )
}
