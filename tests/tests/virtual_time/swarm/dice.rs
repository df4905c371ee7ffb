//! Random choices for scenarios.

use std::fmt::Display;

use trackbed_core::{Rng, Seed};

pub struct Dice(Rng);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(Seed::of_run(seed, 0).stream("swarm"))
    }

    /// True in this many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.0.below(items.len() as u64) as usize]
    }

    /// A number from `low` to `high`, each as likely as the other.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// A number from `low` to `high`, each order of magnitude as likely as the other.
    pub fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let exponent = self.0.unit() * (high as f64 / low as f64).ln();
        ((low as f64 * exponent.exp()) as u64).clamp(low, high)
    }

    /// A share up to `most` millionths, as a scenario writes it.
    pub fn share(&mut self, most: u64) -> String {
        share(self.magnitude(100, most))
    }
}

/// This many millionths, as written in a scenario.
pub fn share(millionths: u64) -> String {
    quoted(format_args!("{}.{:04} %", millionths / 10_000, millionths % 10_000))
}

/// A quantity as a scenario writes it.
pub fn quoted(text: impl Display) -> String {
    format!("\"{text}\"")
}
