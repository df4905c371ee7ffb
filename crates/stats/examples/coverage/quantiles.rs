//! Intervals of quantiles, of values that share a part with their run.

use trackbed_core::Rng;
use trackbed_stats::{Runs, Statistic};

use crate::sources::{percent, rng};

const VALUES: usize = 20;

/// The normal distribution's points.
const QUANTILES: [(f64, f64); 3] =
    [(0.5, 0.0), (0.95, 1.644_853_626_951_472_7), (0.99, 2.326_347_874_040_841)];

pub fn print() {
    println!(
        "| runs of {VALUES} values | of a run's own | quantile | closed | covered, if closed |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: |");
    for (runs, sets) in [(10, 1_000), (30, 1_000), (100, 300)] {
        for shared in [0.0, 0.5] {
            for (p, point) in QUANTILES {
                row(runs, sets, shared, p, point);
            }
        }
    }
}

/// Log-normal values exp(√c z + √(1 - c) e), in which the run's z makes up the share c.
fn row(runs: usize, sets: u32, shared: f64, p: f64, point: f64) {
    let mut rng = rng(&format!("quantiles {shared}"));
    let truth = libm::exp(point);
    let (mut closed, mut covered) = (0, 0);
    for _ in 0..sets {
        let values: Vec<Vec<f64>> = (0..runs).map(|_| run(&mut rng, shared)).collect();
        let found = Runs::new(values.iter().map(Vec::as_slice)).unwrap();
        let interval = found.estimate(Statistic::Quantile(p)).unwrap().interval;
        if let (Some(low), Some(high)) = (interval.low, interval.high) {
            closed += 1;
            covered += u32::from(low <= truth && truth <= high);
        }
    }
    let share = match closed {
        0 => "".to_owned(),
        _ => format!("{:.1} %", percent(covered, closed)),
    };
    let closed = percent(closed, sets);
    println!("| {runs} | {:.0} % | {p} | {closed:.0} % | {share} |", 100.0 * shared);
}

fn run(rng: &mut Rng, shared: f64) -> Vec<f64> {
    let own = shared.sqrt() * rng.normal();
    (0..VALUES).map(|_| libm::exp(own + (1.0 - shared).sqrt() * rng.normal())).collect()
}
