//! Distribution functions with as many points as a figure can show.

/// The empirical distribution function of a cell's samples: each point has the share of all samples
/// that are at most its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Distribution {
    /// Values in ascending order.
    pub values: Vec<f64>,
    /// The share of samples up to each value.
    pub shares: Vec<f64>,
    /// Number of samples.
    pub samples: usize,
}

impl Distribution {
    /// Builds the function from `samples` (any order) with at most `points` points, but never fewer
    /// than the minimum. Points are left out, never moved: each lies exactly on the full function.
    /// The remaining ones are evenly spaced, denser at both tails, and include the tables'
    /// quantiles. `None` without finite samples.
    pub fn of(mut samples: Vec<f64>, points: usize) -> Option<Distribution> {
        samples.retain(|value| value.is_finite());
        samples.sort_unstable_by(f64::total_cmp);
        let count = samples.len();
        let steps = steps(&samples);
        let kept: Vec<usize> = match steps.len() <= points.max(TAILS.len() + 2) {
            true => (0..steps.len()).collect(),
            false => chosen(&steps, count, points),
        };
        let of_count = |position: usize| position as f64 / count as f64;
        (count > 0).then(|| Distribution {
            values: kept.iter().map(|step| steps[*step].0).collect(),
            shares: kept.iter().map(|step| of_count(steps[*step].1)).collect(),
            samples: count,
        })
    }
}

/// The distinct values, each with the number of samples up to it.
fn steps(sorted: &[f64]) -> Vec<(f64, usize)> {
    let mut steps: Vec<(f64, usize)> = Vec::new();
    for (index, value) in sorted.iter().enumerate() {
        match steps.last_mut() {
            Some(last) if last.0 == *value => last.1 = index + 1,
            _ => steps.push((*value, index + 1)),
        }
    }
    steps
}

/// The steps at which the function reaches evenly spaced shares and those of [`TAILS`], and both
/// ends.
fn chosen(steps: &[(f64, usize)], count: usize, points: usize) -> Vec<usize> {
    let even = points.saturating_sub(TAILS.len() + 2);
    let shares = (1..=even).map(|place| place as f64 / (even + 1) as f64).chain(TAILS);
    let reaches =
        |share: f64| steps.partition_point(|(_, up_to)| *up_to as f64 / (count as f64) < share);
    let mut kept: Vec<usize> = shares.map(reaches).collect();
    kept.extend([0, steps.len() - 1]);
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Shares that are always included if there are enough samples: averages hide the tails.
const TAILS: [f64; 17] = [
    0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999,
    0.9995, 0.9999,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Values with ties and a long tail, from a linear congruential generator (Numerical Recipes).
    fn samples(count: usize) -> Vec<f64> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24)
        };
        (0..count).map(|_| (1.0 / (1.0 - next())).powi(2)).map(|v| (v * 50.0).round()).collect()
    }

    #[test]
    fn every_point_that_stays_is_exact() {
        let all = samples(25_000);
        let thinned = Distribution::of(all.clone(), 120).unwrap();
        assert!(thinned.values.len() <= 120, "{}", thinned.values.len());
        assert_eq!(thinned.samples, 25_000);
        for (value, share) in thinned.values.iter().zip(&thinned.shares) {
            let up_to = all.iter().filter(|sample| **sample <= *value).count();
            assert_eq!(*share, up_to as f64 / 25_000.0);
        }
        let maximum = all.iter().copied().fold(f64::MIN, f64::max);
        assert_eq!(
            (*thinned.values.last().unwrap(), *thinned.shares.last().unwrap()),
            (maximum, 1.0)
        );
    }

    /// A quantile read off the thinned function is the order statistic of all samples.
    #[test]
    fn quantiles_are_those_of_all_samples() {
        let mut all = samples(10_007);
        let thinned = Distribution::of(all.clone(), 60).unwrap();
        all.sort_by(f64::total_cmp);
        for share in TAILS {
            let rank = (share * 10_007.0).ceil() as usize;
            let at = thinned.shares.iter().position(|reached| *reached >= share).unwrap();
            assert_eq!(thinned.values[at], all[rank - 1], "{share}");
        }
    }

    #[test]
    fn few_samples_are_all_there_and_none_are_no_function() {
        let few = Distribution::of(vec![3.0, 1.0, 3.0, 2.0, f64::NAN], 24).unwrap();
        assert_eq!(few.values, [1.0, 2.0, 3.0]);
        assert_eq!(few.shares, [0.25, 0.5, 1.0]);
        assert_eq!(few.samples, 4);
        assert_eq!(Distribution::of(Vec::new(), 24), None);
        assert_eq!(Distribution::of(vec![f64::INFINITY], 24), None);
    }
}
