//! The errors of positions, compared with their model.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::{Seed, Time};
use trackbed_railway::motion::{Direction, GpsModel, GpsReceiver, Ride, SpeedProfile, Track};

fn ride(speed_m_s: f64) -> Ride {
    let track = Arc::new(Track::straight(1_000_000.0).unwrap());
    let speed = SpeedProfile::constant(speed_m_s).unwrap();
    Ride::new(track, speed, Direction::Forward).starting_at(5_000.0)
}

/// At 300 km/h, 120 ms are 10 m.
#[test]
fn a_late_position_lies_behind_the_train() {
    let ride = ride(300.0 / 3.6);
    let model = GpsModel { lag: Duration::from_millis(120), ..GpsModel::PERFECT };
    let (mut late, mut perfect) = (
        GpsReceiver::new(model, &Seed::of_run(1, 0)),
        GpsReceiver::new(GpsModel::PERFECT, &Seed::of_run(1, 0)),
    );
    for step in 1..100 {
        let now = Time::from_millis(1_000 * step);
        let (late, perfect) = (late.fix(now, &ride), perfect.fix(now, &ride));
        assert!((perfect.chainage_m - ride.chainage_m(now)).abs() < 1e-6);
        assert!((perfect.chainage_m - late.chainage_m - 10.0).abs() < 1e-6);
    }
}

/// Errors every 100 ms with a correlation of 1 s. An estimate of the variance from n values of a
/// Gauss-Markov process with correlation c from one to the next deviates by
/// `sigma^2 sqrt(2 / n (1 + c^2) / (1 - c^2))`; that of its correlation by less than that over
/// sigma^2. Five of these are exceeded once in two million seeds.
#[test]
fn errors_have_the_deviation_and_the_correlation_that_the_model_says() {
    let ride = ride(0.0);
    let model = GpsModel { sigma_m: 4.0, correlation: Duration::from_secs(1), lag: Duration::ZERO };
    let mut gps = GpsReceiver::new(model, &Seed::of_run(3, 0));
    let count = 100_000u32;
    let error = |it| gps.fix(Time::from_millis(100 * u64::from(it)), &ride).chainage_m - 5_000.0;
    let errors: Vec<f64> = (0..count).map(error).collect();
    let n = f64::from(count);
    let spread = (2.0 / n * (1.0 + (-0.2f64).exp()) / (1.0 - (-0.2f64).exp())).sqrt();
    let covariance = |lag: usize| {
        let pairs = errors.iter().zip(&errors[lag..]);
        pairs.map(|(one, other)| one * other).sum::<f64>() / (n - lag as f64) / 16.0
    };
    assert!((covariance(0) - 1.0).abs() < 5.0 * spread, "{}", covariance(0));
    for (lag, expected) in [(1, (-0.1f64).exp()), (10, (-1.0f64).exp()), (50, (-5.0f64).exp())] {
        assert!((covariance(lag) - expected).abs() < 5.0 * spread, "{lag}: {}", covariance(lag));
    }
}

#[test]
fn the_seed_alone_decides() {
    let ride = ride(80.0);
    let fixes = |seed: u64| {
        let mut gps = GpsReceiver::new(GpsModel::default(), &Seed::of_run(seed, 0));
        let fix = |step: u64| gps.fix(Time::from_millis(10 * step), &ride).chainage_m.to_bits();
        (0..1_000).map(fix).collect::<Vec<u64>>()
    };
    assert_eq!(fixes(1), fixes(1));
    assert_ne!(fixes(1), fixes(2));
}
