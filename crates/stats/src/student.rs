//! Student's t distribution.

use crate::bisection::bisect;
use crate::{beta, normal};

/// The probability that a value of Student's distribution with `freedom` degrees of freedom (above
/// zero, not necessarily whole) is above `t`. Small probabilities keep their relative precision.
pub(crate) fn above(t: f64, freedom: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - above(-t, freedom);
    }
    if freedom > NORMAL_FROM {
        return normal::cdf(-t);
    }
    0.5 * beta::regularized(freedom / (freedom + t * t), 0.5 * freedom, 0.5)
}

/// The point above which a value of Student's distribution is with probability `tail`, for `tail`
/// strictly between 0 and 0.5: by bisection of [`above`].
pub(crate) fn upper_point(tail: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while above(high, freedom) > tail && high < LARGEST {
        (low, high) = (high, 2.0 * high);
    }
    bisect([low, high], STEPS, |t| above(t, freedom) <= tail)[1]
}

/// From this value on, the difference from the normal distribution is below 1e-8.
const NORMAL_FROM: f64 = 1e8;

const LARGEST: f64 = 1e150;

/// Enough to reach neighbouring floating-point numbers.
const STEPS: u32 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of `student.txt`, by the degrees of freedom in its first one: `scipy.stats.t.sf(t, freedom)`,
    /// and `scipy.stats.t.isf(tail, freedom)`, scipy 1.17.1.
    fn column(number: usize, at: [f64; 4]) -> impl Iterator<Item = (f64, f64, f64)> {
        include_str!("student.txt").lines().flat_map(move |line| {
            let mut columns = line.split('|').map(|part| part.split_whitespace().map(str::parse));
            let freedom = columns.next().unwrap().next().unwrap().unwrap();
            let values = columns.nth(number).unwrap().map(Result::unwrap);
            at.into_iter().zip(values).map(move |(at, value)| (freedom, at, value))
        })
    }

    #[test]
    fn tails_agree_with_scipy() {
        for (freedom, t, expected) in column(0, [-1.5, 0.3, 2.0, 6.0]) {
            let found = above(t, freedom);
            assert!((found / expected - 1.0).abs() < 1e-9, "{t} {freedom}: {found} {expected}");
        }
    }

    #[test]
    fn points_agree_with_scipy() {
        for (freedom, tail, expected) in column(1, [0.4, 0.025, 0.0005, 1e-06]) {
            // Above that limit it is the normal distribution's.
            let tolerance = if freedom > NORMAL_FROM { 1e-8 } else { 1e-9 };
            let found = upper_point(tail, freedom);
            assert!((found / expected - 1.0).abs() < tolerance, "{tail} {freedom}: {found}");
        }
    }

    /// With one degree of freedom it is the Cauchy distribution, with two it is algebraic.
    #[test]
    fn closed_forms_hold() {
        for t in [0.1, 1.0, 12.7, 1e3] {
            let cauchy = 0.5 - libm::atan(t) / std::f64::consts::PI;
            assert!((above(t, 1.0) - cauchy).abs() < 1e-14, "{t}");
            let two = 0.5 * (1.0 - t / (2.0 + t * t).sqrt());
            assert!((above(t, 2.0) - two).abs() < 1e-14, "{t}");
        }
        assert_eq!(above(0.0, 7.0), 0.5);
    }
}
