use super::*;
use crate::testing::{AIR_CONDITIONING, EXTREMES, assert_near};

fn sample(values: &[f64]) -> Sample {
    Sample::new(values).unwrap()
}

/// `scipy.stats.bootstrap((d,), np.mean, n_resamples=1_000_000, method="BCa", rng=1)`, scipy
/// 1.17.1, up to a few percent. The plain percentile interval would be 45.1 to 193.8.
#[test]
fn the_interval_of_a_skewed_mean_agrees_with_scipy() {
    let values = sample(&AIR_CONDITIONING);
    assert_near(Bootstrap::default().ci95(&values, mean).unwrap(), [56.917, 226.417], 6.0);
    let precise = Bootstrap::default().with_resamples(200_000);
    assert_near(precise.ci95(&values, mean).unwrap(), [56.917, 226.417], 1.5);
}

/// The same call with `lambda x, axis: np.std(x, axis=axis, ddof=1)` and with `np.median`.
#[test]
fn the_interval_of_any_statistic_agrees_with_scipy() {
    let precise = Bootstrap::default().with_resamples(100_000);
    let deviation = |values: &[f64]| sample(values).standard_deviation();
    let found = precise.ci95(&sample(&AIR_CONDITIONING), deviation).unwrap();
    assert_near(found, [57.961, 230.283], 3.0);

    let values = [1.2, 1.9, 2.3, 2.8, 3.1, 4.7, 5.5, 6.1, 9.9, 12.5, 14.2];
    let median = |values: &[f64]| sample(values).quantile(0.5).unwrap();
    assert_eq!(precise.ci95(&sample(&values), median).unwrap(), [2.3, 9.9]);
}

/// For symmetric values the interval is the normal one: mean ± 1.96 σ/√n with the σ of the sample
/// itself (divisor n), here 1..=100.
#[test]
fn the_interval_of_many_symmetric_values_is_the_normal_one() {
    let values: Vec<f64> = (1..=100).map(f64::from).collect();
    let half = 1.96 * ((100.0_f64.powi(2) - 1.0) / 12.0).sqrt() / 10.0;
    let found = Bootstrap::default().ci95(&sample(&values), mean).unwrap();
    assert_near(found, [50.5 - half, 50.5 + half], 0.25);
}

#[test]
fn degenerate_samples_have_the_documented_intervals() {
    let bootstrap = Bootstrap::default();
    assert_eq!(bootstrap.ci95(&sample(&[0.5; 7]), mean), Ok([0.5; 2]));
    assert_eq!(bootstrap.ci95(&sample(&[4.2]), mean), Ok([4.2; 2]));
    assert_eq!(bootstrap.ci95(&sample(&AIR_CONDITIONING), |_| 1.0), Ok([1.0; 2]));

    // scipy, as above, for 29 zeros and a one: 0 to 5/30.
    let mut values = vec![0.0; 29];
    values.push(1.0);
    assert_near(bootstrap.ci95(&sample(&values), mean).unwrap(), [0.0, 5.0 / 30.0], 1e-12);
}

#[test]
fn extreme_values_leave_the_interval_finite_and_within_the_sample() {
    for values in EXTREMES {
        let sample = sample(values);
        let ends = Bootstrap::default().ci95(&sample, mean).unwrap();
        assert!(ends[0] <= ends[1], "{ends:?}");
        assert!(sample.min() <= ends[0] && ends[1] <= sample.max(), "{ends:?}");
    }
}

/// A statistic whose replicates are all on one side of the estimate.
#[test]
fn a_one_sided_statistic_has_a_finite_interval() {
    let largest = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
    let ends = Bootstrap::default().ci95(&sample(&AIR_CONDITIONING), largest).unwrap();
    assert!(130.0 <= ends[0] && ends[1] == 487.0, "{ends:?}");
}

#[test]
fn a_statistic_out_of_range_is_an_error() {
    let result = Bootstrap::default()
        .ci95(&sample(&[1.0, 2.0]), |values| if values.len() == 1 { f64::NAN } else { 1.0 });
    assert!(matches!(result, Err(StatsError::StatisticOutOfRange(value)) if value.is_nan()));
    let result = Bootstrap::default().ci95(&sample(&[1.0, 2.0]), |_| 1e200);
    assert_eq!(result, Err(StatsError::StatisticOutOfRange(1e200)));
}

#[test]
fn the_order_does_not_matter() {
    let mut reversed = AIR_CONDITIONING;
    reversed.reverse();
    let ends = Bootstrap::default().ci95(&sample(&AIR_CONDITIONING), mean);
    assert_eq!(Bootstrap::default().ci95(&sample(&reversed), mean), ends);
}

/// Work is bounded for large samples.
#[test]
fn a_large_sample_draws_fewer_resamples() {
    let bootstrap = Bootstrap::default();
    assert_eq!(bootstrap.replicate(&[0.0; 30], mean).len(), DEFAULT_RESAMPLES);
    assert_eq!(bootstrap.replicate(&[0.0; 20_000], mean).len(), MIN_RESAMPLES);
}
