//! Confidence intervals of probabilities.

use crate::pivot::check_confidence;
use crate::{StatsError, beta};

/// The interval that covers the probability of something that happened `count` times in `trials`
/// independent trials, such as failed runs: exact, hence never too narrow, and never of zero width
/// (C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the
/// case of the binomial", Biometrika 26, 1934). For 30 runs without a failure: 0 to 11.6 % at 95 %.
///
/// # Errors
/// [`StatsError::Empty`] without trials, [`StatsError::BadCount`] if `count` exceeds `trials`,
/// [`StatsError::BadProbability`] if `confidence` is not strictly between 0 and 1.
pub fn proportion_interval(
    count: u64,
    trials: u64,
    confidence: f64,
) -> Result<[f64; 2], StatsError> {
    check_confidence(confidence)?;
    if trials == 0 {
        return Err(StatsError::Empty);
    }
    if count > trials {
        return Err(StatsError::BadCount { count, trials });
    }
    let tail = 0.5 * (1.0 - confidence);
    let (yes, no) = (count as f64, (trials - count) as f64);
    let low = if count == 0 { 0.0 } else { point(tail, yes, no + 1.0) };
    let high = if count == trials { 1.0 } else { 1.0 - point(tail, no, yes + 1.0) };
    Ok([low, high])
}

/// The point below which a beta-distributed value is with probability `tail`: by bisection, first
/// of its magnitude.
fn point(tail: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        match beta::regularized(middle, a, b) > tail {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

/// Enough for the digits of a number not much below 1e-9.
const STEPS: u32 = 80;

#[cfg(test)]
mod tests {
    use super::*;

    /// With zero successes, the upper end is where the probability of zero in n trials is 2.5 %: 1
    /// - 0.025^(1/n).
    #[test]
    fn closed_forms_hold() {
        for n in [1, 30, 1_000, 1_000_000] {
            let end = -libm::expm1(libm::log(0.025) / n as f64);
            let [low, high] = proportion_interval(0, n, 0.95).unwrap();
            assert!(low == 0.0 && (high / end - 1.0).abs() < 1e-9, "{n}: {high} is not {end}");
            let [low, high] = proportion_interval(n, n, 0.95).unwrap();
            assert!(high == 1.0 && (low - (1.0 - end)).abs() < 1e-9, "{n}");
        }
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(proportion_interval(0, 0, 0.95), Err(StatsError::Empty));
        let more = proportion_interval(4, 3, 0.95);
        assert_eq!(more, Err(StatsError::BadCount { count: 4, trials: 3 }));
        assert!(proportion_interval(1, 3, 1.0).is_err());
    }
}
