//! Where a train believes to be.

use std::time::Duration;

use trackbed_core::{Rng, Seed, Time};

use crate::motion::coordinates::Coordinates;
use crate::motion::ride::Ride;

/// How wrong a satellite receiver is, and how late.
///
/// The error is a first-order Gauss-Markov process, independent eastwards and northwards: normal,
/// and correlated over a time t by `exp(-t / correlation)` (Brown and Hwang, "Introduction to
/// Random Signals and Applied Kalman Filtering", section 3.4). Errors of satellite positions change
/// within tens of seconds, not from fix to fix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpsModel {
    /// The standard deviation of each component of the error, in metres.
    pub sigma_m: f64,
    /// The time over which errors lose their correlation; zero for errors that have none.
    pub correlation: Duration,
    /// How old a position is when it is told.
    pub lag: Duration,
}

impl GpsModel {
    /// A receiver without errors.
    pub const PERFECT: GpsModel =
        GpsModel { sigma_m: 0.0, correlation: Duration::ZERO, lag: Duration::ZERO };
}

/// 5 m with a correlation of 30 s, told 200 ms late: a good receiver on a roof between masts. These
/// are assumptions of ours.
impl Default for GpsModel {
    fn default() -> GpsModel {
        GpsModel {
            sigma_m: 5.0,
            correlation: Duration::from_secs(30),
            lag: Duration::from_millis(200),
        }
    }
}

/// A receiver on a train.
#[derive(Clone, Debug)]
pub struct GpsReceiver {
    model: GpsModel,
    rng: Rng,
    /// The last error, east and north in metres, and when it was.
    last: Option<(Time, [f64; 2])>,
}

/// A position as a receiver tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fix {
    /// When it is told.
    pub at: Time,
    /// Where the train is said to be.
    pub coordinates: Coordinates,
    /// The same on the track: the chainage of its nearest point, in metres.
    pub chainage_m: f64,
    /// The speed, in metres a second; right, but as late as the position.
    pub speed_m_s: f64,
}

impl GpsReceiver {
    /// A receiver whose errors come from the stream `gps` of `seed`.
    pub fn new(model: GpsModel, seed: &Seed) -> GpsReceiver {
        GpsReceiver { model, rng: seed.stream("gps"), last: None }
    }

    /// The position that is told at `now`. Times must not decrease.
    pub fn fix(&mut self, now: Time, ride: &Ride) -> Fix {
        let then = now - self.model.lag;
        let [east, north] = self.error(now);
        let coordinates = ride.coordinates(then).shifted_m(east, north);
        // Far enough that an error of any likely size finds its nearest point.
        let reach = 10.0 * self.model.sigma_m + 100.0;
        let nearest = ride.track().project_near(coordinates, ride.chainage_m(then), reach);
        let speed_m_s = ride.speed_m_s(then);
        Fix { at: now, coordinates, chainage_m: nearest.chainage_m, speed_m_s }
    }

    /// The error at `now`. Always draws two normal numbers, so that another sigma or correlation
    /// shifts no draw.
    fn error(&mut self, now: Time) -> [f64; 2] {
        let fresh = [self.rng.normal(), self.rng.normal()];
        let (kept, before) = match self.last {
            Some((last, error)) if !self.model.correlation.is_zero() => {
                let times = now.since(last).as_secs_f64() / self.model.correlation.as_secs_f64();
                (libm::exp(-times), error)
            }
            _ => (0.0, [0.0; 2]),
        };
        let spread = self.model.sigma_m * (1.0 - kept * kept).sqrt();
        let error = [0, 1].map(|axis| kept * before[axis] + spread * fresh[axis]);
        self.last = Some((now, error));
        error
    }
}
