use super::*;
use crate::testing::{AIR_CONDITIONING, EXTREMES};

fn interval(values: &[f64]) -> [f64; 2] {
    mean_interval(&Sample::new(values).unwrap(), 0.95).unwrap()
}

fn pivot(values: &[f64]) -> Pivot {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Pivot::of_mean(&sorted, largest(values))
}

/// For symmetric values it is Student's interval: `scipy.stats.ttest_1samp(x,
/// 0).confidence_interval(0.95)` and its p-value, for x = 1..=20 minus 7.
#[test]
fn of_symmetric_values_it_is_students() {
    let values: Vec<f64> = (1..=20).map(|i| f64::from(i) - 7.0).collect();
    let [low, high] = interval(&values);
    assert!((low - 0.7311894319797458).abs() < 1e-9, "{low}");
    assert!((high - 6.268810568020254).abs() < 1e-9, "{high}");
    assert!(
        (pivot(&values).p_either() - 0.015945561075683467).abs() < 1e-9,
        "{:?}",
        pivot(&values)
    );
}

/// By manual evaluation of the formulae: mean, s, and Hall's cubic at Student's 97.5 % point.
#[test]
fn of_skewed_values_the_far_end_is_halls() {
    let values = AIR_CONDITIONING;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let moment = |k: i32| values.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
    let skewness = moment(3) / moment(2).powf(1.5) * (1.0 + 1.0 / n.sqrt()) / n.sqrt();
    let error = (moment(2) / (n - 1.0)).sqrt();
    let point = 2.200985160082949;
    let cubic = |t: f64| ((1.0 + skewness * t / 3.0).powi(3) - 1.0) / skewness + skewness / 6.0;
    let [low, high] = interval(&values);
    assert!((low - (mean - point * error)).abs() < 1e-9, "{low}");
    assert!((cubic((mean - high) / error) + point).abs() < 1e-9, "{high}");
    // A mirrored sample has the mirrored interval.
    let [mirrored_low, mirrored_high] = interval(&values.map(|x| -x));
    assert!((mirrored_low + high).abs() < 1e-9 && (mirrored_high + low).abs() < 1e-9);
}

/// The digits are fixed, so that a change of the method is noticed: existing results could no
/// longer be reproduced.
#[test]
fn the_same_values_give_the_same_bits_in_any_order() {
    let mut values: Vec<f64> = (0..30).map(|i| f64::from(i * i % 31)).collect();
    for _ in 0..2 {
        let digits = interval(&values).map(|end| end.to_string());
        assert_eq!(digits, ["9.278930682282015", "15.643518693158468"]);
        values.rotate_right(11);
    }
}

/// An interval contains exactly what the test does not reject.
#[test]
fn intervals_and_tests_are_one_definition() {
    for confidence in [0.5, 0.9, 0.95, 0.999] {
        for (values, other) in [(&AIR_CONDITIONING[..], 3.0), (&[1.0, 2.0, 7.0, 7.5, 8.0][..], 1.0)]
        {
            let near = |end: f64, inside: f64, outside: f64| {
                let shifted =
                    |by: f64| Pivot { estimate: pivot(values).estimate - by, ..pivot(values) };
                assert!(!shifted(end + inside).excludes_zero(confidence), "{end} {confidence}");
                assert!(shifted(end + outside).excludes_zero(confidence), "{end} {confidence}");
            };
            let [low, high] = pivot(values).interval(confidence);
            near(low, 1e-6 * other, -1e-6 * other);
            near(high, -1e-6 * other, 1e-6 * other);
        }
    }
}

#[test]
fn what_does_not_vary_has_no_width_and_no_more_certainty_than_signs_have() {
    assert_eq!(interval(&[4.2]), [4.2; 2]);
    assert_eq!(interval(&[0.1; 7]), [0.1; 2]);
    let same = pivot(&[0.25; 10]);
    assert_eq!((same.p_above(), same.p_below()), (2.0_f64.powi(-10), 1.0));
    assert_eq!(same.p_either(), 2.0_f64.powi(-9));
    let nothing = pivot(&[0.0; 10]);
    assert_eq!((nothing.p_above(), nothing.p_below(), nothing.p_either()), (1.0, 1.0, 1.0));
    // 1 / C(12, 6).
    let apart = Pivot::of_difference(&[2.0; 6], &[1.0; 6]);
    assert!((apart.p_above() * 924.0 - 1.0).abs() < 1e-9, "{apart:?}");
}

