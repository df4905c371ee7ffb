use trackbed_core::{Rng, Seed};

use super::*;
use crate::normal;

fn runs(values: &[Vec<f64>]) -> Runs {
    Runs::new(values.iter().map(Vec::as_slice)).unwrap()
}

/// For the values 1 to 100 in any runs, the quantiles are those of the sample.
#[test]
fn statistics_are_those_of_all_values() {
    let values: Vec<f64> = (1..=100).map(f64::from).collect();
    let split: Vec<Vec<f64>> = values.chunks(7).map(<[f64]>::to_vec).collect();
    let split = runs(&split);
    let of = |statistic| split.estimate(statistic).unwrap().value;
    for p in [0.01, 0.5, 0.95, 0.99, 0.123] {
        let expected = Sample::new(&values).unwrap().quantile(p).unwrap();
        assert_eq!(of(Statistic::Quantile(p)), expected, "{p}");
    }
    assert_eq!((of(Statistic::Min), of(Statistic::Max)), (1.0, 100.0));
    // The last of 15 runs has only the values 99 and 100.
    let means: Vec<f64> = (0..14).map(|k| f64::from(k * 7) + 4.0).chain([99.5]).collect();
    assert!((of(Statistic::Mean) - means.iter().sum::<f64>() / 15.0).abs() < 1e-9);
}

/// The quantile of runs chosen several times is that of their concatenated values.
#[test]
fn chosen_runs_count_as_often_as_they_are_chosen() {
    let mut rng = Seed::of_run(3, 0).stream("runs");
    let values: Vec<Vec<f64>> =
        (1..=6).map(|len| (0..len * 3).map(|_| rng.below(10) as f64).collect()).collect();
    let all = runs(&values);
    for _ in 0..200 {
        let chosen: Vec<usize> = (0..6).map(|_| rng.below(6) as usize).collect();
        let together: Vec<f64> =
            chosen.iter().flat_map(|run| values[*run].iter().copied()).collect();
        let sample = Sample::new(&together).unwrap();
        for p in [0.05, 0.5, 0.77, 0.99] {
            assert_eq!(all.quantile_of(&chosen, p), sample.quantile(p).unwrap(), "{chosen:?} {p}");
        }
    }
}

/// With one value per run the interval is the exact one, between two of the values.
#[test]
fn single_values_have_the_interval_of_order_statistics() {
    let values: Vec<Vec<f64>> = (1..=100).map(|k| vec![f64::from(k)]).collect();
    let median = runs(&values).estimate(Statistic::Quantile(0.5)).unwrap();
    assert_eq!(median.interval, Interval { low: Some(40.0), high: Some(61.0) });
    let tail = runs(&values).estimate(Statistic::Quantile(0.99)).unwrap();
    assert_eq!(tail.interval, Interval { low: Some(97.0), high: None });
    assert_eq!((tail.runs, tail.samples, tail.independent), (100, 100, 100.0));
}

/// Thirty runs of a hundred equal values each count as thirty values: the interval must be about as
/// wide as for thirty, not as narrow as for three thousand.
#[test]
fn values_that_share_their_run_do_not_count_as_independent() {
    let mut rng = Seed::of_run(1, 0).stream("shared");
    let values: Vec<f64> = (0..30).map(|_| rng.normal()).collect();
    let copied: Vec<Vec<f64>> = values.iter().map(|value| vec![*value; 100]).collect();
    let width = |interval: Interval| interval.high.unwrap() - interval.low.unwrap();
    let estimate = runs(&copied).estimate(Statistic::Quantile(0.5)).unwrap();
    assert!((25.0..=30.0).contains(&estimate.independent), "{estimate:?}");
    let found = width(estimate.interval);
    let thirty = width(order_statistics(&Sample::new(&values).unwrap(), 0.5).unwrap());
    assert!((0.6..1.6).contains(&(found / thirty)), "{found}, {thirty}");
    let naive = Sample::new(&copied.concat()).unwrap();
    assert!(found > 2.0 * width(order_statistics(&naive, 0.5).unwrap()));
}

