//! Bisection, the search behind quantiles and the ends of intervals.

/// Halves the span between `ends` this often and returns the last two ends; `is_beyond` is false at the
/// first one and true at the second.
pub(crate) fn bisect(ends: [f64; 2], steps: u32, is_beyond: impl Fn(f64) -> bool) -> [f64; 2] {
    (0..steps).fold(ends, |[within, beyond], _| {
        let middle = 0.5 * (within + beyond);
        if is_beyond(middle) { [within, middle] } else { [middle, beyond] }
    })
}
