//! Whether two ways of measuring the same thing agree.

use crate::sample::quantile_of_sorted;
use crate::{Bootstrap, DEFAULT_SEED, MIN_PAIRS, Sample, StatsError};

/// How a second mean compares with a first one, as a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// The second mean over the first.
    pub ratio: f64,
    /// The 90 % interval of the ratio: where it lies within a margin, both one-sided tests at 5 %
    /// reject that the ratio is beyond it (D. J. Schuirmann, "A comparison of the two one-sided
    /// tests procedure and the power approach for assessing the equivalence of average
    /// bioavailability", J. Pharmacokin. Biopharm. 15, 1987).
    pub ci90: [f64; 2],
    /// What this says about the margin that was asked for.
    pub verdict: EquivalenceVerdict,
}

/// What an interval says about a margin around 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquivalenceVerdict {
    /// The ratio is within the margin.
    Equivalent,
    /// The ratio is beyond the margin.
    Different,
    /// The interval lies on both sides of the margin's edge, or there are too few values.
    Undecided,
}

/// Compares the means of two samples, drawn independently of each other, with values above zero.
/// `margin` is how far the ratio may be from 1, for example 0.03.
///
/// The interval is the percentile interval of the bootstrap, each sample resampled on its own. With
/// fewer than [`MIN_PAIRS`] values on a side there is no verdict.
///
/// # Errors
/// [`StatsError::StatisticOutOfRange`] if the first sample has a value that is not above zero.
pub fn equivalence(
    first: &Sample,
    second: &Sample,
    margin: f64,
) -> Result<Equivalence, StatsError> {
    if first.min() <= 0.0 {
        return Err(StatsError::StatisticOutOfRange(first.min()));
    }
    let means = |sample: &Sample, seed: u64| {
        Bootstrap::new(seed).replicate(sample.sorted(), crate::sample::mean)
    };
    let (below, above) = (means(first, DEFAULT_SEED), means(second, DEFAULT_SEED + 1));
    let mut ratios: Vec<f64> =
        below.iter().zip(&above).map(|(first, second)| second / first).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let ci90 = [0.05, 0.95].map(|p| quantile_of_sorted(&ratios, p));
    let few = first.len().min(second.len()) < MIN_PAIRS;
    let verdict = match ci90 {
        _ if few => EquivalenceVerdict::Undecided,
        [low, high] if low >= 1.0 - margin && high <= 1.0 + margin => {
            EquivalenceVerdict::Equivalent
        }
        [low, high] if low > 1.0 + margin || high < 1.0 - margin => EquivalenceVerdict::Different,
        _ => EquivalenceVerdict::Undecided,
    };
    Ok(Equivalence { ratio: second.mean() / first.mean(), ci90, verdict })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 values around `centre`, the same spread every time.
    fn sample(centre: f64) -> Sample {
        let values: Vec<f64> =
            (0..30).map(|i| centre * (1.0 + (f64::from(i) - 14.5) / 1_000.0)).collect();
        Sample::new(&values).unwrap()
    }

    #[test]
    fn the_interval_decides() {
        let base = sample(100.0);
        let verdict =
            |second: f64, margin| equivalence(&base, &sample(second), margin).unwrap().verdict;
        assert_eq!(verdict(101.0, 0.03), EquivalenceVerdict::Equivalent);
        assert_eq!(verdict(103.0, 0.03), EquivalenceVerdict::Undecided);
        assert_eq!(verdict(106.0, 0.03), EquivalenceVerdict::Different);
        assert_eq!(verdict(94.0, 0.03), EquivalenceVerdict::Different);
    }

    /// The ratio of two means of n values with standard deviation s each, both about m, has the
    /// standard deviation s/m sqrt(2/n); a 90 % interval is 1.645 of them on each side.
    #[test]
    fn the_interval_is_as_wide_as_arithmetic_says() {
        let found = equivalence(&sample(100.0), &sample(100.0), 0.03).unwrap();
        let spread = sample(100.0).standard_deviation() / 100.0 * (2.0_f64 / 30.0).sqrt();
        let width = found.ci90[1] - found.ci90[0];
        assert!((width / (2.0 * 1.645 * spread) - 1.0).abs() < 0.05, "{width}");
        assert_eq!(found.ratio, 1.0);
    }

    #[test]
    fn few_values_decide_nothing() {
        let few = Sample::new(&[1.0, 1.0, 1.0]).unwrap();
        assert_eq!(equivalence(&few, &few, 0.5).unwrap().verdict, EquivalenceVerdict::Undecided);
        assert!(equivalence(&Sample::new(&[0.0]).unwrap(), &few, 0.5).is_err());
    }
}
