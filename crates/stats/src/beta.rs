//! The regularised incomplete beta function, from which Student's and the binomial distribution are had.
//!
//! Written here, since the libraries that have it call the platform's logarithm, whose last bit is
//! promised by nobody; with `libm`'s, results are the same bits on every machine.

/// The regularised incomplete beta function I_x(a, b), for `a` and `b` above zero and `x` in 0..=1: by
/// its continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22), whose value is
/// found by the method of Lentz. Small values keep their relative precision.
pub(crate) fn regularized(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // On this side the fraction converges fast; the other is its mirror image.
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

/// Keeps the method of Lentz from dividing by zero.
const TINY: f64 = 1e-300;

/// Near the end of what a double can tell.
const PRECISION: f64 = 1e-15;

/// Steps grow with the root of the larger parameter: these are enough for some hundred millions.
const STEPS_MAX: u32 = 100_000;
