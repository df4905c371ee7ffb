//! The statistics that a report shows for one metric.

use crate::pivot::interval_of_mean;
use crate::sample::quantile_of_sorted;
use crate::{Sample, StatsError};

/// The statistics of one metric in a report. Every number is finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The arithmetic mean.
    pub mean: f64,
    /// The 95 % confidence interval of the mean, see [`mean_interval`](crate::mean_interval). With one
    /// value, or all equal, both ends are the mean.
    pub ci95: [f64; 2],
    /// The median.
    pub p50: f64,
    /// The 95th percentile, Hyndman-Fan type 7 as [`Sample::quantile`].
    pub p95: f64,
    /// The 99th percentile. With fewer than 100 values it lies between the two largest.
    pub p99: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The number of values, at least 1.
    pub n: usize,
}

impl Summary {
    /// Summarises `values`, in any order.
    ///
    /// # Errors
    /// As [`Sample::new`]: no values, or one that is not finite.
    pub fn of(values: &[f64]) -> Result<Summary, StatsError> {
        let sample = Sample::new(values)?;
        let sorted = sample.sorted();
        Ok(Summary {
            mean: sample.mean(),
            ci95: interval_of_mean(&sample, 0.95),
            p50: quantile_of_sorted(sorted, 0.5),
            p95: quantile_of_sorted(sorted, 0.95),
            p99: quantile_of_sorted(sorted, 0.99),
            min: sample.min(),
            max: sample.max(),
            n: sample.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_one_to_a_hundred_is_what_arithmetic_says() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let summary = Summary::of(&values).unwrap();
        assert_eq!((summary.mean, summary.min, summary.max, summary.n), (50.5, 1.0, 100.0, 100));
        // Rank (n - 1) p = 49.5, 94.05 and 98.01, counted from 0.
        let found = [summary.p50, summary.p95, summary.p99];
        for (found, expected) in found.into_iter().zip([50.5, 95.05, 99.01]) {
            assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
        assert!(summary.ci95[0] < 50.5 && 50.5 < summary.ci95[1]);
    }

    #[test]
    fn one_value_is_its_own_summary() {
        let summary = Summary::of(&[2.5]).unwrap();
        let Summary { mean, ci95, p50, p95, p99, min, max, n } = summary;
        assert_eq!(([mean, p50, p95, p99, min, max], ci95, n), ([2.5; 6], [2.5; 2], 1));
        assert_eq!(Summary::of(&[]), Err(StatsError::Empty));
    }

    /// The digits are fixed, so that a change of the method is noticed: existing results could no
    /// longer be reproduced.
    #[test]
    fn the_same_values_give_the_same_bits_in_any_order() {
        let values: Vec<f64> = (0..30).map(|i| f64::from(i * i % 31)).collect();
        let mut shuffled = values.clone();
        shuffled.rotate_right(11);
        let summary = Summary::of(&values).unwrap();
        assert_eq!(Summary::of(&shuffled).unwrap(), summary);
        let digits = summary.ci95.map(|end| end.to_string());
        assert_eq!(digits, ["9.278930682282015", "15.643518693158468"]);
    }
}
