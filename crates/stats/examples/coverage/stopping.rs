//! When the stopping rule stops, and how good its means and intervals are.

use trackbed_stats::{Criterion, Looks, Precision, Sample, Statistic, mean_interval};

use crate::sources::{EXPONENTIAL, LOG_NORMAL, NORMAL, Source, percent, rng};

/// Each cell: the mean number of runs at the stop, the bias of the mean, and how often the interval
/// covers it.
pub fn print() {
    println!("| values | target | first look at 10 | first look at 30 |");
    println!("| --- | ---: | ---: | ---: |");
    for source in [NORMAL, EXPONENTIAL, LOG_NORMAL] {
        for (target, trials) in [(0.2, 10_000), (0.1, 10_000), (0.05, 5_000), (0.02, 2_000)] {
            let [early, late] = [10, 30].map(|first| cell(&source, target, first, trials));
            println!("| {} | {} % | {early} | {late} |", source.name, 100.0 * target);
        }
    }
}

fn cell(source: &Source, target: f64, runs_min: usize, trials: u32) -> String {
    let mut rng = rng(source.name);
    let looks = Looks::new(runs_min, 1_000_000).unwrap();
    let criterion =
        Criterion { statistic: Statistic::Mean, precision: Precision::Relative(target) };
    let (mut runs, mut sum, mut covered) = (0, 0.0, 0);
    for _ in 0..trials {
        let mut values = Vec::new();
        let stop = looks.counts().find(|count| {
            values.extend(source.values(&mut rng, count - values.len()));
            criterion.is_met(values.chunks(1)).unwrap()
        });
        runs += stop.expect("the limit is out of reach");
        let sample = Sample::new(&values).unwrap();
        let [low, high] = mean_interval(&sample, 0.95).unwrap();
        sum += sample.mean();
        covered += u32::from(low <= source.mean && source.mean <= high);
    }
    let bias = 100.0 * (sum / f64::from(trials) / source.mean - 1.0);
    let runs = runs as f64 / f64::from(trials);
    format!("{runs:.0} runs, {bias:+.1} %, {:.1} %", percent(covered, trials))
}
