//! The motion of a train along a track.

use std::str::FromStr;
use std::sync::Arc;

use trackbed_core::{Time, named};

use crate::motion::MotionError;
use crate::motion::coordinates::Coordinates;
use crate::motion::speed::SpeedProfile;
use crate::motion::track::Track;

named! {
    /// A direction along a track.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Direction {
        /// Rising chainage.
        Forward = "forward",
        /// Falling chainage.
        Backward = "backward",
    }
}

impl Direction {
    /// Both directions.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Backward];

    /// 1 for rising chainage, -1 for falling chainage.
    pub const fn sign(self) -> f64 {
        match self {
            Direction::Forward => 1.0,
            Direction::Backward => -1.0,
        }
    }
}

impl FromStr for Direction {
    type Err = MotionError;

    fn from_str(text: &str) -> Result<Direction, MotionError> {
        Direction::from_name(text).ok_or_else(|| {
            MotionError::new(format!("\"{text}\" is not a direction; write forward or backward"))
        })
    }
}

/// A train that moves along a track from time zero, and stops at the end of the track.
#[derive(Clone, Debug, PartialEq)]
pub struct Ride {
    track: Arc<Track>,
    speed: SpeedProfile,
    direction: Direction,
    start_m: f64,
}

impl Ride {
    /// A ride over the whole track: from its beginning forward, or from its end backward.
    pub fn new(track: Arc<Track>, speed: SpeedProfile, direction: Direction) -> Ride {
        let start_m = match direction {
            Direction::Forward => 0.0,
            Direction::Backward => track.length_m(),
        };
        Ride { track, speed, direction, start_m }
    }

    /// The same ride from this chainage; beyond the track, from the nearer end.
    #[must_use]
    pub fn starting_at(self, chainage_m: f64) -> Ride {
        let start_m = chainage_m.clamp(0.0, self.track.length_m());
        Ride { start_m, ..self }
    }

    /// The track.
    pub fn track(&self) -> &Arc<Track> {
        &self.track
    }

    /// The chainage at `at`, in metres.
    pub fn chainage_m(&self, at: Time) -> f64 {
        let way = self.direction.sign() * self.speed.distance_m(at);
        (self.start_m + way).clamp(0.0, self.track.length_m())
    }

    /// The place at `at`.
    pub fn coordinates(&self, at: Time) -> Coordinates {
        self.track.coordinates_at(self.chainage_m(at))
    }

    /// The speed at `at`, in metres per second; zero at the end of the track.
    pub fn speed_m_s(&self, at: Time) -> f64 {
        if self.speed.distance_m(at) < self.way_m() { self.speed.speed_m_s(at) } else { 0.0 }
    }

    /// When the train reaches the end of the track; `None` if it never does.
    pub fn end(&self) -> Option<Time> {
        self.speed.time_at(self.way_m())
    }

    /// The distance from the start to the end of the track.
    fn way_m(&self) -> f64 {
        match self.direction {
            Direction::Forward => self.track.length_m() - self.start_m,
            Direction::Backward => self.start_m,
        }
    }
}
