//! Curves with as many points as a chart can show.

/// At most this number of points; keeps the largest of each part, since peaks matter.
pub(super) fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let each = points.len().div_ceil(POINTS_MAX).max(1);
    let largest = |part: &[(f64, f64)]| part.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(each).filter_map(largest).collect()
}

pub(super) const POINTS_MAX: usize = 400;
