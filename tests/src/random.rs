//! Random cases, each with a number: which ones to play, and choices for them.

use std::ops::Range;
use std::time::Duration;

use trackbed_core::Rng;

/// The cases selected by the environment: `one` of them, this `many`, or that many from that one on.
///
/// # Panics
/// If a variable is not a number.
pub fn selected(one: &str, many: &str) -> Option<Range<u64>> {
    let (first, cases) = (setting(one), setting(many));
    let count = cases.or(first.map(|_| 1))?;
    let first = first.unwrap_or(0);
    Some(first..first.saturating_add(count))
}

/// The number in an environment variable.
///
/// # Panics
/// If it is not a number.
pub fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: write a whole number")))
}

/// Random choices.
#[derive(Debug)]
pub struct Dice(pub Rng);

impl Dice {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// A number from `least` to `most`, each as likely as the other.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// A number from `least` to `most`, each order of magnitude as likely as the other.
    pub fn magnitude(&mut self, least: u64, most: u64) -> u64 {
        let exponent = self.0.unit() * (most as f64 / least as f64).ln();
        ((least as f64 * exponent.exp()) as u64).clamp(least, most)
    }

    /// True in one of this many cases.
    pub fn one_in(&mut self, ways: u64) -> bool {
        self.below(ways) == 0
    }

    /// True in this many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A span of whole microseconds.
    pub fn micros(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_micros(self.between(least, most))
    }

    /// A span of whole milliseconds.
    pub fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.between(least, most))
    }
}
