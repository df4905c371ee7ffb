//! The changers' draws, compared with their nominal distributions.

use trackbed_workloads::environment::{SeekChanger, StatusChanger, TruncatedNormal};

use crate::support::*;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn status(delay: Option<(u64, u64)>, reconnections: u32) -> StatusChanger {
    let delay = delay.map(|(mean, deviation)| TruncatedNormal {
        mean: millis(mean),
        deviation: millis(deviation),
    });
    StatusChanger { delay, period: Duration::from_secs(1), reconnections }
}

fn reconnections(moments: &[Moment]) -> Vec<Duration> {
    let reconnect = |moment: &&Moment| moment.change == Change::Reconnect;
    moments.iter().filter(reconnect).map(|moment| moment.at).collect()
}

/// Mean and variance of the normal distribution truncated below at zero (Johnson, Kotz and
/// Balakrishnan, "Continuous Univariate Distributions" 1, section 13.10.1), in its own unit.
fn moments_of_truncated(mean: f64, deviation: f64) -> (f64, f64) {
    let a = -mean / deviation;
    let density = (-a * a / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let lambda = density / (0.5 * libm::erfc(a / std::f64::consts::SQRT_2));
    (mean + deviation * lambda, deviation * deviation * (1.0 + a * lambda - lambda * lambda))
}

/// The mean of n draws deviates from the true one by `sqrt(variance / n)`, their variance by
/// `variance * sqrt((kurtosis - 1) / n)`; the kurtosis is between 3, the normal one, and 3.87, that
/// of the half-normal one. Five of these are exceeded once in two million seeds.
#[test]
fn delays_have_the_mean_and_variance_of_the_truncated_normal_distribution() {
    for (mean, deviation) in [(100, 20), (50, 50), (10, 40), (0, 30)] {
        let law = TruncatedNormal { mean: millis(mean), deviation: millis(deviation) };
        let mut rng = Seed::of_run(1, 0).stream("test");
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| law.draw(&mut rng).as_secs_f64() * 1e3).collect();
        let n = f64::from(n);
        let found_mean = draws.iter().sum::<f64>() / n;
        let found_variance =
            draws.iter().map(|draw| (draw - found_mean).powi(2)).sum::<f64>() / (n - 1.0);
        let (mean, variance) = moments_of_truncated(mean as f64, deviation as f64);
        assert!((found_mean - mean).abs() < 5.0 * (variance / n).sqrt(), "{found_mean} {mean}");
        let spread = variance * (2.87 / n).sqrt();
        assert!((found_variance - variance).abs() < 5.0 * spread, "{found_variance} {variance}");
    }
}

/// No weight gathers at zero, as it would with clamped draws: half of all would be there.
#[test]
fn negative_delays_are_drawn_again() {
    let law = TruncatedNormal { mean: Duration::ZERO, deviation: millis(30) };
    let mut rng = Seed::of_run(1, 0).stream("test");
    let zero = (0..10_000).filter(|_| law.draw(&mut rng).is_zero()).count();
    assert!(zero < 10, "{zero}");
}

#[test]
fn without_a_deviation_every_delay_is_the_average() {
    let law = TruncatedNormal { mean: millis(70), deviation: Duration::ZERO };
    let mut rng = Seed::of_run(1, 0).stream("test");
    assert!((0..100).all(|_| law.draw(&mut rng) == millis(70)));
}

#[test]
fn delays_change_at_the_start_and_after_each_period_before_the_end() {
    let seed = Seed::of_run(1, 0);
    for (duration, expected) in [(1_000, 1), (1_001, 2), (10_000, 10), (500, 1)] {
        let at: Vec<Duration> = status(Some((100, 20)), 0)
            .moments(&seed, millis(duration))
            .iter()
            .map(|moment| moment.at)
            .collect();
        let seconds: Vec<Duration> = (0..expected).map(Duration::from_secs).collect();
        assert_eq!(at, seconds);
    }
}

/// A count of successes in n independent trials of probability p has the standard deviation
/// `sqrt(n p (1 - p))`.
#[test]
fn viewers_jump_as_often_as_asked_and_everywhere_alike() {
    let seeks = SeekChanger { probability: Ratio::from_parts(3, 10) };
    let (runs, seconds) = (100u32, 600u32);
    let mut places: Vec<f64> = Vec::new();
    for run in 0..runs {
        let duration = Duration::from_secs(u64::from(seconds) + 1);
        for moment in seeks.moments(&Seed::of_run(1, run.into()), duration) {
            let Change::Seek(place) = moment.change else { panic!("{moment:?}") };
            assert!(moment.at.subsec_nanos() == 0 && moment.at >= Duration::from_secs(1));
            places.push(place.as_f64());
        }
    }
    let (n, found) = (f64::from(runs * seconds), places.len() as f64);
    assert!((found - n * 0.3).abs() < 5.0 * (n * 0.3 * 0.7).sqrt(), "{found}");
    // A uniform number has mean 1/2 and variance 1/12.
    let mean = places.iter().sum::<f64>() / found;
    assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / found).sqrt(), "{mean}");
    for tenth in 0..10 {
        let low = f64::from(tenth) / 10.0;
        let inside = places.iter().filter(|place| (low..low + 0.1).contains(*place)).count();
        let spread = (found * 0.1 * 0.9).sqrt();
        assert!((inside as f64 - found / 10.0).abs() < 5.0 * spread, "{tenth}: {inside}");
    }
}

/// With another probability the remaining jumps have the same targets.
#[test]
fn rarer_jumps_are_among_the_more_frequent_ones() {
    let (seed, duration) = (Seed::of_run(1, 0), Duration::from_secs(300));
    let of = |percent| {
        let probability = Ratio::from_parts(percent, 100);
        SeekChanger { probability }.moments(&seed, duration)
    };
    let (rare, often) = (of(10), of(60));
    assert!(!rare.is_empty() && rare.len() < often.len());
    assert!(rare.iter().all(|moment| often.contains(moment)));
    assert!(of(0).is_empty());
    assert_eq!(of(100).len(), 299);
}

/// Each of the 59 ends of periods is equally likely: over n runs of k draws each, it is chosen n k
/// / 59 times, within the binomial spread.
#[test]
fn reconnections_come_exactly_so_often_and_at_every_period_alike() {
    let (runs, wanted) = (2_000u32, 5);
    let mut chosen = [0u32; 60];
    for run in 0..runs {
        let moments =
            status(None, wanted).moments(&Seed::of_run(1, run.into()), Duration::from_secs(60));
        let mut at = reconnections(&moments);
        at.sort();
        at.dedup();
        assert_eq!(at.len() as u32, wanted);
        at.iter().for_each(|at| chosen[at.as_secs() as usize] += 1);
    }
    assert_eq!(chosen[0], 0);
    let p = f64::from(wanted) / 59.0;
    let spread = (f64::from(runs) * p * (1.0 - p)).sqrt();
    for (second, count) in chosen.iter().enumerate().skip(1) {
        let off = f64::from(*count) - f64::from(runs) * p;
        assert!(off.abs() < 5.0 * spread, "second {second}: {count}");
    }
}

#[test]
fn one_more_reconnection_leaves_the_others_where_they_are() {
    let (seed, duration) = (Seed::of_run(1, 0), Duration::from_secs(60));
    let of = |count| reconnections(&status(None, count).moments(&seed, duration));
    for count in 0..58 {
        let (fewer, more) = (of(count), of(count + 1));
        assert!(fewer.iter().all(|at| more.contains(at)));
        assert_eq!(more.len(), fewer.len() + 1);
    }
}
