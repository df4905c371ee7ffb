//! The confidence interval of a ratio of two means or medians.

use super::MeanRatio;
use super::location::{Center, Sides};
use crate::bisection::bisect;
use crate::pivot::{Pivot, largest};
use crate::sample::quantile_of_sorted;

/// The ratio and its interval: from the estimate outwards, up to where the test of second minus
/// ratio x first rejects. `None` if the interval of the first mean includes zero, since the interval of the
/// ratio is then unbounded, or if one end exceeds any ordinary ratio.
pub(super) fn ratio(sides: &Sides, confidence: f64) -> Option<MeanRatio> {
    let is_apart = match sides.center {
        Center::Mean => {
            Pivot::of_mean(&sides.first, largest(&sides.first)).excludes_zero(confidence)
        }
        // Multiples of values on both sides of zero are in no order.
        Center::Median => sides.first.iter().all(|x| *x > 0.0),
    };
    if !is_apart {
        return None;
    }
    // The quotient of two medians may be one that the test rejects, as it is no median of quotients.
    let value = match sides.center {
        Center::Mean => sides.center_of(&sides.second) / sides.center_of(&sides.first),
        Center::Median => quantile_of_sorted(&sides.each(|x, y| y / x), 0.5),
    };
    if value.abs() > LARGEST {
        return None;
    }
    if sides.location(value, 0.0).varies_not() {
        return Some(MeanRatio { value, interval: [value; 2] });
    }
    let rejected = |ratio: f64| sides.location(ratio, 0.0).excludes_zero(confidence);
    let [low, high] = [-1.0, 1.0].map(|direction| reach(value, direction, rejected));
    Some(MeanRatio { value, interval: [low?, high?] })
}

/// The last ratio from `value` in `direction` that is not rejected.
fn reach(value: f64, direction: f64, rejected: impl Fn(f64) -> bool) -> Option<f64> {
    let mut inside = value;
    let mut step = FIRST_STEP * value.abs().max(FIRST_STEP);
    let mut outside = value + direction * step;
    while !rejected(outside) {
        step *= 2.0;
        (inside, outside) = (outside, value + direction * step);
        if outside.abs() > LARGEST {
            return None;
        }
    }
    Some(bisect([inside, outside], STEPS, rejected)[0])
}

/// A larger ratio only means that the first mean is close to zero.
const LARGEST: f64 = 1e12;

/// The first step of the search, as a share of the ratio.
const FIRST_STEP: f64 = 1e-3;

/// The ends are precise to the step halved this often.
const STEPS: u32 = 40;
