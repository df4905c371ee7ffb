//! The speed of a train over time.

use trackbed_core::Time;

use crate::motion::{MotionError, quantity};
use trackbed_core::text::Table;

/// A speed that changes linearly between given times, and is constant before the first and after the last one.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedProfile {
    /// Sorted by time; the first one is at zero.
    knots: Vec<Knot>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    seconds: f64,
    speed_m_s: f64,
    /// The distance travelled by then.
    distance_m: f64,
}

impl SpeedProfile {
    /// A constant speed, in metres per second.
    ///
    /// # Errors
    /// If it is negative, not a number, or above 10,000 m/s.
    pub fn constant(speed_m_s: f64) -> Result<SpeedProfile, MotionError> {
        SpeedProfile::through([(0.0, speed_m_s)])
    }

    /// A profile through these pairs of seconds and metres per second. The first time can be any value; its
    /// speed also applies before it.
    ///
    /// # Errors
    /// If there are no pairs, a number is invalid, a speed is negative, or the times are not increasing.
    pub fn through(
        pairs: impl IntoIterator<Item = (f64, f64)>,
    ) -> Result<SpeedProfile, MotionError> {
        let mut profile = SpeedProfile { knots: Vec::new() };
        pairs.into_iter().try_for_each(|(seconds, speed_m_s)| profile.push(seconds, speed_m_s))?;
        profile.complete()
    }

    /// Parses a table of comma-separated values with the columns `time_s` and `speed_m_s` or `speed_km_h`.
    ///
    /// # Errors
    /// If a column is missing, or a line is invalid; the message names the line.
    pub fn parse_csv(text: &str) -> Result<SpeedProfile, MotionError> {
        let table = Table::parse(text)?;
        let time = table.need(&["time_s"])?;
        let (speed, factor) = match table.column(&["speed_km_h"]) {
            Some(column) => (column, 1.0 / 3.6),
            None => (table.need(&["speed_m_s", "speed_km_h"])?, 1.0),
        };
        let mut profile = SpeedProfile { knots: Vec::new() };
        for row in table.rows() {
            let pushed = profile.push(row.number(time)?, row.number(speed)? * factor);
            pushed.map_err(|why| why.in_line(row.line()))?;
        }
        profile.complete()
    }

    fn push(&mut self, seconds: f64, speed_m_s: f64) -> Result<(), MotionError> {
        let refuse = |why: String| Err(MotionError::new(why));
        if !(0.0..=SECONDS_MAX).contains(&seconds) {
            let advice = "write seconds from 0 to 31,536,000 (a year)";
            return refuse(format!("{seconds} s is not a valid time; {advice}"));
        }
        if !(0.0..=SPEED_MAX_M_S).contains(&speed_m_s) {
            let advice = "write metres per second from 0 to 10,000";
            return refuse(format!("{speed_m_s} m/s is not a valid speed; {advice}"));
        }
        let distance_m = match self.knots.last() {
            Some(Knot { seconds: before, .. }) if seconds <= *before => {
                return refuse(format!(
                    "the time {seconds} s does not come after {before} s; give them in order, each once"
                ));
            }
            Some(last) => {
                let way = (seconds - last.seconds) * (last.speed_m_s + speed_m_s) / 2.0;
                last.distance_m + way
            }
            None if seconds > 0.0 => {
                self.knots.push(Knot { seconds: 0.0, speed_m_s, distance_m: 0.0 });
                speed_m_s * seconds
            }
            None => 0.0,
        };
        self.knots.push(Knot { seconds, speed_m_s, distance_m });
        Ok(())
    }

    fn complete(self) -> Result<SpeedProfile, MotionError> {
        match self.knots.is_empty() {
            true => Err(MotionError::new("a speed profile without a speed; give at least one")),
            false => Ok(self),
        }
    }

    /// The speed at `at`, in metres per second.
    pub fn speed_m_s(&self, at: Time) -> f64 {
        let seconds = at.as_secs_f64();
        let (knot, next) = self.around(seconds);
        match next {
            Some(next) => knot.speed_m_s + acceleration(&knot, &next) * (seconds - knot.seconds),
            None => knot.speed_m_s,
        }
    }

    /// The highest speed, in metres per second.
    pub fn fastest_m_s(&self) -> f64 {
        self.knots.iter().map(|knot| knot.speed_m_s).fold(0.0, f64::max)
    }

    /// The distance travelled at `at`, in metres.
    pub fn distance_m(&self, at: Time) -> f64 {
        let seconds = at.as_secs_f64();
        let (knot, next) = self.around(seconds);
        let (since, rate) = (seconds - knot.seconds, next.map_or(0.0, |n| acceleration(&knot, &n)));
        knot.distance_m + since * (knot.speed_m_s + rate * since / 2.0)
    }

    /// When the train has travelled `distance_m` metres; `None` if it never does.
    pub fn time_at(&self, distance_m: f64) -> Option<Time> {
        if distance_m <= 0.0 {
            return Some(Time::ZERO);
        }
        let before = self.knots.partition_point(|knot| knot.distance_m < distance_m);
        let knot = self.knots[before.saturating_sub(1)];
        let left = distance_m - knot.distance_m;
        let rate = self.knots.get(before).map_or(0.0, |next| acceleration(&knot, next));
        // The root of rate/2 t^2 + speed t = left, in the form without cancellation.
        let root = (knot.speed_m_s * knot.speed_m_s + 2.0 * rate * left).max(0.0).sqrt();
        let seconds = knot.seconds + 2.0 * left / (knot.speed_m_s + root);
        let known = seconds.is_finite() && seconds < SECONDS_MAX * 100.0;
        known.then(|| Time::from_nanos((seconds * 1e9).round() as u64))
    }

    /// The last knot before a time, and the one after it.
    fn around(&self, seconds: f64) -> (Knot, Option<Knot>) {
        let begun = self.knots.partition_point(|knot| knot.seconds <= seconds).max(1);
        (self.knots[begun - 1], self.knots.get(begun).copied())
    }
}

/// Parses a constant speed such as `300 km/h` or `83 m/s`.
impl std::str::FromStr for SpeedProfile {
    type Err = MotionError;

    fn from_str(text: &str) -> Result<SpeedProfile, MotionError> {
        SpeedProfile::constant(quantity::parse_speed_m_s(text)?)
    }
}

fn acceleration(from: &Knot, to: &Knot) -> f64 {
    (to.speed_m_s - from.speed_m_s) / (to.seconds - from.seconds)
}

const SECONDS_MAX: f64 = 31_536_000.0;
const SPEED_MAX_M_S: f64 = 10_000.0;
