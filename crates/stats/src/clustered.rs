//! Confidence intervals of quantiles, for values that are grouped in runs and correlated within a
//! run.

use crate::bisection::bisect;
use crate::sample::quantile_of_sorted;
use crate::{Interval, Sample, beta, student};

/// The confidence interval of the quantile at `p` of values from at least two runs, each in
/// ascending order; `pooled` has all values, and `tail` is the probability of error of each end.
///
/// The variation of the share of values below the quantile from run to run determines the effective
/// number of independent values, reduced further because few runs measure it poorly. For this
/// number, not necessarily whole, the ends are those of order statistics: the interval of E. L.
/// Korn and B. I. Graubard ("Confidence intervals for proportions with small expected number of
/// positive counts estimated from survey data", Survey Methodology 24, 1998), converted from shares
/// to quantiles as by R. S. Woodruff ("Confidence intervals for medians and other position
/// measures", J. Amer. Statist. Assoc. 47, 1952). For n independent values in n runs it is the
/// exact interval.
pub(crate) fn interval(runs: &[Vec<f64>], pooled: &Sample, p: f64, tail: f64) -> Interval {
    let independent = independent_values(runs, pooled, p, tail);
    let values = pooled.sorted();
    let scale = values.len() as f64 / independent;
    let low = rank(independent, p, tail).map(|rank| values[(rank * scale) as usize]);
    // By symmetry: the quantile at 1 - p of the mirrored values.
    let from_above = rank(independent, 1.0 - p, tail).map(|rank| (rank * scale) as usize);
    let high = from_above.map(|rank| values[values.len() - 1 - rank]);
    Interval { low, high }
}

/// The effective number of independent values for the quantile at `p`.
pub(crate) fn independent_values(runs: &[Vec<f64>], pooled: &Sample, p: f64, tail: f64) -> f64 {
    let quantile = quantile_of_sorted(pooled.sorted(), p);
    // Values equal to it count half, so that ties within one run show.
    let below = |run: &Vec<f64>| {
        let [less, not_more] =
            [run.partition_point(|x| *x < quantile), run.partition_point(|x| *x <= quantile)];
        (less + not_more) as f64 / 2.0
    };
    let (count, all) = (runs.len() as f64, pooled.len() as f64);
    let share = runs.iter().map(below).sum::<f64>() / all;
    let squares: f64 = runs
        .iter()
        .map(|run| below(run) - share * run.len() as f64)
        .map(|deviation| deviation * deviation)
        .sum();
    let variance = count / (count - 1.0) * squares / (all * all);
    let counted = if variance > 0.0 { (share * (1.0 - share) / variance).min(all) } else { all };
    counted * known_share(all, count, tail)
}

/// What is left of the number of independent values because so few runs show how they vary.
pub(crate) fn known_share(all: f64, runs: f64, tail: f64) -> f64 {
    let [presumed, known] = [all, runs].map(|n| student::upper_point(tail, n - 1.0));
    (presumed / known) * (presumed / known)
}

/// The rank (from 0, not necessarily whole) of the last of `n` independent values that is above the
/// quantile at `p` with probability at most `tail`; `None` if even the first one is more often.
fn rank(n: f64, p: f64, tail: f64) -> Option<f64> {
    // The value at rank k is above the quantile if at most k values are below it.
    let above = |k: f64| beta::regularized(1.0 - p, n - k, k + 1.0);
    if n <= 0.0 || above(0.0) > tail {
        return None;
    }
    Some(bisect([0.0, n], STEPS, |k| above(k) > tail)[0])
}

/// Enough for all digits of a rank.
const STEPS: u32 = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TAIL, binomial};

    /// For whole numbers the ranks are those of exact sums.
    #[test]
    fn ranks_are_those_of_the_binomial_distribution() {
        for n in [6, 10, 72, 100, 300, 368, 1_000, 20_000] {
            for p in [0.05, 0.5, 0.95, 0.99] {
                let (low, high) = binomial::central(n, p, TAIL);
                let found = rank(n as f64, p, TAIL).map(|rank| rank as usize);
                assert_eq!(found, low, "{n} {p}");
                let found = rank(n as f64, 1.0 - p, TAIL).map(|rank| n - 1 - rank as usize);
                assert_eq!(found, high, "{n} {p}");
            }
        }
    }

    /// Thirty runs of a hundred equal values each: the shares are 0 or 1 (a half where the median
    /// lies between), so the variance is 30/29 x (30 x 1/4) x 100^2 / 3000^2 = 1/116, and they
    /// count as 29 values, times (1.9608 / 2.0452)^2.
    #[test]
    fn copies_do_not_count() {
        let runs: Vec<Vec<f64>> = (0..30).map(|k| vec![f64::from(k); 100]).collect();
        let found = independent_values(&runs, &Sample::new(&runs.concat()).unwrap(), 0.5, TAIL);
        assert!((found - 29.0 * (1.96076_f64 / 2.04523).powi(2)).abs() < 1e-2, "{found}");
    }

    /// Identical runs show no differences between runs: their values count as independent, except
    /// for the reduction because there are few runs.
    #[test]
    fn like_runs_count_as_their_values() {
        let runs: Vec<Vec<f64>> = vec![(0..100).map(f64::from).collect(); 20];
        let found = independent_values(&runs, &Sample::new(&runs.concat()).unwrap(), 0.5, TAIL);
        assert!((found - 2_000.0 * (1.96115_f64 / 2.09302).powi(2)).abs() < 0.5, "{found}");
    }
}
