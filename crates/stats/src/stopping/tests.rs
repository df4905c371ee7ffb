use super::*;

fn mean_within(precision: Precision) -> Criterion {
    Criterion { statistic: Statistic::Mean, precision }
}

fn each(values: &[f64]) -> Vec<Option<&[f64]>> {
    values.chunks(1).map(Some).collect()
}

/// The schedule by hand: a quarter more each time, rounded up, and the limit at the end.
#[test]
fn looks_grow_by_a_quarter_to_the_limit() {
    let looks = Looks::new(30, 100).unwrap();
    assert_eq!(looks.counts().collect::<Vec<_>>(), [30, 38, 48, 60, 75, 94, 100]);
    assert_eq!(Looks::new(6, 11).unwrap().counts().collect::<Vec<_>>(), [6, 8, 10, 11]);
    assert_eq!(Looks::new(30, 30).unwrap().counts().collect::<Vec<_>>(), [30]);
    assert_eq!(
        [0, 29, 30, 94, 99, 100, 1_000].map(|runs| looks.after(runs)),
        [Some(30), Some(30), Some(38), Some(100), Some(100), None, None]
    );
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
    let runs = each(&values);
    for (precision, decision) in [
        (Precision::Absolute(3.9), Decision::Reached { runs: 30 }),
        (Precision::Absolute(3.7), Decision::Reached { runs: 38 }),
        (Precision::Relative(0.03), Decision::Reached { runs: 48 }),
        (Precision::Relative(0.001), Decision::Exhausted { runs: 100 }),
    ] {
        let mut stopping = Stopping::new(Looks::new(30, 100).unwrap());
        assert_eq!(stopping.decide(&[(mean_within(precision), &runs)]), Ok(decision));
    }
    let mut stopping = Stopping::new(Looks::new(30, 100).unwrap());
    let criterion = mean_within(Precision::Absolute(3.7));
    let mut ask = |runs: &[Option<&[f64]>]| stopping.decide(&[(criterion, runs)]).unwrap();
    assert_eq!(ask(&[]), Decision::Continue { until: 30 });
    assert_eq!(ask(&runs[..29]), Decision::Continue { until: 30 });
    assert_eq!(ask(&runs[..30]), Decision::Continue { until: 38 });
    assert_eq!(ask(&runs[..37]), Decision::Continue { until: 38 });
    assert_eq!(ask(&runs[..90]), Decision::Reached { runs: 38 });
    assert_eq!(ask(&runs[..90]), Decision::Reached { runs: 38 });
}

/// The answer does not depend on the batches in which runs become complete.
#[test]
fn when_one_asks_does_not_matter() {
    let mut rng = trackbed_core::Seed::of_run(3, 0).stream("stopping");
    for _ in 0..50 {
        let values: Vec<f64> = (0..400).map(|_| rng.exponential()).collect();
        let runs = each(&values);
        let criterion = mean_within(Precision::Relative(0.15));
        let looks = Looks::new(10, 400).unwrap();
        let mut patient = Stopping::new(looks);
        let expected = patient.decide(&[(criterion, &runs)]).unwrap();
        let (mut complete, mut eager) = (0, Stopping::new(looks));
        let found = loop {
            complete = (complete + 1 + rng.below(40) as usize).min(runs.len());
            match eager.decide(&[(criterion, &runs[..complete])]).unwrap() {
                Decision::Continue { until } => assert!(until > complete),
                decision => break decision,
            }
        };
        assert_eq!(found, expected);
    }
}

