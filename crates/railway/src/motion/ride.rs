//! The motion of a train along a track.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

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

    /// The ride of a train that was at these places, between which it moved evenly; errors of positions do not
    /// move it back.
    ///
    /// # Errors
    /// If they are fewer than two, not in order of time, or more than 200 m beside the track, or if the train
    /// did not move.
    pub fn through(
        track: Arc<Track>,
        positions: &[(Time, Coordinates)],
    ) -> Result<Ride, MotionError> {
        let mut places: Vec<(f64, f64)> = Vec::with_capacity(positions.len());
        for (at, place) in positions {
            let near =
                places.last().map(|(_, last_m)| track.project_near(*place, *last_m, REACH_M));
            let near = near.filter(|found| found.distance_m <= BESIDE_MAX_M);
            let found = near.unwrap_or_else(|| track.project(*place));
            if found.distance_m > BESIDE_MAX_M {
                let (seconds, metres) = (at.as_secs_f64(), found.distance_m);
                return Err(MotionError::new(format!(
                    "the position at {seconds:.1} s is {metres:.0} m beside the track of the table; \
                     is it the table of this line?"
                )));
            }
            places.push((at.as_secs_f64(), found.chainage_m));
        }
        let ends = places.first().zip(places.last()).filter(|(first, last)| first.1 != last.1);
        let Some((first, last)) = ends else {
            return Err(MotionError::new(
                "the train does not move, or ends where it began; give each way alone",
            ));
        };
        let forward = last.1 > first.1;
        let direction = if forward { Direction::Forward } else { Direction::Backward };
        let (mut way_m, mut speeds) = (0.0f64, Vec::with_capacity(2 * places.len()));
        for pair in places.windows(2) {
            let ahead_m = direction.sign() * (pair[1].1 - first.1);
            if way_m - ahead_m > REACH_M {
                let at = pair[1].0;
                let why = format!("the train goes back before {at:.0} s; give each way alone");
                return Err(MotionError::new(why));
            }
            let next_m = way_m.max(ahead_m);
            let span = pair[1].0 - pair[0].0;
            if span > STEP_S {
                let speed_m_s = (next_m - way_m) / span;
                // A step, which a profile has as a steep slope.
                speeds.extend([(pair[0].0 + STEP_S, speed_m_s), (pair[1].0, speed_m_s)]);
                way_m = next_m;
            }
        }
        speeds.push((last.0 + STEP_S, 0.0));
        let speed = SpeedProfile::through(speeds)?;
        // The profile has its first speed from time zero.
        let before_m = speed.distance_m(Time::ZERO + Duration::from_secs_f64(first.0));
        let start_m = first.1 - direction.sign() * before_m;
        Ok(Ride { track, speed, direction, start_m })
    }

    /// The direction.
    pub fn direction(&self) -> Direction {
        self.direction
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

/// Positions farther from the track are not on it.
const BESIDE_MAX_M: f64 = 200.0;
/// How far a train goes between two positions.
const REACH_M: f64 = 1_000.0;
/// The duration of a change of speed.
const STEP_S: f64 = 1e-6;
