//! Signals between both ends, or from a router: marks, options, sizes.

use trackbed_core::packet::{Ecn, protocol};
use trackbed_net::queue::Codel;

use super::{DOWN, UP, count, ms, played, segments, sending, setup};
use crate::capture::Seen;
use crate::tcp::ground::{Outcome, Setup};
use crate::*;

/// RFC 3168: marks instead of losses, echoes until the sender has reduced, and a smaller window.
fn congestion_is_marked(from_engine: bool) {
    let mut setup = setup("ecn");
    let slow = LinkSpec::new()
        .with(Rate::new(Bitrate::from_mbps(10), Codel::default()))
        .with(Delay::fixed(ms(10)));
    (setup.up, setup.down) = (slow.clone(), slow);
    setup.engine.config.ecn = EcnMode::Active;
    setup.kernel.settings.push(("tcp_ecn", "1".to_owned()));
    let (setup, data, echoes) = match from_engine {
        true => (sending(setup, 2_000_000, 0), UP, DOWN),
        false => (sending(setup, 0, 2_000_000), DOWN, UP),
    };
    let outcome = played(&setup);
    let packets = &outcome.packets;
    assert!(count(packets, data, Point::Altered(Alteration::Marked)) > 0, "nothing was marked");
    assert_eq!(count(packets, data, Point::Dropped(DropReason::QueueManagement)), 0);
    let echoed = |segment: &Segment| segment.has(Flags::ECE) && !segment.has(Flags::SYN);
    assert!(segments(&outcome, echoes).iter().any(echoed), "no mark was echoed");
    let reduced = |segment: &Segment| segment.has(Flags::CWR) && !segment.has(Flags::SYN);
    assert!(segments(&outcome, data).iter().any(reduced), "no side reports that it has reduced");
    let capable = |segment: &Segment| segment.ecn == Ecn::Ect0 && !segment.payload.is_empty();
    assert!(segments(&outcome, data).iter().any(capable));
    // Behind the first echo less is in flight: CUBIC keeps 717/1024 (RFC 9438 section 4.6).
    let (flights, first_echo) = flights(packets, data);
    let first_echo = first_echo.expect("an echo arrives");
    let before = *flights[..first_echo].iter().max().expect("data was sent before");
    let whole_flights = flights.len() - flights.len() / 5;
    let after = *flights[first_echo..whole_flights].iter().min().expect("data was sent behind");
    assert!(after * 10 <= before * 8, "{before} bytes in flight became {after}");
}

#[test]
fn either_side_reduces_its_window_when_the_other_echoes_marks() {
    where_possible!();
    [true, false].into_iter().for_each(congestion_is_marked);
}

/// With everything on, options are used; with one side's off, they are not: `wire::options` looks.
#[test]
fn options_are_used_only_where_both_offer_them() {
    where_possible!();
    let lossy = |name: &str| {
        let mut setup = sending(setup(name), 300_000, 300_000);
        let loss = Loss::bernoulli(Ratio::from_parts(2, 100));
        (setup.up, setup.down) = (setup.up.with(loss.clone()), setup.down.with(loss));
        setup
    };
    let blocks = |outcome: &Outcome, direction| {
        segments(outcome, direction).iter().any(|segment| !segment.options.sack.is_empty())
    };
    let outcome = played(&lossy("everything"));
    assert!(blocks(&outcome, UP) && blocks(&outcome, DOWN), "no SACK blocks where both offer");
    for name in ["tcp_timestamps", "tcp_sack", "tcp_window_scaling"] {
        let mut setup = lossy(name);
        setup.kernel.settings.push((name, "0".to_owned()));
        played(&setup);
        setup.kernel.settings.clear();
        let config = &mut setup.engine.config;
        match name {
            "tcp_timestamps" => config.timestamps = false,
            "tcp_sack" => config.sack = false,
            _ => config.window_scaling = false,
        }
        let outcome = played(&setup);
        let syns = [UP, DOWN].map(|direction| segments(&outcome, direction)[0].options.clone());
        match name {
            "tcp_timestamps" => assert!(syns.iter().all(|syn| syn.timestamps.is_none())),
            "tcp_sack" => assert!(syns.iter().all(|syn| !syn.sack_permitted)),
            _ => assert!(syns.iter().all(|syn| syn.window_scale.is_none())),
        }
    }
}

/// RFC 1191, RFC 8201: a router in between reports packets that are too big, to either sender.
#[test]
fn a_narrower_path_is_learnt_by_either_side() {
    where_possible!();
    for ipv6 in [false, true] {
        let mut setup = Setup { ipv6, ..sending(setup("path MTU"), 300_000, 300_000) };
        setup.path_mtu = Some(1_300);
        let outcome = played(&setup);
        for direction in [UP, DOWN] {
            let refused = count(&outcome.packets, direction, Point::Dropped(DropReason::TooBig));
            assert!(refused > 0, "nothing was too big");
            let icmp = [protocol::ICMP, protocol::ICMPV6];
            assert!(outcome.packets.iter().any(|seen| {
                seen.direction == direction && icmp.contains(&seen.packet.protocol())
            }));
        }
    }
}

/// How many bytes were in flight after each segment with data, and how many such segments had been
/// sent when the first echo of a mark came.
fn flights(packets: &[Seen], direction: Direction) -> (Vec<u32>, Option<usize>) {
    let back = if direction == UP { DOWN } else { UP };
    let (mut flights, mut first_echo) = (Vec::new(), None);
    let mut una = None;
    for seen in packets {
        let Ok(segment) = Segment::parse(&seen.packet) else { continue };
        if (seen.direction, seen.point) == (direction, Point::Entered) {
            let end = segment.end();
            if !segment.payload.is_empty() {
                flights.push(end.since(una.unwrap_or(end)));
            }
        } else if (seen.direction, seen.point) == (back, Point::Delivered) {
            una = Some(segment.acknowledgment);
            if segment.has(Flags::ECE) && !segment.has(Flags::SYN) {
                first_echo.get_or_insert(flights.len());
            }
        }
    }
    (flights, first_echo)
}
