//! Basic safety messages (SAE J2735), in unaligned packed encoding rules: the core data that each has.
//!
//! No library of Rust has them. The types are those of J2735 as far as the core; the optional parts of
//! a message are read over by whoever knows them, here they are refused.

use rasn::prelude::*;

use super::vehicle::Vehicle;
use crate::location::Position;
use crate::refusal::Refusal;
use crate::time::ItsTime;

/// The longest message that is read, in bytes.
pub const MAX_LEN: usize = 1_400;

/// `DSRCmsgID` of a basic safety message.
const BASIC_SAFETY_MESSAGE: u16 = 20;

/// The outermost frame: which message it is, and the message in a field of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFrame {
    /// The only message that is known here.
    pub core: CoreData,
}

#[derive(AsnType, Clone, Debug, Decode, Encode, PartialEq, Eq)]
#[rasn(automatic_tags, identifier = "MessageFrame")]
#[non_exhaustive]
struct Frame {
    #[rasn(value("0..=32767"), identifier = "messageId")]
    message_id: u16,
    /// An open type, which packed rules write as bytes with a length.
    value: OctetString,
}

/// The message, without its optional parts.
#[derive(AsnType, Clone, Debug, Decode, Encode, PartialEq, Eq)]
#[rasn(automatic_tags, identifier = "BasicSafetyMessage")]
#[non_exhaustive]
struct BasicSafetyMessage {
    #[rasn(identifier = "coreData")]
    core_data: CoreData,
    /// Part II and regional extensions, only to tell that there are some.
    #[rasn(identifier = "partII")]
    part_two: Option<()>,
    regional: Option<()>,
}

/// `BSMcoreData`: where a vehicle is and how it moves.
#[derive(AsnType, Clone, Debug, Decode, Encode, PartialEq, Eq)]
#[rasn(automatic_tags, identifier = "BSMcoreData")]
pub struct CoreData {
    /// Counts the sender's messages, modulo 128.
    #[rasn(value("0..=127"), identifier = "msgCnt")]
    pub msg_count: u8,
    /// The sender's name for the time being.
    pub id: FixedOctetString<4>,
    /// Milliseconds of the minute; 65,535 is unknown.
    #[rasn(value("0..=65535"), identifier = "secMark")]
    pub sec_mark: u16,
    /// Tenths of a microdegree north; 900,000,001 is unknown.
    #[rasn(value("-900000000..=900000001"))]
    pub lat: i32,
    /// Tenths of a microdegree east; 1,800,000,001 is unknown.
    #[rasn(value("-1799999999..=1800000001"), identifier = "long")]
    pub lon: i32,
    /// Decimetres above the ellipsoid; -4,096 is unknown.
    #[rasn(value("-4096..=61439"))]
    pub elev: i32,
    /// How sure the position is.
    pub accuracy: PositionalAccuracy,
    /// Which way the vehicle is set to go.
    pub transmission: TransmissionState,
    /// In steps of 0.02 m/s; 8,191 is unknown.
    #[rasn(value("0..=8191"))]
    pub speed: u16,
    /// In steps of 0.0125 degrees from north, clockwise; 28,800 is unknown.
    #[rasn(value("0..=28800"))]
    pub heading: u16,
    /// In steps of 1.5 degrees; 127 is unknown.
    #[rasn(value("-126..=127"))]
    pub angle: i8,
    /// How the speed changes.
    #[rasn(identifier = "accelSet")]
    pub accel_set: AccelerationSet4Way,
    /// What the brakes do.
    pub brakes: BrakeSystemStatus,
    /// How large the vehicle is.
    pub size: VehicleSize,
}

/// `PositionalAccuracy`: all ones are unknown.
#[derive(AsnType, Clone, Debug, Decode, Encode, PartialEq, Eq)]
#[rasn(automatic_tags)]
pub struct PositionalAccuracy {
    /// In steps of 5 cm.
    #[rasn(value("0..=255"), identifier = "semiMajor")]
    pub semi_major: u8,
    /// In steps of 5 cm.
    #[rasn(value("0..=255"), identifier = "semiMinor")]
    pub semi_minor: u8,
    /// In steps of 360/65,535 degrees.
    #[rasn(value("0..=65535"))]
    pub orientation: u16,
}

/// `TransmissionState`.
#[derive(AsnType, Clone, Copy, Debug, Decode, Encode, PartialEq, Eq, Hash)]
#[rasn(enumerated)]
#[allow(missing_docs, reason = "the standard's own words")]
pub enum TransmissionState {
    Neutral = 0,
    Park = 1,
    ForwardGears = 2,
    ReverseGears = 3,
    Reserved1 = 4,
    Reserved2 = 5,
    Reserved3 = 6,
    Unavailable = 7,
}

/// `AccelerationSet4Way`.
#[derive(AsnType, Clone, Debug, Decode, Encode, PartialEq, Eq)]
#[rasn(automatic_tags)]
pub struct AccelerationSet4Way {
    /// Forwards, in cm/s^2; 2,001 is unknown.
    #[rasn(value("-2000..=2001"), identifier = "long")]
    pub longitudinal: i16,
    /// To the right, in cm/s^2; 2,001 is unknown.
    #[rasn(value("-2000..=2001"), identifier = "lat")]
    pub lateral: i16,
    /// Downwards, in steps of 0.02 G; -127 is unknown.
    #[rasn(value("-127..=127"))]
    pub vert: i8,
    /// Clockwise, in steps of 0.01 degrees a second.
    #[rasn(value("-32767..=32767"))]
    pub yaw: i16,
}

