//! Data and comparisons for tests.

/// Hours between failures of an air conditioner: A. C. Davison and D. V. Hinkley, "Bootstrap
/// Methods and their Application", 1997, example 1.1.
pub(crate) const AIR_CONDITIONING: [f64; 12] =
    [3.0, 5.0, 7.0, 18.0, 43.0, 85.0, 91.0, 98.0, 100.0, 130.0, 230.0, 487.0];

/// Samples at the limits of floating point.
pub(crate) const EXTREMES: [&[f64]; 6] = [
    &[-1e90, 1e90],
    &[1e-300, 2e-300, 5e-300],
    &[5e-324, 0.0, 1.0],
    &[1e90, 1e90, 1e-90],
    &[1.0, 1.0 + f64::EPSILON],
    &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e90],
];

pub(crate) fn all(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

pub(crate) fn assert_near(found: [f64; 2], reference: [f64; 2], tolerance: f64) {
    for (found, reference) in found.into_iter().zip(reference) {
        assert!((found - reference).abs() <= tolerance, "{found} is not {reference}");
    }
}
