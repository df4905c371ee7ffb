//! The effects of a drive on a link.

use std::time::Duration;

use trackbed_core::{Bitrate, ByteSize, Ratio, Seed, Time};
use trackbed_railway::motion::Direction;
use trackbed_railway::radio::{HandoverKind, LinkDirection, RadioTimeline, Railway, Service};

use super::{railway, try_railway};
use crate::{assert_told, rows};

const END: Time = Time::from_millis(70_000);

fn drive(railway: &Railway, run: u64) -> Vec<RadioTimeline> {
    railway.drive(&railway.ride(Direction::Forward), END, &Seed::of_run(1, run))
}

fn within(span: Duration, low: u64, high: u64) -> bool {
    (Duration::from_millis(low)..=Duration::from_millis(high)).contains(&span)
}

#[test]
fn one_seed_gives_one_drive_and_operators_do_not_depend_on_one_another() {
    for profile in ["ns3", "3gpp", "hsr-measured"] {
        let railway = railway(&[("profile", profile)]);
        assert_eq!(drive(&railway, 0), drive(&railway, 0));
        assert_ne!(drive(&railway, 0)[0].handovers, drive(&railway, 1)[0].handovers);
        // Operator A has the same drive with and without B.
        let mut text = "operator,cell,chainage_m,offset_m\n".to_owned();
        for station in &railway.operators()[0].stations {
            text += &format!("A,{},{},300\n", station.cell, station.chainage_m);
        }
        let alone = super::railway(&[("profile", profile), ("stations", &text)]);
        assert_eq!(drive(&alone, 3), drive(&railway, 3)[..1]);
    }
}

#[test]
fn a_longer_drive_begins_as_a_shorter_one() {
    let railway = railway(&[("profile", "hsr-measured")]);
    let ride = railway.ride(Direction::Forward);
    let of = |seconds: u64| {
        let end = Time::from_millis(seconds * 1_000);
        railway.drive(&ride, end, &Seed::of_run(1, 0)).swap_remove(0).handovers
    };
    let (short, long) = (of(60), of(120));
    assert!(short.len() >= 3 && long.len() > short.len());
    assert_eq!(short, long[..short.len()]);
}

/// Shadow fading is the same on every drive, so handovers recur at the same positions. Without other variation,
/// drives differ only in the phase of the terminal's measurements.
#[test]
fn handovers_recur_at_the_same_positions() {
    let railway = railway(&[("variation", "0 dB")]);
    let first = drive(&railway, 0);
    for run in 1..20 {
        for (one, other) in first.iter().zip(drive(&railway, run)) {
            let places = one.handovers.iter().zip(&other.handovers);
            let near = places.filter(|(a, b)| (a.chainage_m - b.chainage_m).abs() < 60.0).count();
            assert!(near + 1 >= one.handovers.len(), "run {run}: {near}");
        }
    }
    // In another landscape they are elsewhere.
    let elsewhere = super::railway(&[("variation", "0 dB"), ("landscape", "2")]);
    assert_ne!(drive(&elsewhere, 0)[0].handovers, first[0].handovers);
}

#[test]
fn in_ns3_packets_wait_for_5_to_15_ms_and_10_kib_are_lost() {
    let railway = railway(&[("profile", "ns3")]);
    for run in 0..10 {
        for timeline in drive(&railway, run) {
            assert!(!timeline.handovers.is_empty());
            for direction in LinkDirection::BOTH {
                let held = timeline.spells(direction, Service::Held);
                let expected = timeline.handovers.iter().map(|h| (h.command, h.end));
                assert!(held.iter().copied().eq(expected));
                assert!(held.iter().all(|(from, until)| within(*until - *from, 5, 15)));
                let lost =
                    timeline.handovers.iter().map(|h| (h.command, ByteSize::from_bytes(10_240)));
                assert!(timeline.flushes(direction).into_iter().eq(lost));
                assert!(timeline.spells(direction, Service::Lost).is_empty());
                assert_eq!(timeline.losses(direction), [(Time::ZERO, Ratio::ZERO)]);
                assert_eq!(timeline.rates(direction), [(Time::ZERO, Bitrate::from_mbps(25))]);
            }
            let delay = [20, 30][usize::from(timeline.operator == "B")];
            let expected = [(Time::ZERO, Duration::from_millis(delay))];
            assert_eq!(timeline.delays(LinkDirection::Down), expected);
        }
    }
}

/// After the command, packets to the train are delayed by the gap and one hop over X2; packets from the train have
/// no such detour.
#[test]
fn in_3gpp_packets_are_held_for_50_ms_and_come_by_the_old_cell() {
    let railway = railway(&[("profile", "3gpp")]);
    let base = Duration::from_millis(20);
    for run in 0..10 {
        let timeline = drive(&railway, run).swap_remove(0);
        let delays = timeline.delays(LinkDirection::Down);
        assert_eq!(timeline.delays(LinkDirection::Up), [(Time::ZERO, base)]);
        let detours: Vec<_> = delays.windows(2).skip(1).step_by(2).collect();
        assert_eq!(detours.len(), timeline.handovers.len());
        for (handover, detour) in timeline.handovers.iter().zip(detours) {
            assert!(within(handover.end - handover.command, 35, 65));
            assert!(within(handover.command - handover.report, 30, 60));
            let [(from, delay), (until, after)] = *detour else { unreachable!() };
            let forwarding = delay - base;
            assert!(within(forwarding, 5, 20), "{forwarding:?}");
            assert_eq!((from, until, after), (handover.command, handover.end + forwarding, base));
        }
        assert!(timeline.flushes(LinkDirection::Down).is_empty());
        let held = timeline.spells(LinkDirection::Up, Service::Held);
        assert_eq!(held.len(), timeline.handovers.len());
    }
}

