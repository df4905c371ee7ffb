//! The seek changer: jumps of the playing position.

use std::time::Duration;

use trackbed_core::{Ratio, Seed};

use crate::environment::timeline::{Change, Moment};

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
