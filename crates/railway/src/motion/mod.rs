//! The true position of a train, and the position that its receiver reports.
//!
//! A [`Track`] is a line on the ground. A position on it is a *chainage*, the distance in metres from its
//! beginning along the rails. A [`Ride`] moves along the track with a [`SpeedProfile`]; a [`GpsReceiver`]
//! reports its position with the errors of a [`GpsModel`]. Tracks and the logs of real drives are read from
//! GPX, CSV and NMEA ([`DriveLog`]).
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use trackbed_core::{Seed, Time};
//! use trackbed_railway::motion::{Direction, GpsModel, GpsReceiver, Ride, SpeedProfile, Track};
//!
//! // 300 km/h along a straight track of 10 km.
//! let track = Arc::new(Track::straight(10_000.0)?);
//! let ride = Ride::new(track, SpeedProfile::constant(300.0 / 3.6)?, Direction::Forward);
//! assert!((ride.chainage_m(Time::from_millis(60_000)) - 5_000.0).abs() < 1e-6);
//!
//! let mut gps = GpsReceiver::new(GpsModel::default(), &Seed::of_run(1, 0));
//! let fix = gps.fix(Time::from_millis(60_000), &ride);
//! assert!((fix.chainage_m - 5_000.0).abs() < 100.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod coordinates;
mod gps;
mod log;
pub mod quantity;
mod ride;
mod speed;
mod track;

pub use coordinates::{Coordinates, EARTH_RADIUS_M};
pub use gps::{Fix, GpsModel, GpsReceiver};
pub use log::{DriveLog, LogFormat, Measured, NmeaReader, Reading, Sample};
pub use ride::{Direction, Ride};
pub use speed::SpeedProfile;
pub use track::{Projection, Track};
pub use trackbed_core::text::TextError as MotionError;
