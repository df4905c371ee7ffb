//! Means and sums of means compared with a number: intervals and tests that account for skewness.

use crate::sample::mean;
use crate::{Sample, StatsError, student};

/// An estimate that is a mean or the difference of two means, with its error distribution.
///
/// Student's t assumes that errors are equally often positive and negative. Times are not: with 30
/// log-normal values, Student's 95 % interval misses the mean in 12 % of all cases, nearly always
/// because its upper end is too low. P. Hall's cubic function of t removes the first term of that
/// skewness and stays monotonic ("On the removal of skewness by transformation", J. R. Statist.
/// Soc. B 54, 1992; compared with Student's distribution by R. Willink, "A confidence interval and
/// test for the mean of an asymmetric distribution", Commun. Statist. 34, 2005; for two samples by
/// X.-H. Zhou and P. Dinh, "Nonparametric confidence intervals for the one- and two-sample
/// problems", Biostatistics 6, 2005).
///
/// A sample's skewness may be chance, especially for symmetric values with heavy tails. So each end
/// of an interval is the outer one of Student's and Hall's, and a test rejects only if both do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pivot {
    pub(crate) estimate: f64,
    error: f64,
    skewness: f64,
    freedom: f64,
    /// The smallest p-value that a one-sided test may have.
    pub(crate) surest: f64,
}

impl Pivot {
    /// The mean of `values` (not empty). They were computed from numbers of magnitude `scale`,
    /// which determines their rounding error, or are such numbers themselves.
    pub(crate) fn of_mean(values: &[f64], scale: f64) -> Pivot {
        let moments = Moments::of(values, scale);
        let n = values.len() as f64;
        Pivot {
            estimate: moments.mean,
            error: moments.deviation / n.sqrt(),
            skewness: moments.skewness / n.sqrt(),
            freedom: n - 1.0,
            // If each deviation were equally likely above and below zero, all n would be on one
            // side with this probability (the exact sign test).
            surest: libm::exp2(-n),
        }
    }

    /// The mean of `plus` minus that of `minus`, which are independent: Welch's error and degrees
    /// of freedom (B. L. Welch, Biometrika 34, 1947). Neither is empty.
    pub(crate) fn of_difference(plus: &[f64], minus: &[f64]) -> Pivot {
        let largest = largest(plus).max(largest(minus));
        let [x, y] = [plus, minus].map(|values| Moments::of(values, largest));
        let [n, m] = [plus.len() as f64, minus.len() as f64];
        let estimate = without_rounding(x.mean - y.mean, largest);
        let scale = x.deviation.max(y.deviation);
        // If nothing differed, any n of the n + m values could be the first ones.
        let surest =
            libm::exp(libm::lgamma(n + 1.0) + libm::lgamma(m + 1.0) - libm::lgamma(n + m + 1.0));
        if scale == 0.0 {
            let freedom = (n + m - 2.0).max(1.0);
            return Pivot { estimate, error: 0.0, skewness: 0.0, freedom, surest };
        }
        let [s, r] = [x.deviation / scale, y.deviation / scale];
        let [v, w] = [s * s / n, r * r / m];
        let variance = v + w;
        let per_freedom = |v: f64, n: f64| if v > 0.0 { v * v / (n - 1.0) } else { 0.0 };
        let third = x.skewness * s * s * s / (n * n) - y.skewness * r * r * r / (m * m);
        Pivot {
            estimate,
            error: scale * variance.sqrt(),
            skewness: third / (variance * variance.sqrt()),
            freedom: variance * variance / (per_freedom(v, n) + per_freedom(w, m)),
            surest,
        }
    }

    /// The interval that covers the true value with `confidence`, strictly between 0 and 1. If
    /// nothing varies, both ends are the estimate. For a single value this is not informative.
    pub(crate) fn interval(&self, confidence: f64) -> [f64; 2] {
        if self.error == 0.0 {
            return [self.estimate; 2];
        }
        let point = student::upper_point(0.5 * (1.0 - confidence), self.freedom);
        let reach = [point.max(self.straightened(point)), (-point).min(self.straightened(-point))];
        reach.map(|t| self.estimate - self.error * t)
    }

    /// Whether zero is outside [`Pivot::interval`]; cheaper than computing it.
    pub(crate) fn excludes_zero(&self, confidence: f64) -> bool {
        self.tail_above().min(self.mirrored().tail_above()) < 0.5 * (1.0 - confidence)
    }

    /// Whether there is no spread to judge by.
    pub(crate) fn varies_not(&self) -> bool {
        self.error == 0.0
    }