#[test]
fn all_criteria_must_be_met_at_once() {
    let steady = vec![5.0; 100];
    let values: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 90.0 } else { 110.0 }).collect();
    let (steady, runs) = (each(&steady), each(&values));
    let mut stopping = Stopping::new(Looks::new(30, 100).unwrap());
    let relative = mean_within(Precision::Relative(0.03));
    let both = stopping.decide(&[(relative, &steady), (relative, &runs)]).unwrap();
    assert_eq!(both, Decision::Reached { runs: 48 });
    let mut stopping = Stopping::new(Looks::new(30, 100).unwrap());
    assert_eq!(stopping.decide(&[(relative, &steady)]), Ok(Decision::Reached { runs: 30 }));
    assert_eq!(stopping.decide(&[]), Ok(Decision::Reached { runs: 30 }));
    let mismatch = stopping.decide(&[(relative, &steady), (relative, &runs[..99])]);
    assert_eq!(mismatch, Err(StatsError::LengthMismatch { first: 100, second: 99 }));
}

/// The 99th percentile of single values has an upper end from 368 on, so no earlier look can be
/// enough.
#[test]
fn an_open_interval_is_never_narrow_enough() {
    let values: Vec<f64> = (0..2_000).map(|i| f64::from(i * 7_919 % 2_000)).collect();
    let quantile =
        |p| Criterion { statistic: Statistic::Quantile(p), precision: Precision::Relative(0.5) };
    let mut stopping = Stopping::new(Looks::new(30, 2_000).unwrap());
    let found = stopping.decide(&[(quantile(0.99), &each(&values))]).unwrap();
    assert!(matches!(found, Decision::Reached { runs } if runs >= 368), "{found:?}");
    let mut stopping = Stopping::new(Looks::new(30, 2_000).unwrap());
    let found = stopping.decide(&[(quantile(0.5), &each(&values))]).unwrap();
    assert!(matches!(found, Decision::Reached { runs } if runs < 100), "{found:?}");
}

#[test]
fn failed_runs_and_zeros_are_never_enough() {
    let looks = Looks::new(30, 60).unwrap();
    let value = [7.0];
    let mut failed: Vec<Option<&[f64]>> = vec![None; 60];
    failed[3] = Some(&value);
    let criterion = mean_within(Precision::Relative(0.05));
    let exhausted = Ok(Decision::Exhausted { runs: 60 });
    assert_eq!(Stopping::new(looks).decide(&[(criterion, &failed)]), exhausted);
    assert_eq!(Stopping::new(looks).decide(&[(criterion, &vec![None; 60])]), exhausted);
    let around: Vec<f64> = (0..60).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 }).collect();
    assert_eq!(Stopping::new(looks).decide(&[(criterion, &each(&around))]), exhausted);
    // Only zeros: perfect precision.
    let zeros = [0.0; 60];
    let reached = Ok(Decision::Reached { runs: 30 });
    assert_eq!(Stopping::new(looks).decide(&[(criterion, &each(&zeros))]), reached);
}

#[test]
fn bad_targets_are_refused_before_any_look() {
    let looks = Looks::new(30, 60).unwrap();
    for target in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for precision in [Precision::Relative(target), Precision::Absolute(target)] {
            let found = Stopping::new(looks).decide(&[(mean_within(precision), &[])]);
            assert!(matches!(found, Err(StatsError::BadTarget(_))), "{found:?}");
        }
    }
    let bad = [f64::NAN; 30];
    let criterion = mean_within(Precision::Relative(0.1));
    assert!(Stopping::new(looks).decide(&[(criterion, &each(&bad))]).is_err());
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
        let mut stopping = Stopping::new(Looks::new(30, 2_000).unwrap());
        let decision = stopping.decide(&[(criterion, &each(&values))]).unwrap();
        let Decision::Reached { runs } = decision else { panic!("{decision:?}") };
        assert!((200..1_000).contains(&runs), "{runs}");
        let sample = crate::Sample::new(&values[..runs]).unwrap();
        let [low, high] = crate::mean_interval(&sample, 0.95).unwrap();
        sum += sample.mean();
        covered += u32::from(low <= 1.0 && 1.0 <= high);
    }
    assert!((sum / 300.0 - 1.0).abs() < 0.01, "{}", sum / 300.0);
    assert!((272..=297).contains(&covered), "{covered}");
}
