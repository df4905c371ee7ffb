//! What is drawn: link delays and reconnections at a fixed period, and jumps of the playing position.

use std::time::Duration;

use trackbed_core::{Ratio, Rng, Seed};

use crate::environment::timeline::{Change, Moment};

/// Decides, at the start and after each period, the link's delay and whether clients reconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChanger {
    /// The distribution of link delays; `None` leaves the delay unchanged.
    pub delay: Option<TruncatedNormal>,
    /// The time between two decisions; above zero.
    pub period: Duration,
    /// The number of reconnections. The ends of periods at which they happen are drawn without
    /// replacement, so that the number is exact; with one more, all the others stay where they are.
    pub reconnections: u32,
}

impl StatusChanger {
    /// The decisions after the first one within `duration`: the maximum number of reconnections.
    pub fn decisions(&self, duration: Duration) -> u64 {
        let (duration, period) = (duration.as_nanos(), self.period.as_nanos());
        // The last one must be before the end.
        u64::try_from(duration.div_ceil(period).saturating_sub(1)).unwrap_or(u64::MAX)
    }

    /// Its decisions within `duration`, in no particular order.
    pub fn moments(&self, seed: &Seed, duration: Duration) -> Vec<Moment> {
        let decisions = self.decisions(duration);
        let period = u64::try_from(self.period.as_nanos()).unwrap_or(u64::MAX);
        let at = |decision: u64| Duration::from_nanos(period.saturating_mul(decision));
        let mut delays = seed.stream("environment/delay");
        let delay = |decision: u64| {
            let change = Change::Delay(self.delay?.draw(&mut delays));
            Some(Moment { at: at(decision), change })
        };
        let mut moments: Vec<Moment> = (0..=decisions).filter_map(delay).collect();
        let reconnect = |decision: u64| Moment { at: at(decision), change: Change::Reconnect };
        moments.extend(self.reconnect_at(seed, decisions).into_iter().map(reconnect));
        moments
    }

    /// The first cards of a shuffled deck of all decisions (Fisher and Yates, from the front).
    fn reconnect_at(&self, seed: &Seed, decisions: u64) -> Vec<u64> {
        let mut rng = seed.stream("environment/reconnections");
        let mut deck: Vec<u64> = (1..=decisions).collect();
        let wanted = deck.len().min(self.reconnections as usize);
        for place in 0..wanted {
            let left = deck.len() - place;
            deck.swap(place, place + rng.below(left as u64) as usize);
        }
        deck.truncate(wanted);
        deck
    }
}

/// Moves the playing position, with some probability each second, to a uniformly drawn place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekChanger {
    /// The probability at each second.
    pub probability: Ratio,
}

impl SeekChanger {
    /// Its changes from the first second until `duration` is over, in order of time.
    pub fn moments(&self, seed: &Seed, duration: Duration) -> Vec<Moment> {
        let mut rng = seed.stream("environment/seek");
        let seconds = (1u64..).map(Duration::from_secs).take_while(|at| *at < duration);
        let moment = |at| {
            // Both are drawn in any case, so that another probability changes no target.
            let jumps = rng.chance(self.probability);
            let target = Ratio::from_parts(rng.below(PLACES), PLACES);
            jumps.then_some(Moment { at, change: Change::Seek(target) })
        };
        seconds.filter_map(moment).collect()
    }
}

/// The number of places; few digits in a file.
const PLACES: u64 = 1_000_000;

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
