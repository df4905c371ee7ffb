//! What a vehicle or pedestrian knows of itself and sends to others.

use serde_json::{Value as Json, json};

use crate::location::Position;

/// What a station is: ETSI's `StationType` (TS 102 894-2, A.78), which is also what GeoNetworking's
/// addresses have (EN 302 636-4-1 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Station {
    /// A pedestrian.
    Pedestrian = 1,
    /// A car.
    PassengerCar = 5,
}

impl Station {
    /// Its number.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// A vehicle at a moment; a pedestrian is one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vehicle {
    /// Its type.
    pub station: Station,
    /// Its identifier, which changes with its pseudonym. It has four bytes, like the temporary one
    /// of a BSM.
    pub station_id: u32,
    /// Its position.
    pub position: Position,
    /// Which way it faces: tenths of a degree from north, clockwise, below 3,600.
    pub heading_ddeg: u16,
    /// Its speed in cm/s.
    pub speed_cm_s: u16,
    /// How fast it gains speed, in cm/s^2.
    pub acceleration_cm_s2: i16,
    /// How long it is, in cm.
    pub length_cm: u16,
    /// How wide it is, in cm.
    pub width_cm: u16,
}

impl Vehicle {
    /// A car of ordinary size that stands somewhere.
    pub fn car(station_id: u32, position: Position) -> Vehicle {
        Vehicle {
            station: Station::PassengerCar,
            station_id,
            position,
            heading_ddeg: 0,
            speed_cm_s: 0,
            acceleration_cm_s2: 0,
            length_cm: 450,
            width_cm: 180,
        }
    }

    /// A pedestrian who stands still.
    pub fn pedestrian(station_id: u32, position: Position) -> Vehicle {
        let station = Station::Pedestrian;
        Vehicle { station, length_cm: 50, width_cm: 50, ..Vehicle::car(station_id, position) }
    }
}

/// A `ReferencePosition` within two metres, whose height is not known.
pub(super) fn reference_position(position: &Position) -> Json {
    json!({
        "latitude": position.latitude.clamp(-900_000_000, 900_000_001),
        "longitude": position.longitude.clamp(-1_800_000_000, 1_800_000_001),
        "positionConfidenceEllipse": {
            "semiMajorConfidence": 200, "semiMinorConfidence": 200, "semiMajorOrientation": 0,
        },
        "altitude": { "altitudeValue": 800_001, "altitudeConfidence": "unavailable" },
    })
}

/// A `Heading` within a degree.
pub(super) fn heading(vehicle: &Vehicle) -> Json {
    json!({ "headingValue": vehicle.heading_ddeg % 3_600, "headingConfidence": 10 })
}

/// A `Speed` within 0.3 m/s.
pub(super) fn speed(vehicle: &Vehicle) -> Json {
    json!({ "speedValue": vehicle.speed_cm_s.min(16_382), "speedConfidence": 30 })
}
