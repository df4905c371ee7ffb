//! Shadowing and rates, compared with their models.

use trackbed_core::{Bitrate, Seed, Time};
use trackbed_railway::motion::Direction;
use trackbed_railway::radio::Shadows;

use super::railway;

/// Samples d = a tenth of the correlation distance apart correlate by c = exp(-1/10) from one to the
/// next. An estimate of the variance from n of them deviates by `sqrt(2/n (1 + c^2) / (1 - c^2))`, that
/// of a covariance by no more. Five of these are exceeded once in two million seeds.
#[test]
fn shadows_have_unit_deviation_and_gudmundsons_correlation() {
    let mut rng = Seed::of_run(5, 0).stream("test");
    let (distance, length) = (40.0, 400_000.0);
    let shadows = Shadows::draw(0.0, length, distance, &mut rng);
    let step = distance / 10.0;
    let c2 = (-0.2f64).exp();
    // On the grid, and half-way between its points.
    for offset in [0.0, step / 2.0, step / 4.0] {
        let count = (length / step) as usize - 200;
        let values: Vec<f64> = (0..count).map(|it| shadows.at(offset + step * it as f64)).collect();
        let spread = (2.0 / count as f64 * (1.0 + c2) / (1.0 - c2)).sqrt();
        let mean = values.iter().sum::<f64>() / count as f64;
        // The mean of n correlated values deviates by sqrt((1 + c) / (1 - c) / n).
        assert!(mean.abs() < 5.0 * (20.0 / count as f64).sqrt(), "{mean}");
        for (lag, expected) in [(0, 1.0), (5, (-0.5f64).exp()), (10, (-1.0f64).exp()), (40, 0.018)]
        {
            let pairs = values.iter().zip(&values[lag..]);
            let found = pairs.map(|(one, other)| one * other).sum::<f64>() / (count - lag) as f64;
            // Between two grid points, interpolation changes the correlation by at most 0.01.
            let margin = 5.0 * spread + if offset > 0.0 { 0.01 } else { 0.0 };
            assert!((found - expected).abs() < margin, "{offset} {lag}: {found} {expected}");
        }
    }
}

/// The measured power minus the power by geometry is shadow fading plus variation, whose variances add up. One
/// sample about every 17 m, over 500 km, with a correlation distance of 37 m.
#[test]
fn what_is_measured_has_the_deviation_that_was_asked_for() {
    let plain = railway(&[("shadowing", "0 dB"), ("variation", "0 dB"), ("length", "500 km")]);
    let with = railway(&[("shadowing", "4 dB"), ("variation", "3 dB"), ("length", "500 km")]);
    let ride = with.ride(Direction::Forward);
    let signal = with.drive(&ride, ride.end().unwrap(), &Seed::of_run(1, 0)).swap_remove(0).signal;
    let expected = |serving: usize, chainage: f64| {
        let station = &plain.operators()[0].stations[serving];
        let train = plain.track().coordinates_at(chainage);
        plain.propagation().rsrp_dbm(station.coordinates.plane_distance_m(train))
    };
    let error = |sample: &&trackbed_railway::radio::SignalSample| {
        sample.rsrp_dbm - expected(sample.serving, sample.chainage_m)
    };
    // Near a station, shadow fading does not decide which cell serves.
    let station = |chainage: f64| ((chainage / 1_340.0 + 0.5).rem_euclid(1.0) - 0.0).min(1.0);
    let near = |chainage: f64| station(chainage) < 0.15 || station(chainage) > 0.85;
    let errors: Vec<f64> =
        signal.iter().filter(|s| near(s.chainage_m)).map(|s| error(&s)).collect();
    let n = errors.len() as f64;
    let variance = errors.iter().map(|error| error * error).sum::<f64>() / n;
    let c2 = (-2.0 * 16.7 / 37.0f64).exp();
    let spread = 25.0 * (2.0 / n * (1.0 + c2) / (1.0 - c2)).sqrt();
    assert!(n > 5_000.0, "{n}");
    assert!((variance - 25.0).abs() < 5.0 * spread, "{variance} +- {spread}");
}

/// 0.6 log2(1 + SINR) bit/s/Hz over 9 MHz: at 0 dB 0.6, at 10 dB 0.6 * 3.459, at most 4.4.
#[test]
fn rates_are_shannons_bound_with_an_attenuation() {
    let railway = railway(&[]);
    let propagation = railway.propagation();
    for (sinr, rate) in [(0.0, 5_400_000), (10.0, 18_600_000), (60.0, 39_600_000), (-10.1, 0)] {
        assert_eq!(propagation.rate(sinr), Bitrate::from_bps(rate), "{sinr} dB");
    }
    // Noise alone: -174 dBm/Hz, 15 kHz, 9 dB. Beside an equally strong cell that always sends: 0 dB.
    assert!((propagation.sinr_db(-93.0, []) - (-93.0 + 123.24)).abs() < 0.01);
}

#[test]
fn interference_takes_rate_at_the_edges_of_cells() {
    let rates = |interference: &str| {
        let railway = railway(&[("interference", interference), ("profile", "ns3")]);
        let ride = railway.ride(Direction::Forward);
        let timelines = railway.drive(&ride, Time::from_millis(70_000), &Seed::of_run(1, 0));
        let rates = timelines[0].rates(trackbed_railway::radio::LinkDirection::Down);
        rates.into_iter().map(|(_, rate)| rate.as_bps()).collect::<Vec<u64>>()
    };
    assert_eq!(rates("0 %"), [25_000_000]);
    let disturbed = rates("100 %");
    let (least, most) = (disturbed.iter().min().unwrap(), disturbed.iter().max().unwrap());
    // In the handover region the other cell is up to 3 dB and some stronger: below 0.6 log2(1 + 1).
    assert!(*least < 5_400_000 && *most > 10_000_000, "{least} {most}");
}

/// A profile or a path loss that is added to its list can be chosen.
#[test]
fn every_entry_can_be_chosen() {
    let choices = |name: &str| {
        let parameter =
            trackbed_railway::radio::PARAMETERS.iter().find(|parameter| parameter.name == name);
        match parameter.unwrap().kind {
            trackbed_core::parameter::Kind::Choice(words) => words.to_vec(),
            other => panic!("{other}"),
        }
    };
    let profiles = trackbed_railway::radio::PROFILES.iter();
    assert!(profiles.clone().map(|profile| profile.name).eq(choices("profile")));
    let losses = trackbed_railway::radio::PATH_LOSSES.iter();
    assert!(losses.map(|loss| loss.name).eq(choices("path-loss")));
    assert!(
        profiles.map(|profile| profile.path_loss).all(|loss| choices("path-loss").contains(&loss))
    );
}
