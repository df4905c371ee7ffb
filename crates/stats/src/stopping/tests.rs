use super::*;

fn mean_within(precision: Precision) -> Criterion {
    Criterion { statistic: Statistic::Mean, precision }
}

/// The runs of the first look that is precise enough.
fn stop(criterion: Criterion, [min, max]: [usize; 2], values: &[f64]) -> Option<usize> {
    let looks = Looks::new(min, max).unwrap();
    looks.counts().find(|count| criterion.is_met(values[..*count].chunks(1)).unwrap())
}

/// The schedule by hand: a quarter more each time, rounded up, and the limit at the end.
#[test]
fn looks_grow_by_a_quarter_to_the_limit() {
    let looks = Looks::new(30, 100).unwrap();
    assert_eq!(looks.counts().collect::<Vec<_>>(), [30, 38, 48, 60, 75, 94, 100]);
    assert_eq!(Looks::new(6, 11).unwrap().counts().collect::<Vec<_>>(), [6, 8, 10, 11]);
    assert_eq!(Looks::new(30, 30).unwrap().counts().collect::<Vec<_>>(), [30]);
    let halves = Looks::new(12, 50).unwrap().by_halves();
    assert_eq!(halves.counts().collect::<Vec<_>>(), [12, 18, 27, 41, 50]);
    assert!(Looks::new(30, usize::MAX).unwrap().counts().count() < 200);
    for (runs_min, runs_max) in [(5, 100), (0, 0), (30, 29)] {
        let error = Looks::new(runs_min, runs_max).unwrap_err();
        assert_eq!(error, StatsError::BadSchedule { runs_min, runs_max });
    }
}

/// Values 90 and 110 alternating: s is 10 √(n / (n - 1)), and the half-width Student's t times s /
/// √n: at 30 runs 3.80, at 38 3.33, at 48 2.93.
#[test]
fn a_cell_stops_at_the_first_look_that_is_precise_enough() {
    let values: Vec<f64> = (0..200).map(|i| if i % 2 == 0 { 90.0 } else { 110.0 }).collect();
    for (precision, runs) in [
        (Precision::Absolute(3.9), Some(30)),
        (Precision::Absolute(3.7), Some(38)),
        (Precision::Relative(0.03), Some(48)),
        (Precision::Relative(0.001), None),
    ] {
        assert_eq!(stop(mean_within(precision), [30, 100], &values), runs);
    }
}

/// The 99th percentile of single values has an upper end from 368 on, so no earlier look can be
/// enough.
#[test]
fn an_open_interval_is_never_narrow_enough() {
    let values: Vec<f64> = (0..2_000).map(|i| f64::from(i * 7_919 % 2_000)).collect();
    let quantile =
        |p| Criterion { statistic: Statistic::Quantile(p), precision: Precision::Relative(0.5) };
    assert!(stop(quantile(0.99), [30, 2_000], &values).is_some_and(|runs| runs >= 368));
    assert!(stop(quantile(0.5), [30, 2_000], &values).is_some_and(|runs| runs < 100));
}

#[test]
fn few_runs_and_means_of_zero_are_never_enough() {
    let criterion = mean_within(Precision::Relative(0.05));
    assert_eq!(criterion.is_met([&[7.0][..]; 5]), Ok(false));
    assert_eq!(criterion.is_met([&[7.0][..]; 6]), Ok(true));
    assert_eq!(criterion.is_met([]), Ok(false));
    let around: Vec<f64> = (0..60).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 }).collect();
    assert_eq!(stop(criterion, [30, 60], &around), None);
    // Only zeros: perfect precision.
    assert_eq!(stop(criterion, [30, 60], &[0.0; 60]), Some(30));
    assert!(criterion.is_met([&[f64::NAN][..]; 6]).is_err());
    for target in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for precision in [Precision::Relative(target), Precision::Absolute(target)] {
            let found = mean_within(precision).is_met([]);
            assert!(matches!(found, Err(StatsError::BadTarget(_))), "{found:?}");
        }
    }
}

/// The cost of stopping, for skewed values and a target of 10 %: exponential ones need (1.96 /
/// 0.1)^2 = 384 runs at least. The mean at the stop is biased by less than 1 %, and about 95 % of
/// the intervals contain the true value (300 trials: a standard error of 1.3 %).
#[test]
fn means_at_the_stop_are_hardly_biased() {
    let mut rng = trackbed_core::Seed::of_run(1, 0).stream("stopping");
    let criterion = mean_within(Precision::Relative(0.1));
    let (mut sum, mut covered) = (0.0, 0);
    for _ in 0..300 {
        let values: Vec<f64> = (0..2_000).map(|_| rng.exponential()).collect();
        let runs = stop(criterion, [30, 2_000], &values).unwrap();
        assert!((200..1_000).contains(&runs), "{runs}");
        let sample = crate::Sample::new(&values[..runs]).unwrap();
        let [low, high] = crate::mean_interval(&sample, 0.95).unwrap();
        sum += sample.mean();
        covered += u32::from(low <= 1.0 && 1.0 <= high);
    }
    assert!((sum / 300.0 - 1.0).abs() < 0.01, "{}", sum / 300.0);
    assert!((272..=297).contains(&covered), "{covered}");
}
