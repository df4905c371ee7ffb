//! The regularised incomplete beta function, the basis of Student's and the binomial distribution.
//!
//! Implemented here because libraries that have it call the platform's logarithm, whose last bit no
//! platform guarantees; with `libm`, results are bit-identical on every machine.

/// The regularised incomplete beta function I_x(a, b), for `a` and `b` above zero and `x` in 0..=1:
/// by its continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22), evaluated
/// with Lentz's method. Small values keep their relative precision.
pub(crate) fn regularized(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side; the other side is its mirror image.
    if x <= (a + 1.0) / (a + b + 2.0) {
        front(x, a, b) * fraction(x, a, b) / a
    } else {
        1.0 - front(1.0 - x, b, a) * fraction(1.0 - x, b, a) / b
    }
}

/// x^a (1 - x)^b / B(a, b).
fn front(x: f64, a: f64, b: f64) -> f64 {
    let beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    libm::exp(a * libm::log(x) + b * libm::log1p(-x) - beta)
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..=STEPS_MAX {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + coefficient * d);
            c = away_from_zero(1.0 + coefficient / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < PRECISION {
            break;
        }
    }
    value
}

/// Keeps Lentz's method from dividing by zero.
const TINY: f64 = 1e-300;

/// Near the precision of a double.
const PRECISION: f64 = 1e-15;

/// The number of steps grows with the root of the larger parameter; this is enough for some hundred
/// millions.
const STEPS_MAX: u32 = 100_000;
