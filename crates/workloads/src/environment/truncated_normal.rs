//! The normal distribution without its negative part.

use std::time::Duration;

use trackbed_core::Rng;

/// A span of time by the normal distribution, given that it is not negative.
///
/// A negative draw is drawn again. So no weight gathers at zero, as it would if it were cut off
/// there; the mean lies above that of the whole distribution by `deviation * phi(a) / Phi(a)` with
/// `a = mean / deviation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedNormal {
    /// The mean of the whole distribution.
    pub mean: Duration,
    /// The standard deviation of the whole distribution.
    pub deviation: Duration,
}

impl TruncatedNormal {
    /// A span, to the microsecond; at most 584 years. At least every second draw is not negative, so
    /// it comes to an end.
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
