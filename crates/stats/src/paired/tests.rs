use super::*;
use crate::testing::{all, assert_near};
use ComparisonVerdict::{Equal, Higher, Lower, Undecided};

const FIRST: [f64; 12] =
    [102.0, 98.0, 110.0, 95.0, 120.0, 105.0, 99.0, 101.0, 97.0, 130.0, 108.0, 94.0];
const SECOND: [f64; 12] =
    [95.0, 97.0, 101.0, 94.0, 109.0, 99.0, 100.0, 96.0, 90.0, 121.0, 101.0, 93.0];

/// Student's interval of the differences (`scipy.stats.ttest_rel(b, a).confidence_interval()`,
/// scipy 1.17.1) and Fieller's of the ratio (by its quadratic) are -7.7052 to -2.7948 and -0.07025
/// to -0.02797; the skewness correction only widens them.
#[test]
fn difference_and_ratio_are_scipys_or_wider() {
    let found = paired(&all(&FIRST), &all(&SECOND)).unwrap();
    assert_eq!((found.mean, found.n), (-5.25, 12));
    assert_near(found.ci95, [-7.7052, -2.7948], 0.3);
    assert!(found.ci95[0] <= -7.70517 && found.ci95[1] >= -2.79483, "{found:?}");
    let relative = found.relative.unwrap();
    assert!((relative.mean - -0.05003971405877683).abs() < 1e-15);
    assert_near(relative.ci95, [-0.07025, -0.02797], 0.003);
    assert!(relative.ci95[0] <= -0.070247 && relative.ci95[1] >= -0.027969, "{relative:?}");
    assert_eq!(found.verdict, Lower);
    assert_eq!(paired(&all(&SECOND), &all(&FIRST)).unwrap().verdict, Higher);
}

#[test]
fn pairs_with_a_failed_run_are_dropped() {
    let first = [Some(1.0), None, Some(3.0), None, Some(5.0)];
    let second = [Some(2.0), Some(9.0), None, None, Some(8.0)];
    let found = paired(&first, &second).unwrap();
    assert_eq!((found.n, found.mean), (2, 2.0));
    assert_eq!(paired(&first[1..2], &second[1..2]), Err(StatsError::Empty));
    assert_eq!(paired(&[], &[]), Err(StatsError::Empty));
}

#[test]
fn the_order_of_the_pairs_does_not_matter() {
    let (mut first, mut second) = (all(&FIRST), all(&SECOND));
    let found = paired(&first, &second).unwrap();
    first.rotate_left(5);
    second.rotate_left(5);
    assert_eq!(paired(&first, &second).unwrap(), found);
}

#[test]
fn few_or_equal_pairs_are_undecided() {
    let (first, second) = (all(&[10.0; 6]), all(&[9.0; 6]));
    let five = paired(&first[..5], &second[..5]).unwrap();
    assert_eq!((five.ci95, five.verdict), ([-1.0; 2], Undecided));
    assert_eq!(paired(&first, &second).unwrap().verdict, Lower);
    assert_eq!(paired(&first, &first).unwrap().verdict, Equal);
    let one = paired(&first[..1], &second[..1]).unwrap();
    assert_eq!(one.relative, Some(RelativeDifference { mean: -0.1, ci95: [-0.1; 2] }));
}

#[test]
fn a_fraction_of_nothing_is_none() {
    let relative =
        |first: &[f64], second: &[f64]| paired(&all(first), &all(second)).unwrap().relative;
    assert_eq!(relative(&[0.0, 1.0], &[1.0, 1.0]), None);
    assert_eq!(relative(&[-1.0, 2.0], &[1.0, 1.0]), None);
    assert_eq!(relative(&[5e-324, 5e-324], &[1.0, 2.0]), None);
    assert_eq!(relative(&[5e-324], &[1.0]), None);
    // If one value dominates the sum, nothing is left when it is taken out.
    let found = paired(&all(&[1e90, 1e-9]), &all(&[1.0, 2.0])).unwrap();
    assert!(found.relative.is_none_or(|relative| relative.ci95.iter().all(|end| end.is_finite())));
}

#[test]
fn bad_input_is_an_error_that_names_the_place() {
    let mismatch = paired(&all(&FIRST), &all(&SECOND[1..]));
    assert_eq!(mismatch, Err(StatsError::LengthMismatch { first: 12, second: 11 }));
    // Also in a pair that would be dropped: NaN never means "failed".
    let result = paired(&[Some(1.0), None], &[Some(1.0), Some(f64::INFINITY)]);
    assert_eq!(result, Err(StatsError::OutOfRange { index: 1, value: f64::INFINITY }));
}

/// If nothing differs, about one comparison in twenty has a verdict; if something does, pairing
/// detects it although the runs themselves vary ten times as much.
#[test]
fn verdicts_are_wrong_as_rarely_as_the_interval_says() {
    let mut rng = trackbed_core::Seed::of_run(1, 0).stream("pairs");
    let (mut wrong, mut found) = (0, 0);
    let trials = 300;
    for _ in 0..trials {
        let luck: Vec<f64> = (0..30).map(|_| 100.0 + 10.0 * rng.normal()).collect();
        let mut run = |shift: f64| -> Vec<Option<f64>> {
            luck.iter().map(|luck| Some(luck + shift + rng.normal())).collect()
        };
        let (first, same, lower) = (run(0.0), run(0.0), run(-1.0));
        wrong += u32::from(paired(&first, &same).unwrap().verdict != Undecided);
        found += u32::from(paired(&first, &lower).unwrap().verdict == Lower);
    }
    assert!((5..=30).contains(&wrong), "{wrong} of {trials}");
    // The mean difference of -1 has a standard error of √(2/30) = 0.26: 97 % of 300 are found.
    assert!(found >= 280, "{found} of {trials}");
}
