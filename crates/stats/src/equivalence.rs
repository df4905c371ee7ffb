//! Whether two ways of measuring agree.

use crate::{MIN_PAIRS, Margin, StatsError, Terms, compare_paired};

/// The ratio of a second mean to a first one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// The means, over the pairs in which both succeeded.
    pub means: [f64; 2],
    /// The second mean over the first.
    pub ratio: f64,
    /// The 90 % interval of the ratio: if it lies within a margin, both one-sided tests at 5 %
    /// reject a ratio beyond the margin (D. J. Schuirmann, "A comparison of the two one-sided tests
    /// procedure and the power approach for assessing the equivalence of average bioavailability",
    /// J. Pharmacokin. Biopharm. 15, 1987). From 0 to 1e12 if the first mean could be close to
    /// zero.
    pub ci90: [f64; 2],
    /// The number of pairs in which both succeeded.
    pub n: usize,
    /// The verdict for the given margin.
    pub verdict: EquivalenceVerdict,
}

/// The verdict on a margin around 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EquivalenceVerdict {
    /// The ratio is within the margin.
    Equivalent,
    /// The ratio is beyond the margin.
    Different,
    /// The interval crosses the margin's limit, or there are too few values.
    Undecided,
}

/// Compares the means of two methods, for positive values: `first[k]` and `second[k]` come from the
/// same seed, and `None` is a missing run. `margin` is the maximum deviation of the ratio from 1,
/// for example 0.03.
///
/// The interval is that of [`compare_paired`]: what the same seed causes in both, such as the same
/// losses, cancels; the rest makes the interval as wide as for two independent samples. With fewer
/// than [`MIN_PAIRS`] pairs there is no verdict.
///
/// # Errors
/// [`StatsError::LengthMismatch`], [`StatsError::OutOfRange`] for a value that is not finite,
/// [`StatsError::Empty`] if no pair is complete, [`StatsError::BadMargin`], and
/// [`StatsError::StatisticOutOfRange`] if a value of the first is not above zero.
pub fn equivalence(
    first: &[Option<f64>],
    second: &[Option<f64>],
    margin: f64,
) -> Result<Equivalence, StatsError> {
    let terms = Terms { confidence: 0.9, margin: Margin::Relative(margin), better: None };
    let found = compare_paired(first, second, &terms)?;
    let pairs = first.iter().zip(second).filter_map(|(first, second)| first.zip(*second));
    if let Some((bad, _)) = pairs.into_iter().find(|(first, _)| *first <= 0.0) {
        return Err(StatsError::StatisticOutOfRange(bad));
    }
    let ci90 = found.ratio.map_or(UNKNOWN, |ratio| ratio.interval);
    let verdict = match ci90 {
        _ if found.n[0] < MIN_PAIRS => EquivalenceVerdict::Undecided,
        [low, high] if low >= 1.0 - margin && high <= 1.0 + margin => {
            EquivalenceVerdict::Equivalent
        }
        [low, high] if low > 1.0 + margin || high < 1.0 - margin => EquivalenceVerdict::Different,
        _ => EquivalenceVerdict::Undecided,
    };
    let ratio = found.means[1] / found.means[0];
    Ok(Equivalence { means: found.means, ratio, ci90, n: found.n[0], verdict })
}

/// The interval of a ratio whose denominator could be close to zero.
const UNKNOWN: [f64; 2] = [0.0, 1e12];

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 values around `centre`, always with the same spread, starting at the `turn`-th.
    fn values(centre: f64, turn: usize) -> Vec<Option<f64>> {
        let mut values: Vec<Option<f64>> =
            (0..30).map(|i| Some(centre * (1.0 + (f64::from(i) - 14.5) / 1_000.0))).collect();
        values.rotate_left(turn);
        values
    }

    #[test]
    fn the_interval_decides() {
        let base = values(100.0, 0);
        let verdict =
            |second: f64, margin| equivalence(&base, &values(second, 7), margin).unwrap().verdict;
        assert_eq!(verdict(101.0, 0.03), EquivalenceVerdict::Equivalent);
        assert_eq!(verdict(103.0, 0.03), EquivalenceVerdict::Undecided);
        assert_eq!(verdict(106.0, 0.03), EquivalenceVerdict::Different);
        assert_eq!(verdict(94.0, 0.03), EquivalenceVerdict::Different);
    }

    /// What both share cancels: the interval is as narrow as their differences vary.
    #[test]
    fn what_the_pairs_share_does_not_widen_the_interval() {
        let (base, twice) = (values(100.0, 0), values(200.0, 0));
        let found = equivalence(&base, &twice, 0.03).unwrap();
        assert!(found.ci90.iter().all(|end| (end - 2.0).abs() < 1e-9), "{found:?}");
        assert_eq!((found.n, found.means), (30, [100.0, 200.0]));
    }

    /// For unrelated values with standard deviation s around m, the ratio of means over n pairs has
    /// the standard deviation s/m sqrt(2 (1 - r) / n), where r is their correlation; a 90 %
    /// interval extends 1.699 times that to each side, by Student's t with 29 degrees of freedom.
    #[test]
    fn the_interval_is_as_wide_as_arithmetic_says() {
        let first = values(100.0, 0);
        let second: Vec<Option<f64>> = (0..30).map(|i| first[i * 7 % 30]).collect();
        let found = equivalence(&first, &second, 0.03).unwrap();
        let deviations = |values: &[Option<f64>]| -> Vec<f64> {
            values.iter().map(|value| value.unwrap() - 100.0).collect()
        };
        let (x, y) = (deviations(&first), deviations(&second));
        let variance = x.iter().map(|x| x * x).sum::<f64>() / 29.0;
        let correlation = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / 29.0 / variance;
        let spread = variance.sqrt() / 100.0 * (2.0 * (1.0 - correlation) / 30.0).sqrt();
        let width = found.ci90[1] - found.ci90[0];
        assert!((width / (2.0 * 1.699 * spread) - 1.0).abs() < 0.01, "{width} {spread}");
    }

    #[test]
    fn few_pairs_decide_nothing_and_wrong_values_are_refused() {
        let few = vec![Some(1.0); 5];
        assert_eq!(equivalence(&few, &few, 0.5).unwrap().verdict, EquivalenceVerdict::Undecided);
        let gaps = [Some(1.0), None, Some(1.0)];
        assert_eq!(equivalence(&gaps, &few[..3], 0.5).unwrap().n, 2);
        assert!(equivalence(&[Some(0.0)], &few[..1], 0.5).is_err());
        assert!(equivalence(&[None], &few[..1], 0.5).is_err());
        assert!(equivalence(&few, &gaps, 0.5).is_err());
    }
}
