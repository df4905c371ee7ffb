//! Intervals of means.

use trackbed_stats::{Sample, mean_interval};

use crate::sources::{
    COUNTS, EXPONENTIAL, LOG_NORMAL, NORMAL, PARETO, STUDENT, Source, percent, rng,
};

const SOURCES: [Source; 6] = [NORMAL, STUDENT, EXPONENTIAL, LOG_NORMAL, PARETO, COUNTS];

const COUNTS_OF_VALUES: [usize; 6] = [3, 5, 10, 30, 100, 1_000];

const SETS: u32 = 10_000;

/// Each cell: the share of sets whose interval covers the mean; the shares in which the mean is
/// below and above it; and the interval's median width relative to the normal one, 2 x 1.96 s/√n.
pub fn print() {
    let heads = COUNTS_OF_VALUES.map(|n| format!(" n = {n} |")).concat();
    println!("| values |{heads}");
    println!("| --- |{}", " ---: |".repeat(COUNTS_OF_VALUES.len()));
    for source in SOURCES {
        let ours = |n| cell(&source, n, |sample| mean_interval(sample, 0.95).unwrap());
        let cells: Vec<String> = COUNTS_OF_VALUES.into_iter().map(ours).collect();
        println!("| {} | {} |", source.name, cells.join(" | "));
    }
}

fn cell(source: &Source, n: usize, interval: impl Fn(&Sample) -> [f64; 2]) -> String {
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
    let covered = 100.0 - percent(below + above, SETS);
    let [below, above] = [below, above].map(|count| percent(count, SETS));
    format!("**{covered:.1}** ({below:.1}, {above:.1}) x {width:.2}")
}
