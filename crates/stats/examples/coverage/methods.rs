//! Other intervals of a mean of 30 values, beside ours.

use trackbed_core::Rng;
use trackbed_stats::{Bootstrap, Sample, mean_interval};

use crate::sources::{COUNTS, EXPONENTIAL, LOG_NORMAL, NORMAL, PARETO, STUDENT, percent, rng};

const N: usize = 30;

/// Of Student's distribution with 29 degrees of freedom, 2.5 % are above.
const POINT: f64 = 2.045_229_642_132_703;

const SETS: u32 = 5_000;

const RESAMPLES: usize = 2_000;

type Method = fn(&Sample, &mut Rng) -> [f64; 2];

const METHODS: [(&str, Method); 5] = [
    ("ours", |sample, _| mean_interval(sample, 0.95).unwrap()),
    ("Student", |sample, _| around(&Moments::of(sample.sorted()), POINT, -POINT)),
    ("Hall", hall),
    ("BCa bootstrap", |sample, _| {
        let bootstrap = Bootstrap::default().with_resamples(RESAMPLES);
        bootstrap.ci95(sample, |values| values.iter().sum::<f64>() / N as f64).unwrap()
    }),
    ("bootstrap-t", bootstrap_t),
];

/// Each cell: the share of sets whose interval covers the mean, and its median width relative to
/// the normal one, 2 x 1.96 s/√n.
pub fn print() {
    println!("| values |{} |", METHODS.map(|(name, _)| format!(" {name}")).join(" |"));
    println!("| --- |{}", " ---: |".repeat(METHODS.len()));
    for source in [NORMAL, STUDENT, EXPONENTIAL, LOG_NORMAL, PARETO, COUNTS] {
        let cells = METHODS.map(|(_, method)| {
            let mut values = rng(source.name);
            let mut resamples = rng("bootstrap-t");
            let (mut covered, mut widths) = (0, Vec::new());
            for _ in 0..SETS {
                let sample = Sample::new(&source.values(&mut values, N)).unwrap();
                let [low, high] = method(&sample, &mut resamples);
                covered += u32::from(low <= source.mean && source.mean <= high);
                let normal = 2.0 * 1.96 * Moments::of(sample.sorted()).error;
                widths.push(if normal > 0.0 { (high - low) / normal } else { 1.0 });
            }
            let width = Sample::new(&widths).unwrap().quantile(0.5).unwrap();
            format!("{:.1} x {width:.2}", percent(covered, SETS))
        });
        println!("| {} | {} |", source.name, cells.join(" | "));
    }
}

struct Moments {
    mean: f64,
    /// The standard error of the mean.
    error: f64,
    skewness: f64,
}

impl Moments {
    fn of(values: &[f64]) -> Moments {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let (mut second, mut third) = (0.0, 0.0);
        for value in values {
            let deviation = value - mean;
            second += deviation * deviation / n;
            third += deviation * deviation * deviation / n;
        }
        let error = (second / (n - 1.0)).sqrt();
        Moments { mean, error, skewness: third / (second * second.sqrt()).max(1e-300) }
    }
}

fn around(moments: &Moments, above: f64, below: f64) -> [f64; 2] {
    [above, below].map(|t| moments.mean - moments.error * t)
}

/// With the unchanged skewness, and without Student's end as a minimum.
fn hall(sample: &Sample, _: &mut Rng) -> [f64; 2] {
    let moments = Moments::of(sample.sorted());
    let skewness = moments.skewness / (N as f64).sqrt();
    let inverse = |t: f64| {
        let shifted = t - skewness / 6.0;
        match skewness.abs() > 1e-8 {
            true => 3.0 / skewness * (libm::cbrt(1.0 + skewness * shifted) - 1.0),
            false => shifted,
        }
    };
    around(&moments, inverse(POINT), inverse(-POINT))
}

/// The distribution of t over resamples instead of Student's (P. Hall, "Theoretical comparison of
/// bootstrap confidence intervals", Ann. Statist. 16, 1988).
fn bootstrap_t(sample: &Sample, rng: &mut Rng) -> [f64; 2] {
    let values = sample.sorted();
    let moments = Moments::of(values);
    let mut resample = [0.0; N];
    let mut draw = || {
        resample.fill_with(|| values[rng.below(N as u64) as usize]);
        let found = Moments::of(&resample);
        // With equal values, t is infinite.
        ((found.mean - moments.mean) / found.error.max(1e-12)).clamp(-1e6, 1e6)
    };
    let quotients: Vec<f64> = (0..RESAMPLES).map(|_| draw()).collect();
    let quotients = Sample::new(&quotients).unwrap();
    let [below, above] = [0.025, 0.975].map(|p| quotients.quantile(p).unwrap());
    around(&moments, above, below)
}