/// Values with a part common to their run: z + e, both standard normal, have the 95th percentile
/// 1.645 sqrt(2). Of 400 intervals from 25 runs of 25 values, about 95 % contain it, with a
/// standard error of 1.1 %; far fewer would if the values counted as independent.
#[test]
fn intervals_of_quantiles_cover_the_truth_about_as_often_as_they_say() {
    let truth = normal::quantile(0.95) * std::f64::consts::SQRT_2;
    let (mut rng, trials) = (Seed::of_run(2, 0).stream("coverage"), 400);
    let (mut covered, mut naive) = (0, 0);
    for _ in 0..trials {
        let values: Vec<Vec<f64>> = (0..25)
            .map(|_| {
                let shared = rng.normal();
                (0..25).map(|_| shared + rng.normal()).collect()
            })
            .collect();
        let inside = |interval: Interval| {
            interval.low.is_none_or(|low| low <= truth)
                && interval.high.is_none_or(|high| truth <= high)
        };
        let all = runs(&values);
        covered += u32::from(inside(all.estimate(Statistic::Quantile(0.95)).unwrap().interval));
        naive += u32::from(inside(order_statistics(&all.pooled, 0.95).unwrap()));
    }
    assert!((368..=396).contains(&covered), "{covered} of {trials}");
    assert!(naive < 300, "{naive} of {trials} as if independent");
}

/// What both cells of a run share cancels: run k adds k to all values, and the second cell has 5
/// less.
#[test]
fn a_difference_is_taken_run_by_run() {
    let run = |number: usize, offset: f64| -> Vec<f64> {
        (0..50).map(|k| number as f64 + f64::from(k) / 50.0 + offset).collect()
    };
    let first: Vec<Vec<f64>> = (0..20).map(|k| run(k, 5.0)).collect();
    let second: Vec<Vec<f64>> = (0..20).map(|k| run(k, 0.0)).collect();
    let mut cells: [Vec<Option<&[f64]>>; 2] =
        [&first, &second].map(|cell| cell.iter().map(|run| Some(run.as_slice())).collect());
    cells[0].push(None);
    cells[1].push(Some(&[1e6]));
    for statistic in [Statistic::Mean, Statistic::Quantile(0.5), Statistic::Quantile(0.95)] {
        let found = scaled_difference(&cells[0], &cells[1], statistic, 1.0).unwrap();
        let ends = [found.interval.low.unwrap(), found.interval.high.unwrap(), found.value];
        assert!(ends.iter().all(|end| (end - 5.0).abs() < 1e-9), "{statistic:?}: {found:?}");
        assert_eq!(found.runs, 20);
    }
    // Half of the other: a mean of about 10, and one that is 5 less.
    let mean = |cell: &[Vec<f64>]| cell.concat().iter().sum::<f64>() / 1_000.0;
    let found = scaled_difference(&cells[0], &cells[1], Statistic::Mean, 0.5).unwrap();
    assert!((found.value - (mean(&first) - 0.5 * mean(&second))).abs() < 1e-9);
}

/// Of 30 runs whose 20 values are nearly equal, only one or two extend beyond the 95th percentile.
/// They do not show what does not cancel between two cells; around the median enough runs do.
#[test]
fn few_runs_in_the_tail_leave_a_difference_open() {
    let mut rng = Seed::of_run(5, 0).stream("tail");
    let cell = |rng: &mut Rng| -> Vec<Vec<f64>> {
        let run = |k: i32| (0..20).map(|_| f64::from(k) + 0.7 * rng.normal()).collect();
        (0..30).map(run).collect()
    };
    let cells = [cell(&mut rng), cell(&mut rng)];
    let [first, second] =
        [0, 1].map(|side| cells[side].iter().map(|run| Some(run.as_slice())).collect::<Vec<_>>());
    let interval =
        |p| scaled_difference(&first, &second, Statistic::Quantile(p), 1.0).unwrap().interval;
    assert_eq!(interval(0.95), Interval { low: None, high: None });
    let median = interval(0.5);
    assert!(median.low.is_some_and(|low| low < 0.0) && median.high.is_some_and(|high| high > 0.0));
}

