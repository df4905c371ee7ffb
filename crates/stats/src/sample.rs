//! A checked, sorted sample, and the statistics that describe it.

use crate::error::{MAX_MAGNITUDE, StatsError};

/// At least one value, each finite and within [`MAX_MAGNITUDE`], in ascending order.
///
/// Sorting makes each result independent of the order of the input, to the last bit.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    sorted: Vec<f64>,
}

impl Sample {
    /// Checks and sorts a copy of `values`.
    ///
    /// # Errors
    /// [`StatsError::Empty`] without values, [`StatsError::OutOfRange`] for the first one that is
    /// NaN, infinite or beyond [`MAX_MAGNITUDE`]. Nothing is dropped silently.
    pub fn new(values: &[f64]) -> Result<Sample, StatsError> {
        if values.is_empty() {
            return Err(StatsError::Empty);
        }
        for (index, &value) in values.iter().enumerate() {
            check_range(index, value)?;
        }
        // Adding zero turns -0 into 0, so that equal values are equal in bits as well.
        let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Sample { sorted })
    }

    /// The values in ascending order.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The number of values, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The smallest value.
    pub fn min(&self) -> f64 {
        self.sorted[0]
    }

    /// The largest value.
    pub fn max(&self) -> f64 {
        self.sorted[self.len() - 1]
    }

    /// The arithmetic mean, within `min..=max`.
    pub fn mean(&self) -> f64 {
        mean(&self.sorted).clamp(self.min(), self.max())
    }

    /// The standard deviation of the population that the sample was drawn from, with n - 1 in the
    /// divisor. 0 for a single value, which shows no spread.
    pub fn standard_deviation(&self) -> f64 {
        if self.min() == self.max() {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self.sorted.iter().map(|x| (x - mean) * (x - mean)).sum();
        (squares / (self.len() - 1) as f64).sqrt()
    }

    /// The quantile at probability `p`, Hyndman-Fan type 7.
    ///
    /// This is the linear interpolation of the order statistics at rank (n - 1) p, counted from 0:
    /// the default of R and NumPy (R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
    /// packages", The American Statistician 50, 1996). It is the minimum at 0, the maximum at 1,
    /// and never outside: n values show nothing beyond the (1 - 1/n) quantile.
    ///
    /// # Errors
    /// If `p` is outside 0..=1 or NaN.
    pub fn quantile(&self, p: f64) -> Result<f64, StatsError> {
        if (0.0..=1.0).contains(&p) {
            Ok(quantile_of_sorted(&self.sorted, p))
        } else {
            Err(StatsError::BadProbability(p))
        }
    }
}

/// Rejects values that [`Sample`] does not allow.
pub(crate) fn check_range(index: usize, value: f64) -> Result<(), StatsError> {
    if value.abs() <= MAX_MAGNITUDE { Ok(()) } else { Err(StatsError::OutOfRange { index, value }) }
}

/// The type 7 quantile of non-empty values in ascending order, for `p` in 0..=1.
pub(crate) fn quantile_of_sorted(sorted: &[f64], p: f64) -> f64 {
    let rank = (sorted.len() - 1) as f64 * p;
    let below = rank.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let (low, high) = (sorted[below], sorted[above]);
    (low + (rank - below as f64) * (high - low)).clamp(low, high)
}

/// The mean of non-empty values. The sum is compensated (Neumaier's variant of Kahan's), so that
/// equal multisets of values give equal means in nearly every order.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let (mut sum, mut compensation) = (0.0_f64, 0.0_f64);
    for &value in values {
        let next = sum + value;
        compensation +=
            if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    (sum + compensation) / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 12] =
        [98.0, 3.0, 487.0, 5.0, 230.0, 7.0, 18.0, 130.0, 43.0, 85.0, 91.0, 100.0];

    #[test]
    fn a_quantile_is_at_a_probability() {
        let sample = Sample::new(&VALUES).unwrap();
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(sample.quantile(p), Err(StatsError::BadProbability(_))));
        }
        assert_eq!(Sample::new(&[7.0]).unwrap().quantile(0.95), Ok(7.0));
    }

    /// `np.mean(values)` and `np.std(values, ddof=1)`.
    #[test]
    fn moments_agree_with_numpy() {
        let sample = Sample::new(&VALUES).unwrap();
        assert!((sample.mean() - 108.08333333333333).abs() < 1e-12);
        assert!((sample.standard_deviation() - 136.23206025904565).abs() < 1e-12);
        assert_eq!((sample.min(), sample.max(), sample.len()), (3.0, 487.0, 12));
    }

    #[test]
    fn the_mean_keeps_small_values_beside_large_ones() {
        assert_eq!(Sample::new(&[1e16, 3.0, -1e16]).unwrap().mean(), 1.0);
        let equal = Sample::new(&[0.1; 3]).unwrap();
        assert_eq!((equal.mean(), equal.standard_deviation()), (0.1, 0.0));
        assert_eq!(Sample::new(&[5.0]).unwrap().standard_deviation(), 0.0);
    }

    #[test]
    fn what_is_not_a_finite_number_is_refused_with_its_place() {
        assert_eq!(Sample::new(&[]), Err(StatsError::Empty));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e91] {
            let error = Sample::new(&[1.0, bad, 2.0]).unwrap_err();
            assert!(matches!(error, StatsError::OutOfRange { index: 1, .. }), "{error}");
        }
        assert!(Sample::new(&[MAX_MAGNITUDE, -MAX_MAGNITUDE]).is_ok());
    }

    #[test]
    fn neither_order_nor_the_sign_of_zero_shows() {
        let bits = |values: &[f64]| {
            let sample = Sample::new(values).unwrap();
            [sample.mean(), sample.min(), sample.standard_deviation()].map(f64::to_bits)
        };
        assert_eq!(bits(&[-0.0, 0.0, 0.3]), bits(&[0.3, 0.0, 0.0]));
    }
}
