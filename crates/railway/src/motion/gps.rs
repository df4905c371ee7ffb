//! The positions that a train's receiver reports.

use std::time::Duration;

use trackbed_core::{Rng, Seed, Time};

use crate::motion::ride::Ride;
use crate::motion::track::Projection;

/// The errors and the delay of a satellite receiver.
///
/// The error is a first-order Gauss-Markov process, independent eastwards and northwards: normal, with the
/// correlation `exp(-t / correlation)` over a time t (Brown and Hwang, "Introduction to Random Signals and
/// Applied Kalman Filtering", section 3.4). Errors of satellite positions change within tens of seconds, not
/// from fix to fix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpsModel {
    /// The standard deviation of each component of the error, in metres.
    pub sigma_m: f64,
    /// The correlation time of errors; zero for uncorrelated errors.
    pub correlation: Duration,
    /// The age of a position when it is reported.
    pub lag: Duration,
}

impl GpsModel {
    /// A receiver without errors.
    pub const PERFECT: GpsModel =
        GpsModel { sigma_m: 0.0, correlation: Duration::ZERO, lag: Duration::ZERO };
}

/// 5 m with a correlation time of 30 s, reported 200 ms late: a good receiver on a roof between masts. These
/// are our assumptions.
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
    /// The last error, east and north in metres, and its time.
    last: Option<(Time, [f64; 2])>,
}

/// A reported position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fix {
    /// The chainage of the nearest point of the track, in metres.
    pub chainage_m: f64,
    /// The distance of the reported position from the track, in metres.
    pub distance_m: f64,
    /// The speed, in metres per second; exact, but as late as the position.
    pub speed_m_s: f64,
}

impl GpsReceiver {
    /// A receiver whose errors are drawn from the stream `gps` of `seed`.
    pub fn new(model: GpsModel, seed: &Seed) -> GpsReceiver {
        GpsReceiver { model, rng: seed.stream("gps"), last: None }
    }

    /// The position reported at `now`. Times must not decrease.
    pub fn fix(&mut self, now: Time, ride: &Ride) -> Fix {
        let then = now - self.model.lag;
        let [east, north] = self.error(now);
        let coordinates = ride.coordinates(then).shifted_m(east, north);
        // Large enough for an error of any likely size.
        let reach = 10.0 * self.model.sigma_m + 100.0;
        let nearest = ride.track().project_near(coordinates, ride.chainage_m(then), reach);
        let Projection { chainage_m, distance_m } = nearest;
        Fix { chainage_m, distance_m, speed_m_s: ride.speed_m_s(then) }
    }

    /// The error at `now`. Always draws two normal numbers, so that sigma and correlation do not affect later
    /// draws.
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
