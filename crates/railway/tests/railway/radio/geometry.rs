//! The positions of handovers, computed by hand for a straight track with stations every 1,340 m, 300 m beside
//! it.

use std::time::Duration;

use trackbed_core::Seed;
use trackbed_railway::motion::Direction;
use trackbed_railway::radio::{Handover, PathLoss, RadioTimeline, Railway};

use super::railway;

/// Measured every millisecond and unfiltered, so that only geometry and time-to-trigger matter.
fn ideal(path_loss: &str, time_to_trigger: &str) -> Railway {
    railway(&[
        ("profile", "ns3"),
        ("path-loss", path_loss),
        ("measurement-period", "1 ms"),
        ("filter", "0"),
        ("time-to-trigger", time_to_trigger),
        ("length", "6 km"),
    ])
}

fn whole(railway: &Railway, direction: Direction, run: u64) -> Vec<RadioTimeline> {
    let ride = railway.ride(direction);
    railway.drive(&ride, ride.end().unwrap(), &Seed::of_run(1, run))
}

fn report_m(railway: &Railway, direction: Direction, handover: &Handover) -> f64 {
    railway.ride(direction).chainage_m(handover.report)
}

/// The distance past the midpoint at which the target is 3 dB stronger: the loss grows by
/// `per_decade log10` of the distance, so the distances' squares are in the ratio
/// 10^(6 / per_decade). With stations 670 m before and behind the midpoint and 300 m beside it,
/// (670 + x)^2 + 300^2 = ratio ((670 - x)^2 + 300^2), a quadratic equation in x.
fn past_midpoint(path_loss: &str) -> f64 {
    let ratio = 10f64.powf(6.0 / PathLoss::find(path_loss).unwrap().per_decade_db);
    let (a, b) = (1.0 - ratio, 2.0 * 670.0 * (1.0 + ratio));
    let c = (670.0f64.powi(2) + 300.0f64.powi(2)) * (1.0 - ratio);
    (-b + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)
}

#[test]
fn handovers_are_reported_where_geometry_says() {
    // 138 and 74 m; the 256 ms are 21.3 m more.
    assert!((past_midpoint("friis") - 138.0).abs() < 0.5, "{}", past_midpoint("friis"));
    assert!((past_midpoint("3gpp") - 74.0).abs() < 0.5, "{}", past_midpoint("3gpp"));
    let speed = 300.0 / 3.6;
    for (path_loss, time_to_trigger, later) in [
        ("friis", "0 ms", 0.0),
        ("friis", "256 ms", 0.256 * speed),
        ("3gpp", "256 ms", 0.256 * speed),
        ("3gpp", "480 ms", 0.48 * speed),
    ] {
        let railway = ideal(path_loss, time_to_trigger);
        for (direction, sign) in [(Direction::Forward, 1.0), (Direction::Backward, -1.0)] {
            for (timeline, midpoint) in whole(&railway, direction, 0).iter().zip([0.0, 670.0]) {
                assert!(timeline.handovers.len() >= 3);
                for handover in &timeline.handovers {
                    // Stations of A are at odd multiples of 670 m, so midpoints are at even ones.
                    let report = report_m(&railway, direction, handover) - midpoint;
                    let past = sign * (report - 1_340.0 * (report / 1_340.0).round());
                    let expected = past_midpoint(path_loss) + later;
                    // A millisecond is 0.083 m; the condition is "more than".
                    assert!(
                        (0.0..0.2).contains(&(past - expected)),
                        "{path_loss} {past} {expected}"
                    );
                }
            }
        }
    }
}

/// Without a hysteresis, the midpoint itself.
#[test]
fn without_hysteresis_it_is_the_midpoint() {
    let railway = railway(&[
        ("profile", "ns3"),
        ("measurement-period", "1 ms"),
        ("filter", "0"),
        ("time-to-trigger", "0 ms"),
        ("hysteresis", "0 dB"),
        ("length", "6 km"),
    ]);
    let timelines = whole(&railway, Direction::Forward, 0);
    let report = report_m(&railway, Direction::Forward, &timelines[0].handovers[0]);
    assert!((1_340.0..1_340.2).contains(&report), "{report}");
}

/// A cell of 1,340 m takes 16.08 s at 83.33 m/s: 3.73 handovers per minute and operator. Over 200 cells, one more
/// or less at the ends is 0.5 %.
#[test]
fn there_are_as_many_handovers_as_cells() {
    for profile in ["ns3", "hsr-measured"] {
        // Failures and shadow fading change the position of a handover, but not the number of
        // handovers.
        let railway = railway(&[
            ("profile", profile),
            ("length", "268 km"),
            ("shadowing", "0 dB"),
            ("variation", "0 dB"),
        ]);
        let minutes = railway.ride(Direction::Forward).end().unwrap().as_secs_f64() / 60.0;
        for timeline in whole(&railway, Direction::Forward, 0) {
            let each_minute = timeline.handovers.len() as f64 / minutes;
            assert!((each_minute - 60.0 / 16.08).abs() < 0.03, "{profile}: {each_minute}");
        }
    }
}

/// Handovers are half a cell (8 s) apart, and no disturbance lasts longer than 3 s.
#[test]
fn two_operators_are_never_disturbed_at_once() {
    for profile in ["ns3", "hsr-measured"] {
        let without_shadows = [("profile", profile), ("shadowing", "0 dB"), ("variation", "0 dB")];
        let railway = railway(&without_shadows);
        for run in 0..20 {
            let timelines = whole(&railway, Direction::Forward, run);
            for one in &timelines[0].handovers {
                for other in &timelines[1].handovers {
                    let ((from, until), (begin, end)) = (one.disturbed, other.disturbed);
                    assert!(until < begin || end < from, "{profile} {run}: {one:?} {other:?}");
                }
            }
        }
    }
}

/// With stations at one place both operators hand over at once.
#[test]
fn without_a_shift_they_are() {
    let every_ms = [("measurement-period", "1 ms"), ("filter", "0"), ("length", "6 km")];
    let railway = railway(&[&every_ms[..], &[("shift", "0 m"), ("profile", "ns3")]].concat());
    let timelines = whole(&railway, Direction::Forward, 0);
    assert!(timelines[0].handovers.len() >= 3);
    for (one, other) in timelines[0].handovers.iter().zip(&timelines[1].handovers) {
        let apart = one.report.max(other.report) - one.report.min(other.report);
        assert!(apart < Duration::from_millis(2), "{apart:?}");
    }
}

/// 46 dBm over 600 subcarriers with 15 dB of gain: 33.2 dBm each. At 300 m the loss is 108.4 dB, at
/// 734 m 123.0, at 860 m 125.6.
#[test]
fn received_power_is_that_of_the_link_budget() {
    let railway = railway(&[("profile", "3gpp")]);
    for (distance, rsrp) in [(300.0, -75.2), (734.0, -89.8), (860.0, -92.4)] {
        let found = railway.propagation().rsrp_dbm(distance);
        assert!((found - rsrp).abs() < 0.05, "{distance}: {found}");
    }
}
