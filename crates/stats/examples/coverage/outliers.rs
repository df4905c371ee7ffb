//! How often clean values are reported as outliers.

use trackbed_stats::outliers;

use crate::sources::{EXPONENTIAL, LOG_NORMAL, NORMAL, PARETO, STUDENT, Source, percent, rng};

const SETS: u32 = 2_000;

/// Each cell: the share of sets with any outlier, and the share of outliers among all values.
pub fn print() {
    println!("| values | n = 10 | n = 30 | n = 100 |");
    println!("| --- | ---: | ---: | ---: |");
    for source in [NORMAL, STUDENT, EXPONENTIAL, LOG_NORMAL, PARETO] {
        println!("| {} | {} |", source.name, [10, 30, 100].map(|n| cell(&source, n)).join(" | "));
    }
}

fn cell(source: &Source, n: u32) -> String {
    let mut rng = rng(source.name);
    let (mut sets, mut values) = (0, 0);
    for _ in 0..SETS {
        let set = source.values(&mut rng, n as usize).into_iter().map(Some);
        let found = outliers(&set.collect::<Vec<_>>()).unwrap().len() as u32;
        sets += u32::from(found > 0);
        values += found;
    }
    format!("{:.0} %, {:.2} %", percent(sets, SETS), percent(values, SETS * n))
}