#[test]
fn without_forwarding_the_queue_and_what_comes_are_lost() {
    let timeline = drive(&railway(&[("forwarding", "false")]), 0).swap_remove(0);
    let lost = timeline.spells(LinkDirection::Down, Service::Lost);
    assert!(lost.iter().copied().eq(timeline.handovers.iter().map(|h| (h.command, h.end))));
    let flushes = timeline.flushes(LinkDirection::Down);
    assert_eq!(flushes.len(), lost.len());
    assert!(flushes.iter().all(|(_, bytes)| bytes.as_bytes() > 1 << 60));
}

/// Of n handovers each fails with probability 5 %; five times the binomial spread.
#[test]
fn as_measured_links_are_bad_for_seconds_and_one_in_twenty_fails() {
    let railway = railway(&[("profile", "hsr-measured"), ("length", "200 km")]);
    let ride = railway.ride(Direction::Forward);
    let (mut all, mut failed) = (0.0f64, 0.0);
    for run in 0..8 {
        let timeline = &railway.drive(&ride, ride.end().unwrap(), &Seed::of_run(1, run))[0];
        for handover in &timeline.handovers {
            all += 1.0;
            if handover.kind == HandoverKind::Failure {
                failed += 1.0;
                assert!(within(handover.end - handover.command, 1_000, 3_000));
                continue;
            }
            let (from, until) = handover.disturbed;
            assert!(within(until - from, 1_000, 3_000), "{handover:?}");
            assert!(from <= handover.command && handover.end <= until);
        }
        for direction in LinkDirection::BOTH {
            let losses = timeline.losses(direction);
            assert!(losses.iter().all(|(_, loss)| *loss <= Ratio::from_parts(7, 10)));
            let most = timeline.delays(direction).iter().map(|(_, delay)| *delay).max().unwrap();
            assert!(most > Duration::from_millis(60) && most < Duration::from_millis(101));
            let rates = timeline.rates(direction);
            assert!(rates.contains(&(rates[1].0, Bitrate::from_bps(2_500_000))), "{rates:?}");
        }
    }
    let spread = (all * 0.05 * 0.95).sqrt();
    assert!((failed - all * 0.05).abs() < 5.0 * spread, "{failed} of {all}");
}

/// Two stations 40 km apart: in between no cell can be decoded, T310 expires, and once a station
/// is audible again, the link is re-established.
#[test]
fn a_hole_in_the_network_is_a_radio_link_failure() {
    let stations = "operator,cell,chainage_m,offset_m\nA,west,0,300\nA,east,40000,300\n";
    let pairs = [("stations", stations), ("length", "40 km"), ("shadowing", "0 dB")];
    let railway = railway(&[&pairs[..], &[("variation", "0 dB")]].concat());
    let ride = railway.ride(Direction::Forward);
    let timeline = railway.drive(&ride, ride.end().unwrap(), &Seed::of_run(1, 0)).swap_remove(0);
    assert!(timeline.handovers.iter().all(|h| h.kind == HandoverKind::Failure));
    assert_eq!(timeline.handovers.last().unwrap().to, "east");
    // 33.2 + 128 - 128.1 = 33.1 dB are left for the distance: 37.6 log10 d gives 7.6 km.
    let first = timeline.handovers[0].chainage_m;
    assert!((first - 7_600.0).abs() < 100.0, "{first}");
    let last = timeline.handovers.last().unwrap();
    let back = ride.chainage_m(last.end);
    assert!((back - (40_000.0 - 7_600.0)).abs() < 400.0, "{back}");
    let lost = timeline.spells(LinkDirection::Down, Service::Lost);
    let outage: f64 = lost.iter().map(|(from, until)| (*until - *from).as_secs_f64()).sum();
    assert!(outage > 0.8 * (last.end - timeline.handovers[0].command).as_secs_f64(), "{outage}");
}

#[test]
fn what_makes_no_sense_is_refused_with_advice() {
    for row in rows(include_str!("refused.txt")) {
        assert_told(try_railway(&[(&row[0], &row[1])]).unwrap_err(), &row[2..]);
    }
}

/// The same on every machine and in every build: a different value here is a change of results, and needs a line
/// in the changelog.
#[test]
fn the_first_drive_of_seed_1_is_this_one() {
    let handovers = |profile: &'static str| {
        let timelines = drive(&railway(&[("profile", profile)]), 0);
        timelines.into_iter().flat_map(|timeline| timeline.handovers).map(move |handover| {
            let (at, gap) = (handover.command.as_nanos() / 1_000, handover.end - handover.command);
            format!("{profile} {}-{} {at} {}\n", handover.from, handover.to, gap.as_micros())
        })
    };
    let found: String = ["ns3", "3gpp", "hsr-measured"].into_iter().flat_map(handovers).collect();
    assert_eq!(found, include_str!("first-drives.txt"));
}

/// For every profile; 1,340 m at 300 km/h (83.3 m/s) take 16.1 s.
#[test]
fn an_interruption_of_ones_own_lasts_as_long_as_it_says() {
    for profile in ["ns3", "3gpp"] {
        let railway = railway(&[("profile", profile), ("interruption", "700 ms")]);
        for timeline in drive(&railway, 0) {
            assert!(!timeline.handovers.is_empty());
            let held = timeline.spells(LinkDirection::Down, Service::Held);
            assert!(held.iter().all(|(from, until)| within(*until - *from, 700, 700)), "{profile}");
        }
    }
    let error = try_railway(&[("interruption", "17 s")]).unwrap_err();
    assert_told(error, &["interruption", "16.1 s for 1340 m"]);
    assert!(try_railway(&[("interruption", "16 s")]).is_ok());
}
