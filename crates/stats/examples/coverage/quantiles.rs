//! The coverage of confidence intervals of quantiles, for values that are correlated within a run.

use trackbed_core::Rng;
use trackbed_stats::{Runs, Statistic, scaled_difference};

use crate::sources::{percent, rng};

const VALUES: usize = 20;

/// The normal distribution's points.
const QUANTILES: [(f64, f64); 3] =
    [(0.5, 0.0), (0.95, 1.644_853_626_951_472_7), (0.99, 2.326_347_874_040_841)];

const SETS: u32 = 2_000;

/// Each cell: the shares of sets in which the quantile is below the interval and above it; and the
/// share in which the interval has both ends.
pub fn print() {
    let heads = QUANTILES.map(|(p, _)| format!(" p = {p} |")).concat();
    println!("| runs of {VALUES} values | the run's share |{heads}");
    println!("| ---: | ---: |{}", " ---: |".repeat(QUANTILES.len()));
    for runs in [6, 10, 30, 100] {
        for shared in [0.0, 0.2, 0.5, 0.9] {
            let cells = QUANTILES.map(|(p, point)| cell(runs, shared, p, point)).join(" | ");
            println!("| {runs} | {:.0} % | {cells} |", 100.0 * shared);
        }
    }
}

/// Log-normal values exp(√c z + √(1 - c) e), in which the run's z makes up the share c.
fn cell(runs: usize, shared: f64, p: f64, point: f64) -> String {
    let mut rng = rng(&format!("quantiles {shared}"));
    let truth = libm::exp(point);
    let (mut closed, mut below, mut above) = (0, 0, 0);
    for _ in 0..SETS {
        let values: Vec<Vec<f64>> = (0..runs).map(|_| run(&mut rng, shared)).collect();
        let found = Runs::new(values.iter().map(Vec::as_slice)).unwrap();
        let interval = found.estimate(Statistic::Quantile(p)).unwrap().interval;
        closed += u32::from(interval.low.is_some() && interval.high.is_some());
        below += u32::from(interval.low.is_some_and(|low| truth < low));
        above += u32::from(interval.high.is_some_and(|high| truth > high));
    }
    let [below, above, closed] = [below, above, closed].map(|count| percent(count, SETS));
    format!("{below:.1}, {above:.1} ({closed:.0} %)")
}

const DIFFERENCES: u32 = 300;

/// Each cell: the shares of sets in which the difference of two cells' quantiles is below its
/// interval and above it, and the share in which the interval has both ends. The cells share their
/// runs' z, and all values of the second are doubled: the true quantile is twice the first's.
pub fn print_differences() {
    println!("| runs of {VALUES} values | the run's share | p = 0.5 | p = 0.95 |");
    println!("| ---: | ---: | ---: | ---: |");
    for runs in [10, 30] {
        for shared in [0.2, 0.9] {
            let cells = [0.5, 0.95].map(|p| difference(runs, shared, p)).join(" | ");
            println!("| {runs} | {:.0} % | {cells} |", 100.0 * shared);
        }
    }
}

fn difference(runs: usize, shared: f64, p: f64) -> String {
    let mut rng = rng(&format!("differences {shared}"));
    let (mut closed, mut below, mut above) = (0, 0, 0);
    for _ in 0..DIFFERENCES {
        let pairs: Vec<[Vec<f64>; 2]> = (0..runs)
            .map(|_| {
                let own = rng.normal();
                [1.0, 2.0].map(|factor| {
                    with(&mut rng, own, shared).into_iter().map(|value| factor * value).collect()
                })
            })
            .collect();
        let [first, second] =
            [0, 1].map(|side| pairs.iter().map(|pair| Some(&pair[side][..])).collect::<Vec<_>>());
        let found = scaled_difference(&second, &first, Statistic::Quantile(p), 2.0).unwrap();
        closed += u32::from(found.interval.low.is_some() && found.interval.high.is_some());
        below += u32::from(found.interval.low.is_some_and(|low| 0.0 < low));
        above += u32::from(found.interval.high.is_some_and(|high| 0.0 > high));
    }
    let [below, above, closed] = [below, above, closed].map(|count| percent(count, DIFFERENCES));
    format!("{below:.1}, {above:.1} ({closed:.0} %)")
}

fn run(rng: &mut Rng, shared: f64) -> Vec<f64> {
    let own = rng.normal();
    with(rng, own, shared)
}

fn with(rng: &mut Rng, own: f64, shared: f64) -> Vec<f64> {
    let value = |rng: &mut Rng| shared.sqrt() * own + (1.0 - shared).sqrt() * rng.normal();
    (0..VALUES).map(|_| libm::exp(value(rng))).collect()
}
