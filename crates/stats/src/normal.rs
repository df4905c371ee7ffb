//! The standard normal distribution.
//!
//! `libm` computes in software, so results are bit-identical on every machine; the operating
//! system's mathematics library does not guarantee that.

use std::f64::consts::SQRT_2;

use crate::bisection::bisect;

/// The 97.5 % point of the standard normal distribution.
pub const Z_975: f64 = 1.959_963_984_540_054;

/// The probability that a standard normal value is at most `z`.
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// The point below which a standard normal value is with probability `p`, for `p` strictly between
/// 0 and 1. Found by bisection of [`cdf`], so it is as accurate as `erfc`; the 100 steps do not
/// matter, as it is called once per interval.
pub fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        // The lower tail keeps its relative precision; the upper one is its mirror image.
        return -quantile(1.0 - p);
    }
    bisect([-39.0, 0.0], STEPS, |z| cdf(z) >= p)[1]
}

/// Enough to reach neighbouring floating-point numbers.
const STEPS: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.norm.ppf(p)` and the cdf of it, scipy 1.17.1.
    #[test]
    fn quantiles_agree_with_scipy() {
        let table = [
            (1e-10, -6.361340902404056),
            (0.0001, -3.7190164854556804),
            (0.025, -1.9599639845400545),
            (0.3, -0.5244005127080409),
            (0.5, 0.0),
            (0.75, 0.6744897501960817),
            (0.975, 1.959963984540054),
            (0.9999, 3.719016485455709),
        ];
        for (p, z) in table {
            assert!((quantile(p) - z).abs() < 2e-13, "{p}: {} is not {z}", quantile(p));
            assert!((cdf(z) / p - 1.0).abs() < 1e-13, "{z}");
        }
        assert_eq!(cdf(Z_975), 0.975);
    }
}
