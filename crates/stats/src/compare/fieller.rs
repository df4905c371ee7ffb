//! Which ratios of two means the data leave possible.

use super::{MeanRatio, Sides};
use crate::pivot::{Pivot, largest};
use crate::sample::mean;

/// The ratio of means and its interval: from the estimate outwards, up to where the test of (second -
/// ratio x first) rejects. `None` where the interval of the first mean holds zero, since the ratios that
/// are left possible then have no end, or where one end is beyond any ratio of ordinary size.
pub(super) fn ratio(sides: &Sides, confidence: f64) -> Option<MeanRatio> {
    if !Pivot::of_mean(&sides.first, largest(&sides.first)).excludes_zero(confidence) {
        return None;
    }
    let value = mean(&sides.second) / mean(&sides.first);
    if value.abs() > LARGEST {
        return None;
    }
    if sides.pivot(value, 0.0).varies_not() {
        return Some(MeanRatio { value, interval: [value; 2] });
    }
    let rejected = |ratio: f64| sides.pivot(ratio, 0.0).excludes_zero(confidence);
    let [low, high] = [-1.0, 1.0].map(|direction| reach(value, direction, rejected));
    Some(MeanRatio { value, interval: [low?, high?] })
}

/// The last ratio from `value` on in `direction` that is not rejected.
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
    for _ in 0..STEPS {
        let middle = 0.5 * (inside + outside);
        match rejected(middle) {
            true => outside = middle,
            false => inside = middle,
        }
    }
    Some(inside)
}

/// A ratio beyond this says no more than that the first mean is next to nothing.
const LARGEST: f64 = 1e12;

/// Where the search begins, as a share of the ratio.
const FIRST_STEP: f64 = 1e-3;

/// The ends are this many halvings of the step precise.
const STEPS: u32 = 40;