/// `BrakeSystemStatus`; in each of the enumerations 0 is unavailable, 1 off, 2 on, 3 engaged.
#[derive(AsnType, Clone, Debug, Decode, Encode, PartialEq, Eq)]
#[rasn(automatic_tags)]
pub struct BrakeSystemStatus {
    /// Unavailable, left front, left rear, right front, right rear.
    #[rasn(size(5), identifier = "wheelBrakes")]
    pub wheel_brakes: BitString,
    /// Traction control.
    #[rasn(value("0..=3"))]
    pub traction: u8,
    /// Anti-lock braking.
    #[rasn(value("0..=3"))]
    pub abs: u8,
    /// Stability control.
    #[rasn(value("0..=3"))]
    pub scs: u8,
    /// Brake boost: 0 unavailable, 1 off, 2 on.
    #[rasn(identifier = "brakeBoost", value("0..=2"))]
    pub brake_boost: u8,
    /// Auxiliary brakes.
    #[rasn(identifier = "auxBrakes", value("0..=3"))]
    pub aux_brakes: u8,
}

/// `VehicleSize`.
#[derive(AsnType, Clone, Debug, Decode, Encode, PartialEq, Eq)]
#[rasn(automatic_tags)]
pub struct VehicleSize {
    /// In cm; 0 is unknown.
    #[rasn(value("0..=1023"))]
    pub width: u16,
    /// In cm; 0 is unknown.
    #[rasn(value("0..=4095"))]
    pub length: u16,
}

impl MessageFrame {
    /// Reads a message that fills `bytes`.
    ///
    /// # Errors
    /// If it is malformed, another message, or has more than the core data.
    pub fn decode(bytes: &[u8]) -> Result<MessageFrame, Refusal> {
        const WHAT: &str = "BSM";
        if bytes.len() > MAX_LEN {
            return Err(Refusal::TooLong { len: bytes.len(), max: MAX_LEN });
        }
        let malformed = |error: rasn::error::DecodeError| Refusal::malformed(WHAT, &error);
        let frame: Frame = rasn::uper::decode(bytes).map_err(malformed)?;
        if frame.message_id != BASIC_SAFETY_MESSAGE {
            let text = format!("message {} of J2735, where BSMs are 20", frame.message_id);
            return Err(Refusal::malformed(WHAT, &text));
        }
        // The extension bit and those of the two optional parts come first.
        if frame.value.first().is_some_and(|byte| byte & 0xe0 != 0) {
            return Err(Refusal::malformed(WHAT, &"it has optional parts, which are not read"));
        }
        let message: BasicSafetyMessage = rasn::uper::decode(&frame.value).map_err(malformed)?;
        Ok(MessageFrame { core: message.core_data })
    }

    /// Its encoding.
    ///
    /// # Errors
    /// If a value of it is out of range.
    pub fn encode(&self) -> Result<Vec<u8>, Refusal> {
        let malformed = |error: rasn::error::EncodeError| Refusal::malformed("BSM", &error);
        let message =
            BasicSafetyMessage { core_data: self.core.clone(), part_two: None, regional: None };
        let value = rasn::uper::encode(&message).map_err(malformed)?.into();
        let frame = Frame { message_id: BASIC_SAFETY_MESSAGE, value };
        rasn::uper::encode(&frame).map_err(malformed)
    }

    /// The message of `vehicle` at `time`, its `count`th.
    pub fn of(vehicle: &Vehicle, time: ItsTime, count: u8) -> MessageFrame {
        let unknown = 0;
        let Position { latitude, longitude } = vehicle.position;
        MessageFrame {
            core: CoreData {
                msg_count: count % 128,
                id: vehicle.station_id.to_be_bytes().into(),
                sec_mark: (time.as_millis() % 60_000) as u16,
                lat: latitude.clamp(-900_000_000, 900_000_001),
                lon: longitude.clamp(-1_799_999_999, 1_800_000_001),
                elev: -4_096,
                // Two metres either way.
                accuracy: PositionalAccuracy { semi_major: 40, semi_minor: 40, orientation: 0 },
                transmission: TransmissionState::ForwardGears,
                speed: (vehicle.speed_cm_s / 2).min(8_190),
                heading: vehicle.heading_ddeg % 3_600 * 8,
                angle: 127,
                accel_set: AccelerationSet4Way {
                    longitudinal: vehicle.acceleration_cm_s2.clamp(-2_000, 2_000),
                    lateral: 2_001,
                    vert: -127,
                    yaw: 0,
                },
                brakes: BrakeSystemStatus {
                    wheel_brakes: [true, false, false, false, false].into_iter().collect(),
                    traction: unknown,
                    abs: unknown,
                    scs: unknown,
                    brake_boost: unknown,
                    aux_brakes: unknown,
                },
                size: VehicleSize {
                    width: vehicle.width_cm.min(1_023),
                    length: vehicle.length_cm.min(4_095),
                },
            },
        }
    }
}
