//! How often clean values stand out.

use trackbed_stats::outliers;

use crate::sources::{EXPONENTIAL, LOG_NORMAL, NORMAL, PARETO, STUDENT, percent, rng};

const SETS: u32 = 2_000;

pub fn print() {
    println!("| values | n | sets with any | of all values |");
    println!("| --- | ---: | ---: | ---: |");
    for source in [NORMAL, STUDENT, EXPONENTIAL, LOG_NORMAL, PARETO] {
        for n in [10, 30, 100] {
            let mut rng = rng(source.name);
            let (mut sets, mut values) = (0, 0);
            for _ in 0..SETS {
                let set: Vec<Option<f64>> =
                    source.values(&mut rng, n as usize).into_iter().map(Some).collect();
                let found = outliers(&set).unwrap().len() as u32;
                sets += u32::from(found > 0);
                values += found;
            }
            println!(
                "| {} | {n} | {:.0} % | {:.2} % |",
                source.name,
                percent(sets, SETS),
                percent(values, SETS * n)
            );
        }
    }
}
