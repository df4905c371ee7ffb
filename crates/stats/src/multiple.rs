//! Many comparisons at once: adjusts each, so that all of them together have the intended
//! confidence.

use crate::{MIN_PAIRS, StatsError};

/// The adjusted p-values of a family of tests: accepting those below 5 % makes any error in the
/// family with probability at most 5 %, however the tests depend on one another. Holm's step-down
/// procedure (S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J.
/// Statist. 6, 1979). Entry k of the result belongs to entry k of the input; an empty input gives
/// an empty result.
///
/// # Errors
/// [`StatsError::BadProbability`] for one outside 0..=1.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    if let Some(&bad) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(StatsError::BadProbability(bad));
    }
    let mut places: Vec<usize> = (0..p_values.len()).collect();
    places.sort_by(|x, y| p_values[*x].total_cmp(&p_values[*y]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, place) in places.into_iter().enumerate() {
        // The number of tests left at this rank; an adjusted p-value is never below the one before.
        let left = (p_values.len() - rank) as f64;
        largest = largest.max((left * p_values[place]).min(1.0));
        adjusted[place] = largest;
    }
    Ok(adjusted)
}

/// The smallest number of runs with which some of `comparisons` can differ significantly at
/// `confidence`, corrected for their number: signs of n pairs have p = 2^(1 - n) at least, the order
/// of two sets of n runs without pairs 2 / C(2n, n).
pub fn runs_to_decide(comparisons: usize, confidence: f64, paired: bool) -> usize {
    let surest = |n: usize| -> f64 {
        match paired {
            true => libm::exp2(1.0 - n as f64),
            false => (1..=n).fold(2.0, |p, k| p * k as f64 / (n + k) as f64),
        }
    };
    let is_enough = |n: &usize| surest(*n) * comparisons as f64 <= 1.0 - confidence;
    (MIN_PAIRS..RUNS_MAX).find(is_enough).unwrap_or(RUNS_MAX)
}

/// More runs than any confidence below 1 needs.
const RUNS_MAX: usize = 1_100;

#[cfg(test)]
mod tests {
    use super::*;

    /// 24 x 2^-9 is 4.7 %, 24 x 2^-8 9.4 %; 2 / C(12, 6) is 0.22 %, 2 / C(14, 7) 0.058 %.
    #[test]
    fn ten_runs_decide_what_six_cannot() {
        let paired = [1, 2, 11, 24, 25, 26].map(|count| runs_to_decide(count, 0.95, true));
        assert_eq!(paired, [6, 7, 9, 10, 10, 11]);
        assert_eq!([1, 22, 24].map(|count| runs_to_decide(count, 0.95, false)), [6, 6, 7]);
    }

    /// `statsmodels.stats.multitest.multipletests(p, method="holm")`, statsmodels 0.15.0.
    #[test]
    fn holm_agrees_with_statsmodels() {
        let p = [0.001, 0.04, 0.03, 0.005, 0.5, 0.011, 0.04, 0.0002, 0.9, 0.07];
        let expected = [0.009, 0.2, 0.18, 0.04, 1.0, 0.077, 0.2, 0.002, 1.0, 0.21];
        for (found, expected) in holm(&p).unwrap().into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{found} is not {expected}");
        }
    }

    /// Holm's special case: of 0.01, 0.02 and 0.03, times 3, 2 and 1, the second is raised above
    /// the third.
    #[test]
    fn holm_is_what_hand_arithmetic_says() {
        let near = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-15, "{found} is not {expected}");
            }
        };
        near(holm(&[0.03, 0.01, 0.02]).unwrap(), &[0.04, 0.03, 0.04]);
        near(holm(&[0.2]).unwrap(), &[0.2]);
        near(holm(&[0.9, 0.8]).unwrap(), &[1.0, 1.0]);
        near(holm(&[0.0, 0.01, 0.01]).unwrap(), &[0.0, 0.02, 0.02]);
        near(holm(&[]).unwrap(), &[]);
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(holm(&[0.5, bad]), Err(StatsError::BadProbability(_))));
        }
    }
}