#[test]
fn one_run_says_nothing_about_runs_and_none_is_refused() {
    let one = runs(&[vec![1.0, 2.0, 3.0]]);
    let open = Interval { low: None, high: None };
    assert_eq!(one.estimate(Statistic::Quantile(0.5)).unwrap().interval, open);
    assert_eq!(Runs::new([]), Err(StatsError::Empty));
    assert_eq!(Runs::new([&[][..]]), Err(StatsError::Empty));
    assert!(Runs::new([&[f64::NAN][..]]).is_err());
    for p in [0.0, 1.0, f64::NAN] {
        assert!(one.estimate(Statistic::Quantile(p)).is_err());
    }
    let cell = [Some(&[1.0][..])];
    assert!(scaled_difference(&cell, &cell, Statistic::Mean, 0.0).is_err());
    assert!(scaled_difference(&cell, &[], Statistic::Mean, 1.0).is_err());
    assert!(scaled_difference(&cell, &[None], Statistic::Mean, 1.0).is_err());
}

#[test]
fn it_takes_368_values_to_bound_the_99th_percentile() {
    assert_eq!([0.5, 0.95, 0.99].map(|p| samples_to_bound(p, TAIL).unwrap()), [6, 72, 368]);
    assert_eq!(samples_to_bound(0.05, TAIL).unwrap(), 72);
}

/// 540 equal-shaped samples in 6 runs count as 540 x (1.9643 / 2.5706)^2 = 315, in 7 runs of 90 as 630 x
/// (1.9637 / 2.4469)^2 = 405. With one sample a run it takes 368 runs.
#[test]
fn runs_that_bound_a_quantile_are_counted_exactly() {
    let cell = vec![(0..90).map(f64::from).collect::<Vec<_>>(); 6];
    let found = runs(&cell).estimate(Statistic::Quantile(0.99)).unwrap();
    assert_eq!((found.independent as u64, found.interval.high), (315, None));
    assert_eq!(found.runs_to_bound(0.99), Ok(7));
    let seven = runs(&vec![cell[0].clone(); 7]).estimate(Statistic::Quantile(0.99)).unwrap();
    assert!(seven.interval.high.is_some());
    let single: Vec<Vec<f64>> = (0..20).map(|k| vec![f64::from(k)]).collect();
    let found = runs(&single).estimate(Statistic::Quantile(0.99)).unwrap();
    assert_eq!(found.runs_to_bound(0.99), Ok(368));
}

/// Of 40 values 95 % are below 0.94, so 0.9 x 0.1 x (1.96 / 0.05)^2 = 138 tell the 90 % quantile from it. The exact
/// interval, which shrinks in steps, begins to end below it between 110 and 155 values.
#[test]
fn runs_that_tell_a_quantile_from_a_bound_are_those_of_order_statistics() {
    let of = |n: u32| runs(&(0..n).map(|k| vec![f64::from(k) / f64::from(n)]).collect::<Vec<_>>());
    let found = of(40).estimate(Statistic::Quantile(0.9)).unwrap();
    let needed = found.runs_to_exclude(0.9, of(40).share_below(0.94));
    assert!((137.0..140.0).contains(&needed), "{needed}");
    let end = |n| of(n).estimate(Statistic::Quantile(0.9)).unwrap().interval.high;
    let excludes = |n: &u32| end(*n).is_some_and(|high| high < 0.95);
    assert!((40..110).filter(excludes).count() == 0 && (155..200).all(|n| excludes(&n)));
}
