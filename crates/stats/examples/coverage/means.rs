//! Intervals of means.

use trackbed_stats::{Bootstrap, Sample, mean_interval};

use crate::sources::{
    COUNTS, EXPONENTIAL, LOG_NORMAL, NORMAL, PARETO, STUDENT, Source, percent, rng,
};

const SOURCES: [Source; 6] = [NORMAL, STUDENT, EXPONENTIAL, LOG_NORMAL, PARETO, COUNTS];

const SETS: u32 = 10_000;

pub fn print() {
    println!("| values | n | covered | truth below | truth above | width |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for source in SOURCES {
        for n in [3, 5, 10, 30, 100, 1_000] {
            row(&source, n, source.name, |sample| mean_interval(sample, 0.95).unwrap());
        }
    }
    // For comparison: the bootstrap's.
    for source in SOURCES {
        let bootstrap = Bootstrap::default().with_resamples(2_000);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let name = format!("{}, BCa bootstrap", source.name);
        row(&source, 30, &name, |sample| bootstrap.ci95(sample, mean).unwrap());
    }
}

/// Widths are in those of the normal interval with the true mean's place in the middle: 2 x 1.96 s/√n.
fn row(source: &Source, n: usize, name: &str, interval: impl Fn(&Sample) -> [f64; 2]) {
    let mut rng = rng(source.name);
    let (mut below, mut above) = (0, 0);
    let mut widths = Vec::new();
    for _ in 0..SETS {
        let sample = Sample::new(&source.values(&mut rng, n)).unwrap();
        let [low, high] = interval(&sample);
        below += u32::from(source.mean < low);
        above += u32::from(source.mean > high);
        let normal = 2.0 * 1.96 * sample.standard_deviation() / (n as f64).sqrt();
        if normal > 0.0 {
            widths.push((high - low) / normal);
        }
    }
    let width = Sample::new(&widths).and_then(|widths| widths.quantile(0.5)).unwrap_or(0.0);
    println!(
        "| {name} | {n} | {:.1} % | {:.1} % | {:.1} % | {width:.2} |",
        100.0 - percent(below + above, SETS),
        percent(below, SETS),
        percent(above, SETS),
    );
}
