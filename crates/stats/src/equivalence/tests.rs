use trackbed_core::{Rng, Seed};

use super::*;

/// 30 values around `centre`, always with the same spread, starting at the `turn`-th.
fn values(centre: f64, turn: usize) -> Vec<Option<f64>> {
    let mut values: Vec<Option<f64>> =
        (0..30).map(|i| Some(centre * (1.0 + (f64::from(i) - 14.5) / 1_000.0))).collect();
    values.rotate_left(turn);
    values
}

#[test]
fn the_interval_decides() {
    let base = values(100.0, 0);
    let verdict = |second: f64, margin| {
        equivalence(&base, &values(second, 7), margin, CONFIDENCE).unwrap().verdict
    };
    assert_eq!(verdict(101.0, 0.03), EquivalenceVerdict::Equivalent);
    assert_eq!(verdict(103.0, 0.03), EquivalenceVerdict::Undecided);
    assert_eq!(verdict(106.0, 0.03), EquivalenceVerdict::Different);
    assert_eq!(verdict(94.0, 0.03), EquivalenceVerdict::Different);
}

/// What both share cancels: the interval is as narrow as their differences vary.
#[test]
fn what_the_pairs_share_does_not_widen_the_interval() {
    let (base, twice) = (values(100.0, 0), values(200.0, 0));
    let found = equivalence(&base, &twice, 0.03, CONFIDENCE).unwrap();
    assert!(found.interval.iter().all(|end| (end - 2.0).abs() < 1e-9), "{found:?}");
    assert_eq!((found.n, found.means), (30, [100.0, 200.0]));
}

/// For unrelated values with standard deviation s around m, the ratio of means over n pairs has
/// the standard deviation s/m sqrt(2 (1 - r) / n), where r is their correlation; a 90 %
/// interval extends 1.699 times that to each side, by Student's t with 29 degrees of freedom.
#[test]
fn the_interval_is_as_wide_as_arithmetic_says() {
    let first = values(100.0, 0);
    let second: Vec<Option<f64>> = (0..30).map(|i| first[i * 7 % 30]).collect();
    let found = equivalence(&first, &second, 0.03, CONFIDENCE).unwrap();
    let deviations = |values: &[Option<f64>]| -> Vec<f64> {
        values.iter().map(|value| value.unwrap() - 100.0).collect()
    };
    let (x, y) = (deviations(&first), deviations(&second));
    let variance = x.iter().map(|x| x * x).sum::<f64>() / 29.0;
    let correlation = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / 29.0 / variance;
    let spread = variance.sqrt() / 100.0 * (2.0 * (1.0 - correlation) / 30.0).sqrt();
    let width = found.interval[1] - found.interval[0];
    assert!((width / (2.0 * 1.699 * spread) - 1.0).abs() < 0.01, "{width} {spread}");
}

#[test]
fn few_pairs_decide_nothing_and_wrong_values_are_refused() {
    let equivalence = |first: &[_], second: &[_], margin| equivalence(first, second, margin, 0.9);
    let few = vec![Some(1.0); 5];
    assert_eq!(equivalence(&few, &few, 0.5).unwrap().verdict, EquivalenceVerdict::Undecided);
    let gaps = [Some(1.0), None, Some(1.0)];
    assert_eq!(equivalence(&gaps, &few[..3], 0.5).unwrap().n, 2);
    assert!(equivalence(&[Some(0.0)], &few[..1], 0.5).is_err());
    assert!(equivalence(&[None], &few[..1], 0.5).is_err());
    assert!(equivalence(&few, &gaps, 0.5).is_err());
}

#[test]
fn correlation_is_that_of_the_pairs() {
    let pairs = |second: [f64; 3]| {
        correlation(&[1.0, 2.0, 3.0].into_iter().zip(second).collect::<Vec<_>>())
    };
    assert_eq!(pairs([10.0, 20.0, 30.0]), Some(1.0));
    assert_eq!(pairs([3.0, 2.0, 1.0]), Some(-1.0));
    assert_eq!(pairs([1.0, 3.0, 1.0]), Some(0.0));
    assert_eq!(pairs([7.0; 3]), None);
}

/// A third of the distance left needs nine times the pairs.
#[test]
fn the_number_of_pairs_that_decide_follows_from_the_width() {
    let found = Equivalence {
        means: [100.0, 102.0],
        ratio: 1.02,
        interval: [0.99, 1.05],
        n: 20,
        correlation: None,
        verdict: EquivalenceVerdict::Undecided,
    };
    assert_eq!(found.pairs_to_decide(0.03), Some(180));
    assert_eq!(found.pairs_to_decide(0.01), Some(180));
    assert_eq!(found.pairs_to_decide(0.02), None);
    assert_eq!(Equivalence { n: 5, ..found }.pairs_to_decide(0.03), None);
}

#[test]
fn looks_grow_by_a_half() {
    assert_eq!([0, 1, 2, 3].map(|look| pairs_at(12, look)), [12, 18, 27, 41]);
    assert_eq!(pairs_at(12, 100), u32::MAX);
}

/// Pairs whose true ratio is exactly at the limit of the margin: whichever way a verdict goes, it is
/// one-sided. Skewed values (log-normal, as completion times with losses) and normal ones, correlated
/// and not; up to 12 looks. 4,000 campaigns, so the standard error is 0.35 points.
#[test]
fn verdicts_over_many_looks_err_in_five_of_a_hundred() {
    let mut rng = Seed::of_run(7, 0).stream("looks");
    for (shared, skew) in [(0.0, 0.1), (0.9, 0.1), (0.3, 0.5)] {
        let mut count = [0; 2];
        for _ in 0..CAMPAIGNS {
            match campaign(&mut rng, shared, skew) {
                EquivalenceVerdict::Equivalent => count[0] += 1,
                EquivalenceVerdict::Different => count[1] += 1,
                EquivalenceVerdict::Undecided => {}
            }
        }
        let share = count.map(|count| f64::from(count) / f64::from(CAMPAIGNS));
        assert!(share.iter().all(|share| *share <= 0.06), "{shared} {skew}: {share:?}");
        assert!(share[0] + share[1] > 0.02, "without power: {share:?}");
    }
}

const CAMPAIGNS: u32 = 4_000;

/// A campaign until there is a verdict, of at most 12 looks. What both sides share has `shared` times the
/// spread of all; `skew` is the standard deviation of the logarithm.
fn campaign(rng: &mut Rng, shared: f64, skew: f64) -> EquivalenceVerdict {
    let margin = 0.03;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for look in 0..12 {
        while first.len() < pairs_at(12, look) as usize {
            let common = rng.normal() * shared.sqrt();
            let mut value = || (skew * (common + rng.normal() * (1.0 - shared).sqrt())).exp();
            first.push(Some(100.0 * value()));
            second.push(Some(100.0 * (1.0 + margin) * value()));
        }
        let found = equivalence(&first, &second, margin, 1.0 - 2.0 * look_error(look)).unwrap();
        if found.verdict != EquivalenceVerdict::Undecided {
            return found.verdict;
        }
    }
    EquivalenceVerdict::Undecided
}
