//! What a vehicle, or somebody on foot, knows of itself and tells others.

use c_its_parser::standards::cdd_1_3_1_1::its_container as cdd;

use crate::location::Position;

/// What a station is: ETSI's `StationType` (TS 102 894-2, A.78), which is also what GeoNetworking's
/// addresses have (EN 302 636-4-1 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Station {
    /// Somebody on foot.
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
    /// What it is.
    pub station: Station,
    /// Its name, which changes with its pseudonym. Of four bytes, as the temporary one of a BSM.
    pub station_id: u32,
    /// Where it is.
    pub position: Position,
    /// Which way it faces: tenths of a degree from north, clockwise, below 3,600.
    pub heading_ddeg: u16,
    /// How fast it goes, in cm/s.
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

    /// Somebody on foot who stands somewhere.
    pub fn pedestrian(station_id: u32, position: Position) -> Vehicle {
        let station = Station::Pedestrian;
        Vehicle { station, length_cm: 50, width_cm: 50, ..Vehicle::car(station_id, position) }
    }
}

pub(super) fn reference_position(position: &Position) -> cdd::ReferencePosition {
    // Two metres either way, and a height that is not known.
    let ellipse = cdd::PosConfidenceEllipse::new(
        cdd::SemiAxisLength(200),
        cdd::SemiAxisLength(200),
        cdd::HeadingValue(0),
    );
    cdd::ReferencePosition::new(
        cdd::Latitude(position.latitude.clamp(-900_000_000, 900_000_001)),
        cdd::Longitude(position.longitude.clamp(-1_800_000_000, 1_800_000_001)),
        ellipse,
        cdd::Altitude::new(cdd::AltitudeValue(800_001), cdd::AltitudeConfidence::unavailable),
    )
}

/// Within a degree.
pub(super) fn heading(vehicle: &Vehicle) -> cdd::Heading {
    let value = cdd::HeadingValue(vehicle.heading_ddeg % 3_600);
    cdd::Heading::new(value, cdd::HeadingConfidence(10))
}

/// Within 0.3 m/s.
pub(super) fn speed(vehicle: &Vehicle) -> cdd::Speed {
    let value = cdd::SpeedValue(vehicle.speed_cm_s.min(16_382));
    cdd::Speed::new(value, cdd::SpeedConfidence(30))
}
