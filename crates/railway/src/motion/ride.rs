//! A train on its way.

use std::str::FromStr;
use std::sync::Arc;

use trackbed_core::{Time, named};

use crate::motion::coordinates::Coordinates;
use crate::motion::error::MotionError;
use crate::motion::speed::SpeedProfile;
use crate::motion::track::Track;

named! {
    /// Which way along a track.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Direction {
        /// Chainages rise.
        Forward = "forward",
        /// Chainages fall.
        Backward = "backward",
    }
}

impl Direction {
    /// Both of them.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Backward];

    /// 1 where chainages rise, -1 where they fall.
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
        Direction::BOTH.into_iter().find(|direction| direction.name() == text).ok_or_else(|| {
            MotionError::new(format!("\"{text}\" is no direction; write forward or backward"))
        })
    }
}

/// A train that goes along a track from time zero on, and stops where the track ends.
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

    /// The same ride from this chainage on; from the nearer end for one beyond.
    #[must_use]
    pub fn starting_at(self, chainage_m: f64) -> Ride {
        let start_m = chainage_m.clamp(0.0, self.track.length_m());
        Ride { start_m, ..self }
    }

    /// The track.
    pub fn track(&self) -> &Arc<Track> {
        &self.track
    }

    /// Which way it goes.
    pub fn direction(&self) -> Direction {
        self.direction
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

    /// The speed at `at`, in metres a second; zero once the end is reached.
    pub fn speed_m_s(&self, at: Time) -> f64 {
        match self.speed.distance_m(at) < self.way_m() {
            true => self.speed.speed_m_s(at),
            false => 0.0,
        }
    }

    /// When the train is at this chainage for the first time; `None` if it does not come there.
    pub fn time_at(&self, chainage_m: f64) -> Option<Time> {
        let way = (chainage_m - self.start_m) * self.direction.sign();
        (0.0..=self.way_m()).contains(&way).then(|| self.speed.time_at(way))?
    }

    /// When the end of the track is reached; `None` if it never is.
    pub fn end(&self) -> Option<Time> {
        self.speed.time_at(self.way_m())
    }

    /// How far it is from the start to the end of the track.
    fn way_m(&self) -> f64 {
        match self.direction {
            Direction::Forward => self.track.length_m() - self.start_m,
            Direction::Backward => self.start_m,
        }
    }
}