/// Rounding is not a difference: 0.1 more than numbers around 1000 is 0.1 more.
#[test]
fn rounding_is_not_taken_for_spread() {
    let values: Vec<f64> = (0..30).map(|i| f64::from(i) * 37.1).collect();
    let differences: Vec<f64> = values.iter().map(|x| (x + 0.1) - x).collect();
    let found = Pivot::of_mean(&differences, 1_077.0);
    assert_eq!(found.interval(0.95), [found.estimate; 2]);
    assert_eq!(found.p_above(), 2.0_f64.powi(-30));
}

#[test]
fn extreme_values_leave_everything_finite_and_in_order() {
    for values in EXTREMES {
        let ends = interval(values);
        assert!(ends[0] <= ends[1] && ends.iter().all(|end| end.is_finite()), "{ends:?}");
        let found = pivot(values);
        for p in [found.p_above(), found.p_below(), found.p_either()] {
            assert!((0.0..=1.0).contains(&p), "{found:?}");
        }
        for other in EXTREMES {
            let found = Pivot::of_difference(values, other);
            assert!(found.interval(0.95).iter().all(|end| end.is_finite()), "{found:?}");
            assert!((0.0..=1.0).contains(&found.p_either()), "{found:?}");
        }
    }
}

/// `scipy.stats.ttest_ind(x, y, equal_var=False)`, its p-value and interval, for symmetric x and y.
#[test]
fn of_two_symmetric_samples_it_is_welchs() {
    let x: Vec<f64> = (0..9).map(|i| f64::from(i) + 3.0).collect();
    let y: Vec<f64> = (0..15).map(|i| 2.0 * f64::from(i) - 10.0).collect();
    let found = Pivot::of_difference(&x, &y);
    let [low, high] = found.interval(0.95);
    assert!((found.p_either() - 0.2426923769461413).abs() < 1e-9, "{found:?}");
    assert!(
        (low - -2.2182163109911306).abs() < 1e-9 && (high - 8.218216310991131).abs() < 1e-9,
        "{low} {high}"
    );
}

/// Of 2,000 intervals from 30 log-normal values (sigma 1) about 94.5 % contain the mean, with a
/// standard error of 0.5 %. Student's do in 88 %, the bootstrap's in 90 %.
#[test]
fn intervals_of_skewed_values_cover_the_mean_about_as_often_as_they_say() {
    let mut rng = trackbed_core::Seed::of_run(1, 0).stream("coverage");
    let truth = libm::exp(0.5);
    let covers = |_: &u32| {
        let values: Vec<f64> = (0..30).map(|_| libm::exp(rng.normal())).collect();
        let [low, high] = interval(&values);
        low <= truth && truth <= high
    };
    let covered = (0..2_000).filter(covers).count();
    assert!((1_860..=1_930).contains(&covered), "{covered}");
}

/// As n grows, the correction and Student's factor vanish smoothly: the half-widths in units of
/// 1.96 s / √n fall towards 1, from a hundred exponential quantiles to a hundred thousand.
#[test]
fn many_values_have_the_normal_interval() {
    let mut last = f64::INFINITY;
    for n in [30, 100, 300, 1_000, 2_000, 3_000, 10_000, 100_000] {
        let at = |i: usize| -libm::log(1.0 - (i as f64 + 0.5) / n as f64);
        let sample = Sample::new(&(0..n).map(at).collect::<Vec<f64>>()).unwrap();
        let [low, high] = mean_interval(&sample, 0.95).unwrap();
        let width = (high - low) / (2.0 * 1.96 * sample.standard_deviation() / (n as f64).sqrt());
        assert!(width > 1.0 - 1e-4 && width < last, "{n}: {width} after {last}");
        last = width;
    }
    assert!(last < 1.003, "{last}");
}
