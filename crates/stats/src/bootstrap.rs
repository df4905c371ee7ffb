//! Seeded bootstrap confidence intervals, bias-corrected and accelerated.

use trackbed_core::{Rng, Seed};

use crate::sample::{check_range, mean, quantile_of_sorted};
use crate::{Sample, StatsError, normal};

/// The number of resamples behind an interval.
pub(crate) const DEFAULT_RESAMPLES: usize = 10_000;

/// The seed of the resampling: the year of Efron's paper. Any fixed number would do.
const SEED: u64 = 1987;

/// Computes 95 % confidence intervals with the BCa bootstrap (B. Efron, "Better bootstrap
/// confidence intervals", J. Amer. Statist. Assoc. 82, 1987; B. Efron and R. J. Tibshirani, "An
/// Introduction to the Bootstrap", 1993, chapter 14).
///
/// The values must be independent of one another: one per run, not many from the same run.
///
/// Degenerate samples have defined results:
/// - one value, or all equal: both ends are the estimate. With one value that says nothing about
///   the spread, so always show n beside it;
/// - one outlier among equal values: the interval reaches from those values to the mean of a few
///   outliers, with the appropriate skew;
/// - every resample on one side of the estimate: the bias correction is limited to that for half a
///   resample on the other side.
///
/// With fewer than about ten values, a bootstrap interval is too narrow, including this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    resamples: usize,
}

impl Default for Bootstrap {
    /// 10,000 resamples.
    fn default() -> Bootstrap {
        Bootstrap { resamples: DEFAULT_RESAMPLES }
    }
}

impl Bootstrap {
    /// Draws `resamples` resamples instead, at least 1,000. More of them make the ends of the
    /// interval depend less on the seed, but do not make it narrower.
    ///
    /// Draws fewer (down to 1,000) if this number would need more than 20 million values in total:
    /// with the default, for samples of more than 2,000.
    pub fn with_resamples(self, resamples: usize) -> Bootstrap {
        Bootstrap { resamples: resamples.max(MIN_RESAMPLES) }
    }

    /// The 95 % confidence interval for any `statistic`, which receives selections of the values in
    /// no particular order: the full number when resampling, one fewer for the jackknife. Calls it
    /// (resamples + n) times.
    ///
    /// # Errors
    /// [`StatsError::StatisticOutOfRange`] if it returns NaN, an infinity or a number beyond
    /// [`MAX_MAGNITUDE`](crate::MAX_MAGNITUDE) for any selection.
    pub fn ci95(
        &self,
        sample: &Sample,
        statistic: impl Fn(&[f64]) -> f64,
    ) -> Result<[f64; 2], StatsError> {
        let values = sample.sorted();
        let estimate = statistic(values);
        check_estimates(&[estimate])?;
        if values.len() == 1 {
            return Ok([estimate; 2]);
        }
        let jackknife: Vec<f64> = (0..values.len())
            .map(|i| statistic(&[&values[..i], &values[i + 1..]].concat()))
            .collect();
        check_estimates(&jackknife)?;
        let mut replicates = self.replicate(values, statistic);
        check_estimates(&replicates)?;
        let acceleration = acceleration(&jackknife_influence(&jackknife));
        Ok(bca(estimate, &mut replicates, acceleration, normal::Z_975))
    }

    /// The statistic of each resample of `items`, which are drawn with replacement.
    pub(crate) fn replicate<T: Copy>(
        &self,
        items: &[T],
        statistic: impl Fn(&[T]) -> f64,
    ) -> Vec<f64> {
        let mut rng: Rng = Seed::of_run(SEED, 0).stream("stats/bootstrap");
        let count = items.len() as u64;
        let mut resample = items.to_vec();
        (0..self.resamples.min((MAX_WORK / items.len()).max(MIN_RESAMPLES)))
            .map(|_| {
                resample.fill_with(|| items[rng.below(count) as usize]);
                statistic(&resample)
            })
            .collect()
    }
}

/// The interval from an estimate, its replicates (not empty) and the acceleration; `reach` is its
/// half width in standard deviations on the normal scale.
pub(crate) fn bca(
    estimate: f64,
    replicates: &mut [f64],
    acceleration: f64,
    reach: f64,
) -> [f64; 2] {
    replicates.sort_unstable_by(f64::total_cmp);
    let bias = bias_correction(estimate, replicates);
    [-reach, reach].map(|z| {
        // Efron 1987, equation (2.3).
        let numerator = bias + z;
        let denominator = 1.0 - acceleration * numerator;
        // The expression grows without bound towards the pole; beyond it there is no probability.
        let probability = match denominator > 0.0 {
            true => normal::cdf(bias + numerator / denominator),
            false => f64::from(u8::from(numerator > 0.0)),
        };
        quantile_of_sorted(replicates, probability)
    })
}

/// The normal quantile of the share of replicates below the estimate. Replicates equal to it count
/// half, which matters for discrete values.
fn bias_correction(estimate: f64, sorted: &[f64]) -> f64 {
    let below = sorted.partition_point(|&x| x < estimate);
    let not_above = sorted.partition_point(|&x| x <= estimate);
    let count = sorted.len() as f64;
    let half_a_resample = 0.5 / count;
    let share = (below + not_above) as f64 / (2.0 * count);
    normal::quantile(share.clamp(half_a_resample, 1.0 - half_a_resample))
}

/// The acceleration: a sixth of the skewness of each value's influence on the statistic (Efron and
/// Tibshirani 1993, equation (14.15)). Always within -1/6..=1/6, because the sum of cubes never
/// exceeds the sum of squares to the power 3/2.
pub(crate) fn acceleration(influence: &[f64]) -> f64 {
    let squares: f64 = influence.iter().map(|d| d * d).sum();
    let cubes: f64 = influence.iter().map(|d| d * d * d).sum();
    let scale = 6.0 * squares * squares.sqrt();
    // No value influences the statistic, or only by amounts whose cubes vanish.
    if scale > f64::MIN_POSITIVE { cubes / scale } else { 0.0 }
}

/// The influence of each value on the statistic: the mean of the leave-one-out estimates minus the
/// one without that value.
pub(crate) fn jackknife_influence(jackknife: &[f64]) -> Vec<f64> {
    let centre = mean(jackknife);
    jackknife.iter().map(|estimate| centre - estimate).collect()
}

pub(crate) fn check_estimates(estimates: &[f64]) -> Result<(), StatsError> {
    match estimates.iter().find(|&&estimate| check_range(0, estimate).is_err()) {
        Some(&estimate) => Err(StatsError::StatisticOutOfRange(estimate)),
        None => Ok(()),
    }
}

/// With fewer resamples, too few are beyond the ends of the interval.
const MIN_RESAMPLES: usize = 1_000;

/// Values drawn for one interval, unless that would need fewer than [`MIN_RESAMPLES`].
const MAX_WORK: usize = 20_000_000;

#[cfg(test)]
mod tests;
