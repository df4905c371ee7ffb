//! The normal distribution without its negative part.

use std::time::Duration;

use trackbed_core::Rng;

/// A normally distributed duration, given that it is not negative.
///
/// A negative draw is repeated. So no weight gathers at zero, as clamping would cause; the mean
/// exceeds that of the whole distribution by `deviation * phi(a) / Phi(a)` with `a = mean /
/// deviation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedNormal {
    /// The mean of the whole distribution.
    pub mean: Duration,
    /// The standard deviation of the whole distribution.
    pub deviation: Duration,
}

impl TruncatedNormal {
    /// A duration, to the microsecond; at most 584 years. At least half of all draws are not negative.
    pub fn draw(&self, rng: &mut Rng) -> Duration {
        let (mean, deviation) = (self.mean.as_secs_f64(), self.deviation.as_secs_f64());
        loop {
            let seconds = mean + deviation * rng.normal();
            if seconds >= 0.0 {
                // A conversion from float to integer saturates.
                return Duration::from_micros((seconds * 1e6).round() as u64);
            }
        }
    }
}
