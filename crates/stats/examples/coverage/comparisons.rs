//! Error rates of tests.

use trackbed_core::Rng;
use trackbed_stats::{
    Better, Comparison, Margin, RegressionVerdict, Terms, compare_paired, compare_unpaired,
};

use crate::sources::{EXPONENTIAL, LOG_NORMAL, NORMAL, STUDENT, Source, percent, rng};

const TRIALS: u32 = 10_000;

pub fn print() {
    println!("| values | 6 runs | 10 | 30 | 100 | 10 against 40 |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for source in [NORMAL, STUDENT, EXPONENTIAL, LOG_NORMAL] {
        let sizes = [(6, 6), (10, 10), (30, 30), (100, 100), (10, 40)];
        let cells = sizes.map(|(n, m)| no_difference(&source, n, m)).join(" | ");
        println!("| {} | {cells} |", source.name);
    }
    println!("\n| values | n | difference | equivalent | no worse | worse |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (name, noise) in NOISES {
        for n in [10, 30, 100] {
            for percent_more in [0.0, 3.0, 10.0] {
                beside_the_margin(name, noise, n, percent_more);
            }
        }
    }
}

/// Share of p-values below 5 % if nothing differs, unpaired and paired. Both sides are from the
/// same distribution; as pairs, each value also has a part common to its run.
fn no_difference(source: &Source, n: usize, m: usize) -> String {
    let mut rng = rng(source.name);
    let terms = Terms { margin: Margin::Relative(0.0), ..Terms::default() };
    let (mut apart, mut paired) = (0, 0);
    for _ in 0..TRIALS {
        let [x, y] =
            [n, m].map(|n| source.values(&mut rng, n).into_iter().map(Some).collect::<Vec<_>>());
        let found = compare_unpaired(&x, &y, &terms).unwrap();
        apart += u32::from(found.p_value < 0.05);
        if n == m {
            let luck = source.values(&mut rng, n);
            let with = |values: &[Option<f64>]| -> Vec<Option<f64>> {
                values.iter().zip(&luck).map(|(x, luck)| x.map(|x| x + 3.0 * luck)).collect()
            };
            let found = compare_paired(&with(&x), &with(&y), &terms).unwrap();
            paired += u32::from(found.p_value < 0.05);
        }
    }
    let apart = format!("{:.1}", percent(apart, TRIALS));
    if n == m { format!("{apart}, {:.1} %", percent(paired, TRIALS)) } else { format!("{apart} %") }
}

type Noise = fn(&mut Rng) -> f64;

/// Noise with mean 1 and a spread of 5 %.
const NOISES: [(&str, Noise); 2] = [
    ("normal", |rng| 1.0 + 0.05 * rng.normal()),
    ("exponential", |rng| 0.95 + 0.05 * rng.exponential()),
];

/// Rate of each verdict, for pairs whose common part is log-normal with sigma 0.3, each side with
/// its own noise; the second is `percent_more` larger. The margin is 3 %, and lower is better.
fn beside_the_margin(name: &str, noise: Noise, n: usize, percent_more: f64) {
    let mut rng = rng(name);
    let terms = Terms { better: Some(Better::Lower), ..Terms::default() };
    let (mut equivalent, mut no_worse, mut worse) = (0, 0, 0);
    for _ in 0..TRIALS {
        let luck: Vec<f64> = (0..n).map(|_| libm::exp(0.3 * rng.normal())).collect();
        let mut side = |factor: f64| -> Vec<Option<f64>> {
            luck.iter().map(|luck| Some(factor * luck * noise(&mut rng))).collect()
        };
        let (first, second) = (side(1.0), side(1.0 + percent_more / 100.0));
        let found: Comparison = compare_paired(&first, &second, &terms).unwrap();
        let regression = found.regression.unwrap().verdict;
        equivalent += u32::from(found.p_equivalent < 0.05);
        no_worse += u32::from(regression == RegressionVerdict::NoWorse);
        worse += u32::from(regression == RegressionVerdict::Worse);
    }
    let [equivalent, no_worse, worse] =
        [equivalent, no_worse, worse].map(|count| format!("{:.1} %", percent(count, TRIALS)));
    println!("| {name} | {n} | {percent_more} % | {equivalent} | {no_worse} | {worse} |");
}
