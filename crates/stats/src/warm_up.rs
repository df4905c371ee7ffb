//! Finds where a time series within a run has settled.

use crate::StatsError;
use crate::sample::{check_range, mean};

/// The number of values to drop at the start of `series` so that the mean of the rest is most
/// precise: a multiple of 5. `None` if it has not settled within its first half, or has fewer than
/// 50 values.
///
/// The rule is MSER-5: it uses means of five values each, and drops those without which the
/// standard error of the rest, computed as if they were independent, is smallest (K. P. White, M.
/// J. Cobb and S. C. Spratt, "A comparison of five steady-state truncation heuristics for
/// simulation", Proc. Winter Simulation Conference 2000). The last five means are always kept,
/// because the error of fewer is meaningless.
///
/// # Errors
/// [`StatsError::OutOfRange`] for a value that is not finite.
pub fn warm_up(series: &[f64]) -> Result<Option<usize>, StatsError> {
    series.iter().enumerate().try_for_each(|(index, value)| check_range(index, *value))?;
    let batches: Vec<f64> = series.chunks_exact(BATCH).map(mean).collect();
    if batches.len() < BATCHES_MIN {
        return Ok(None);
    }
    // Equal values become exactly zero, and squares keep their digits.
    let last = batches[batches.len() - 1];
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, value) in batches.iter().enumerate().rev() {
        let value = value - last;
        (sum, squares, count) = (sum + value, squares + value * value, count + 1.0);
        let error = (squares - sum * sum / count).max(0.0) / (count * count);
        // At equal errors, keep more.
        if batches.len() - cut >= BATCHES_KEPT && error <= best.0 {
            best = (error, cut);
        }
    }
    Ok((best.1 <= batches.len() / 2).then_some(best.1 * BATCH))
}

/// The 5 of MSER-5.
const BATCH: usize = 5;

/// Fewer means show no trend.
const BATCHES_MIN: usize = 10;

/// This number at the end is never dropped.
const BATCHES_KEPT: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(means: &[f64]) -> Vec<f64> {
        means
            .iter()
            .flat_map(|mean| [mean - 1.0, mean + 1.0, *mean, mean - 2.0, mean + 2.0])
            .collect()
    }

    /// Means 9, 5, then alternating 1 and 3. With all twelve the sum of squares is 57.67 and the
    /// error 57.67 / 144 = 0.40; without the first 18.18 / 121 = 0.150; without two 10 / 100 = 0.1;
    /// without three (nine values, five threes) 8.89 / 81 = 0.110.
    #[test]
    fn the_cut_is_where_hand_arithmetic_has_it() {
        let series = batches(&[9.0, 5.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0]);
        assert_eq!(warm_up(&series), Ok(Some(10)));
        // An incomplete batch is ignored.
        assert_eq!(warm_up(&[&series[..], &[100.0; 4]].concat()), Ok(Some(10)));
    }

    #[test]
    fn what_never_settles_or_is_too_short_has_no_answer() {
        let rising: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(warm_up(&rising), Ok(None));
        let late = batches(&[&[0.0; 9][..], &[50.0; 6]].concat());
        assert_eq!(warm_up(&late), Ok(None));
        assert_eq!(warm_up(&[1.0; 49]), Ok(None));
        assert_eq!(warm_up(&[]), Ok(None));
        assert!(matches!(warm_up(&[f64::NAN]), Err(StatsError::OutOfRange { index: 0, .. })));
    }

    #[test]
    fn what_is_settled_from_the_start_keeps_all() {
        assert_eq!(warm_up(&[0.1; 50]), Ok(Some(0)));
        let turns: Vec<f64> = (0..300).map(|i| f64::from(i % 2)).collect();
        assert_eq!(warm_up(&turns), Ok(Some(0)));
    }

    /// A first-order autoregression x' = 0.9 x + e that starts 46 off its mean of zero: the
    /// transient adds 46 x 9 / 1000 = 0.41 to the mean of 1,000, whose own standard error is 10 /
    /// sqrt(1000) = 0.32. After 60 steps, 0.9^60 x 46 = 0.08 of it is left.
    #[test]
    fn a_transient_is_cut_off() {
        let mut rng = trackbed_core::Seed::of_run(1, 0).stream("transient");
        let (mut with, mut without, mut cuts) = (0.0, 0.0, Vec::new());
        for _ in 0..200 {
            let mut x = 46.0;
            let mut step = || {
                x = 0.9 * x + rng.normal();
                x
            };
            let series: Vec<f64> = (0..1_000).map(|_| step()).collect();
            let Some(cut) = warm_up(&series).unwrap() else { continue };
            cuts.push(cut);
            with += mean(&series);
            without += mean(&series[cut..]);
        }
        cuts.sort_unstable();
        let settled = cuts.len() as f64;
        // A lucky end of the series can mislead the rule.
        assert!(settled >= 180.0, "{settled}");
        assert!(cuts[0] >= 15 && (20..=100).contains(&cuts[90]), "{cuts:?}");
        assert!(with / settled > 0.3 && (without / settled).abs() < 0.1, "{with} {without}");
    }
}
