//! Reduces long lines to the points that a figure has room for.

/// Splits the points into `buckets` parts of equal length and keeps the first, last, smallest and
/// largest one of each (Jugel et al., "M4", PVLDB 7, 2014), so that no peak is lost. Keeps all
/// points if there are no more than that. The order is preserved; a non-finite point (a gap) is
/// kept if it is first or last.
pub(crate) fn line(points: &[(f64, f64)], buckets: usize) -> (Vec<f64>, Vec<f64>) {
    let count = points.len();
    if count <= PER_BUCKET * buckets {
        return points.iter().copied().unzip();
    }
    let y = |at: &usize| points[*at].1;
    let mut kept = Vec::with_capacity(PER_BUCKET * buckets);
    for bucket in 0..buckets {
        let (from, until) = (bucket * count / buckets, (bucket + 1) * count / buckets);
        let finite = || (from..until).filter(|at| y(at).is_finite());
        let least = finite().min_by(|a, b| y(a).total_cmp(&y(b)));
        let most = finite().max_by(|a, b| y(a).total_cmp(&y(b)));
        let mut places = vec![from, until - 1];
        places.extend(least.into_iter().chain(most));
        places.sort_unstable();
        places.dedup();
        kept.extend(places);
    }
    kept.into_iter().map(|at| points[at]).unzip()
}

/// Maximum number of points that a bucket keeps.
const PER_BUCKET: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_and_ends_stay_and_nothing_moves() {
        let sine = (0..100_000).map(|x| (f64::from(x), (f64::from(x) / 900.0).sin()));
        let mut points: Vec<(f64, f64)> = sine.collect();
        points[31_337].1 = 50.0;
        points[77_777].1 = -50.0;
        let (thin_x, thin_y) = line(&points, 300);
        assert!(thin_x.len() <= 1_200 && thin_x.len() > 600, "{}", thin_x.len());
        assert!(thin_x.is_sorted());
        assert_eq!((thin_x[0], *thin_x.last().unwrap()), (0.0, 99_999.0));
        assert!(thin_x.contains(&31_337.0) && thin_x.contains(&77_777.0));
        assert!(thin_x.iter().zip(&thin_y).all(|(x, y)| points[*x as usize].1 == *y));
    }

    #[test]
    fn short_lines_stay_as_they_are() {
        let (x, y) = line(&[(1.0, 5.0), (2.0, f64::NAN)], 300);
        assert_eq!(x, [1.0, 2.0]);
        assert!(y[1].is_nan());
    }
}
