//! How the samples of a cell are distributed, in few enough points for a page.

use std::collections::BTreeMap;

use trackbed_measure::results::RunResult;

/// The steps of an empirical distribution function: each value with the share of samples up to it.
pub(super) type Steps = Vec<(f64, f64)>;

/// The distributions of `metrics` over all samples of `runs`.
pub(super) fn of_runs<'a>(
    runs: impl Iterator<Item = &'a RunResult>,
    metrics: &[&'static str],
) -> BTreeMap<&'static str, Steps> {
    let mut pooled: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    for samples in runs.filter_map(|run| run.outcome.samples()) {
        for metric in metrics {
            if let Some(values) = samples.get(*metric) {
                pooled.entry(metric).or_default().extend(values);
            }
        }
    }
    pooled.into_iter().map(|(metric, values)| (metric, steps(values))).collect()
}

/// All steps if they are few; of many the smallest and the largest value, and those between at which
/// another part of the samples is reached, so that no share is off by more than one part.
fn steps(mut values: Vec<f64>) -> Steps {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len();
    let share = |upto: usize| upto as f64 / count as f64;
    let mut steps: Steps = Vec::new();
    let mut last_part = None;
    for (index, value) in values.iter().enumerate() {
        // Of equal values the last one has the share of all.
        if values.get(index + 1) == Some(value) {
            continue;
        }
        let part = (index + 1) * PARTS / count;
        let is_end = steps.is_empty() || index + 1 == count;
        if is_end || last_part != Some(part) {
            steps.push((*value, share(index + 1)));
            last_part = Some(part);
        }
    }
    steps
}

/// A curve on a screen has no more places.
const PARTS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_are_all_shown() {
        assert_eq!(steps(vec![3.0, 1.0, 3.0, 2.0]), [(1.0, 0.25), (2.0, 0.5), (3.0, 1.0)]);
        assert_eq!(steps(vec![7.0; 9]), [(7.0, 1.0)]);
        assert!(steps(vec![f64::NAN]).is_empty());
    }

    /// Against counting: the share of samples up to each value that is shown.
    #[test]
    fn many_are_thinned_and_no_share_is_wrong() {
        let values: Vec<f64> = (0..10_007).map(|k| f64::from(k * k % 7_919).powf(1.5)).collect();
        let thinned = steps(values.clone());
        assert!(thinned.len() <= PARTS + 2, "{}", thinned.len());
        for (value, share) in &thinned {
            let counted = values.iter().filter(|other| *other <= value).count();
            assert_eq!(*share, counted as f64 / values.len() as f64);
        }
        for pair in thinned.windows(2) {
            assert!(
                pair[0].0 < pair[1].0 && pair[1].1 - pair[0].1 < 2.5 / PARTS as f64,
                "{pair:?}"
            );
        }
        let largest = values.iter().copied().fold(0.0, f64::max);
        assert_eq!(thinned.last(), Some(&(largest, 1.0)));
    }
}