    /// The probability of an estimate this far above zero if the true value were zero or below.
    pub(crate) fn p_above(&self) -> f64 {
        self.tail_above().max(self.surest)
    }

    /// The probability of an estimate this far below zero if the true value were zero or above.
    pub(crate) fn p_below(&self) -> f64 {
        self.mirrored().p_above()
    }

    /// The probability of an estimate this far from zero if the true value were zero.
    #[cfg(test)]
    pub(crate) fn p_either(&self) -> f64 {
        (2.0 * self.p_above().min(self.p_below())).min(1.0)
    }

    fn tail_above(&self) -> f64 {
        if self.error == 0.0 {
            return if self.estimate > 0.0 { 0.0 } else { 1.0 };
        }
        let t = self.estimate / self.error;
        student::above(t.min(self.bent(t)), self.freedom)
    }

    fn mirrored(&self) -> Pivot {
        Pivot { estimate: -self.estimate, skewness: -self.skewness, ..*self }
    }

    /// Hall's function of t: ((1 + kt/3)^3 - 1) / k + k/6, for errors of skewness k.
    fn bent(&self, t: f64) -> f64 {
        let k = self.skewness;
        t + k * t * t / 3.0 + k * k * t * t * t / 27.0 + k / 6.0
    }

    fn straightened(&self, h: f64) -> f64 {
        let k = self.skewness;
        let h = h - k / 6.0;
        if k.abs() > SYMMETRIC { 3.0 / k * (libm::cbrt(1.0 + k * h) - 1.0) } else { h }
    }
}

/// The interval that covers the mean of the distribution behind `sample` with `confidence` (0.95
/// for the 95 % interval): each end is the outer one of Student's t and of Hall's correction for
/// skewness (P. Hall, J. R. Statist. Soc. B 54, 1992).
///
/// The values must be independent of one another: one per run, not many from the same run. With one
/// value, or all equal, both ends are the mean; so always show n beside it. With few values the
/// interval is as wide as Student's t, and may extend beyond them. `docs/statistics.md` says how
/// often it covers.
///
/// # Errors
/// [`StatsError::BadProbability`] if `confidence` is not strictly between 0 and 1.
pub fn mean_interval(sample: &Sample, confidence: f64) -> Result<[f64; 2], StatsError> {
    check_confidence(confidence)?;
    Ok(interval_of_mean(sample, confidence))
}

pub(crate) fn interval_of_mean(sample: &Sample, confidence: f64) -> [f64; 2] {
    if sample.min() == sample.max() {
        return [sample.min(); 2];
    }
    Pivot::of_mean(sample.sorted(), largest(sample.sorted())).interval(confidence)
}

pub(crate) fn check_confidence(confidence: f64) -> Result<(), StatsError> {
    match confidence > 0.0 && confidence < 1.0 {
        true => Ok(()),
        false => Err(StatsError::BadProbability(confidence)),
    }
}

pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()))
}

/// Zero if `value` is within the rounding error of arithmetic on numbers of this scale.
pub(crate) fn without_rounding(value: f64, scale: f64) -> f64 {
    if value.abs() <= ROUNDING * scale { 0.0 } else { value }
}

struct Moments {
    mean: f64,
    /// With n - 1 in the divisor; zero if the variation is only rounding.
    deviation: f64,
    /// The sample's skewness, corrected for the bias of small samples.
    skewness: f64,
}

impl Moments {
    fn of(values: &[f64], scale: f64) -> Moments {
        let mean = mean(values);
        let reach = values.iter().fold(0.0_f64, |reach, x| reach.max((x - mean).abs()));
        if without_rounding(reach, scale) == 0.0 {
            return Moments { mean: without_rounding(mean, scale), deviation: 0.0, skewness: 0.0 };
        }
        let (mut squares, mut cubes) = (0.0, 0.0);
        for x in values {
            // Scaled by the largest deviation, so that no power overflows.
            let deviation = (x - mean) / reach;
            squares += deviation * deviation;
            cubes += deviation * deviation * deviation;
        }
        let n = values.len() as f64;
        let skewness = (cubes / n) / ((squares / n) * (squares / n).sqrt());
        Moments {
            mean,
            deviation: reach * (squares / (n - 1.0)).sqrt(),
            skewness: skewness * (1.0 + 1.0 / n.sqrt()),
        }
    }
}

/// Differences this small relative to the numbers are rounding errors.
const ROUNDING: f64 = 1e-13;

/// Skewness below this has no effect, and dividing by it would be inaccurate.
const SYMMETRIC: f64 = 1e-8;

#[cfg(test)]
mod tests;
