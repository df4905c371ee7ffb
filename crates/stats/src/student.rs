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

    /// `scipy.stats.t.sf(t, freedom)`, scipy 1.17.1.
    #[test]
    fn tails_agree_with_scipy() {
        for (freedom, row) in FREEDOMS.into_iter().zip(TAILS) {
            for (t, expected) in [-1.5, 0.3, 2.0, 6.0].into_iter().zip(row) {
                let found = above(t, freedom);
                assert!((found / expected - 1.0).abs() < 1e-9, "{t} {freedom}: {found} {expected}");
            }
        }
    }

    /// `scipy.stats.t.isf(tail, freedom)`.
    #[test]
    fn points_agree_with_scipy() {
        for (freedom, row) in FREEDOMS.into_iter().zip(POINTS) {
            // Above that limit it is the normal distribution's.
            let tolerance = if freedom > NORMAL_FROM { 1e-8 } else { 1e-9 };
            for (tail, expected) in [0.4, 0.025, 0.0005, 1e-06].into_iter().zip(row) {
                let found = upper_point(tail, freedom);
                assert!((found / expected - 1.0).abs() < tolerance, "{tail} {freedom}: {found}");
            }
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

    /// The degrees of freedom of a row.
    const FREEDOMS: [f64; 7] = [1.0, 2.5, 5.0, 29.0, 99.5, 99999.0, 1000000000.0];

    const TAILS: [[f64; 4]; 6] = [
        [0.8128329581890011, 0.4072264209222577, 0.14758361765043326, 0.05256845671125344],
        [0.8760817734568519, 0.39367118574759863, 0.07869574787898295, 0.0076408649427614495],
        [0.9030481598787634, 0.38812452113163726, 0.050969739414929174, 0.0009230691447970072],
        [0.9277881519798071, 0.3831585466644839, 0.027471818591483586, 7.963954213087344e-07],
        [0.9316095708566089, 0.38240150262988426, 0.024112933313489238, 1.604421181792794e-08],
        [0.9331912202227997, 0.3820888895982868, 0.022751481742251223, 9.899647616217656e-10],
    ];

    const POINTS: [[f64; 4]; 7] = [
        [0.32491969623290634, 12.706204736174705, 636.6192487687196, 318309.8861827435],
        [0.2814595127485477, 3.5746548420036834, 18.277893528130647, 220.17342917823686],
        [0.2671808657041451, 2.5705818356363155, 6.86882662588111, 24.771029720515948],
        [0.25568363457125604, 2.045229642132704, 3.659405019466333, 5.917105540459563],
        [0.25402558011844334, 1.984093610990624, 3.3910073945528802, 5.050394126984336],
        [0.2533477771639205, 1.9599877077718448, 3.2906240323849176, 4.753704719195536],
        [0.25334710320320153, 1.9599639869123253, 3.2905267412216257, 4.753424336862212],
    ];
}
