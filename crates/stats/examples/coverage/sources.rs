//! The distributions of the simulations.

use trackbed_core::{Rng, Seed};

/// A distribution with a known mean.
pub struct Source {
    pub name: &'static str,
    pub mean: f64,
    pub draw: fn(&mut Rng) -> f64,
}

pub const NORMAL: Source =
    Source { name: "normal, s/m = 0.2", mean: 1.0, draw: |rng| 1.0 + 0.2 * rng.normal() };

pub const EXPONENTIAL: Source =
    Source { name: "exponential", mean: 1.0, draw: |rng| rng.exponential() };

pub const LOG_NORMAL: Source = Source {
    name: "log-normal, sigma 1",
    // exp(1/2).
    mean: 1.648_721_270_700_128_2,
    draw: |rng| libm::exp(rng.normal()),
};

/// Variance 3/4, and no third moment.
pub const PARETO: Source = Source {
    name: "Pareto, alpha 3",
    mean: 1.5,
    draw: |rng| libm::pow(1.0 - rng.unit(), -1.0 / 3.0),
};

/// Symmetric with heavy tails.
pub const STUDENT: Source = Source {
    name: "Student's t, 3 degrees",
    mean: 0.0,
    draw: |rng| {
        let squares: f64 = (0..3).map(|_| rng.normal()).map(|x| x * x).sum();
        rng.normal() / (squares / 3.0).sqrt()
    },
};

/// Small whole numbers, mostly zero.
pub const COUNTS: Source = Source {
    name: "counts, Poisson 0.3",
    mean: 0.3,
    draw: |rng| {
        // The number of exponential times until 0.3 is exceeded.
        let mut time = rng.exponential();
        let mut count = 0.0;
        while time < 0.3 {
            time += rng.exponential();
            count += 1.0;
        }
        count
    },
};

impl Source {
    pub fn values(&self, rng: &mut Rng, n: usize) -> Vec<f64> {
        (0..n).map(|_| (self.draw)(rng)).collect()
    }
}

/// The random-number generator of a row.
pub fn rng(name: &str) -> Rng {
    Seed::of_run(1, 0).stream(name)
}

/// A share of trials in percent.
pub fn percent(count: u32, trials: u32) -> f64 {
    100.0 * f64::from(count) / f64::from(trials)
}
