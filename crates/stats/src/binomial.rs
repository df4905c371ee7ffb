//! The binomial distribution, for intervals of order statistics.

/// Among `n` values in ascending order, the indexes (from 0) of those that enclose the quantile at
/// `p`: the last one that is above it with probability at most `tail`, and the first one that is
/// below it with at most that probability. `None` if no value satisfies this.
///
/// The number of values below the quantile is binomial with `n` and `p`; value k (from 0) is above
/// the quantile if at most k values are below it.
pub(crate) fn central(n: usize, p: f64, tail: f64) -> (Option<usize>, Option<usize>) {
    let (mut low, mut high) = (None, None);
    // P(at most k) so far.
    let mut cumulated = 0.0;
    let (first, last) = range(n, p);
    for k in first..=last {
        cumulated += mass(n, p, k);
        if cumulated <= tail {
            low = Some(k);
        }
        // At least k + 1 values are below the quantile, including the value at index k.
        if high.is_none() && cumulated >= 1.0 - tail && k < n {
            high = Some(k);
        }
    }
    (low, high)
}

/// The probability of at most `most` of `n`, each with probability `p`.
pub(crate) fn at_most(n: usize, p: f64, most: usize) -> f64 {
    if p <= 0.0 {
        return 1.0;
    }
    let (first, _) = range(n, p);
    (first..=most).map(|k| mass(n, p, k)).sum()
}

/// Entry k: the probability of at most k, for k from 0 to n.
pub(crate) fn cumulated(n: usize, p: f64) -> Vec<f64> {
    running_sum((0..=n).map(|k| mass(n, p, k)).collect())
}

/// The sums of the first values, the last of which is 1.
pub(crate) fn running_sum(mut masses: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0_f64;
    masses.iter_mut().for_each(|mass| {
        sum = (sum + *mass).min(1.0);
        *mass = sum;
    });
    masses
}

/// Contains practically all of the distribution: 12 standard deviations around the mean.
fn range(n: usize, p: f64) -> (usize, usize) {
    let (mean, deviation) = (n as f64 * p, (n as f64 * p * (1.0 - p)).sqrt());
    let reach = 12.0 * deviation + 20.0;
    ((mean - reach).max(0.0) as usize, ((mean + reach) as usize).min(n))
}

fn mass(n: usize, p: f64, k: usize) -> f64 {
    let (whole, part) = (n as f64, k as f64);
    let choose =
        libm::lgamma(whole + 1.0) - libm::lgamma(part + 1.0) - libm::lgamma(whole - part + 1.0);
    libm::exp(choose + part * libm::log(p) + (whole - part) * libm::log1p(-p))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By exact integer arithmetic: n! / (k! (n - k)!) p^k (1 - p)^(n - k).
    #[test]
    fn masses_are_what_exact_arithmetic_says() {
        for (n, p, k, expected) in [
            (10, 0.5, 5, 0.24609375),
            (100, 0.5, 40, 0.010843866711637989),
            (1_000, 0.99, 990, 0.12574021112620629),
            (368, 0.99, 368, 0.99_f64.powi(368)),
        ] {
            let found = mass(n, p, k);
            assert!((found / expected - 1.0).abs() < 1e-9, "{n} {p} {k}: {found}");
        }
    }

    /// By exact sums of these. For the median of 100 values these are the 40th and the 61st, as in
    /// tables of order statistics.
    #[test]
    fn the_places_are_those_of_exact_sums() {
        for (n, p, expected) in [
            (5, 0.5, (None, None)),
            (6, 0.5, (Some(0), Some(5))),
            (10, 0.5, (Some(1), Some(8))),
            (100, 0.5, (Some(39), Some(60))),
            (30, 0.99, (Some(27), None)),
            (71, 0.95, (Some(62), None)),
            (72, 0.95, (Some(63), Some(71))),
            (300, 0.95, (Some(276), Some(292))),
            (367, 0.99, (Some(358), None)),
            (368, 0.99, (Some(359), Some(367))),
        ] {
            assert_eq!(central(n, p, 0.025), expected, "{n} {p}");
        }
    }

    #[test]
    fn the_masses_of_a_range_are_everything() {
        for (n, p) in [(1, 0.5), (30, 0.99), (1_000, 0.95), (100_000, 0.5), (3_000_000, 0.99)] {
            let (first, last) = range(n, p);
            let sum: f64 = (first..=last).map(|k| mass(n, p, k)).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{n} {p}: {sum}");
        }
    }
}
