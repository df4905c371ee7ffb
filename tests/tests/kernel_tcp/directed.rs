//! One subject each: what the wire must show of it.

use std::time::Duration;

use trackbed_core::packet::{Ecn, protocol};
use trackbed_core::{Bitrate, Ratio, Seed};
use trackbed_net::models::loss::Listed;
use trackbed_net::models::{Delay, Loss, Rate};
use trackbed_net::queue::{Codel, DropTail};
use trackbed_net::{Alteration, Direction, DropReason, LinkSpec, Point};
use trackbed_tcp::config::{BufferSize, EcnMode, KeepAlive};
use trackbed_tcp::{Config, Flags, Segment};

use crate::app::{End, Failure, Pace, Script};
use crate::capture::Seen;
use crate::ground::{Outcome, Setup, play};
use crate::is_possible;
use crate::verdict;
use crate::wire::{at, sent};

const UP: Direction = Direction::Forward;
const DOWN: Direction = Direction::Backward;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// 50 Mbit/s and 5 ms each way; the seed is that of the subject.
fn setup(name: &str) -> Setup {
    let link = LinkSpec::simple(Bitrate::from_mbps(50), DropTail::of_packets(200), ms(5));
    let seed = Seed::of_run(0, 0).child(name);
    Setup { seed, up: link.clone(), down: link, ..Setup::default() }
}

fn sending(mut setup: Setup, from_engine: u64, from_kernel: u64) -> Setup {
    setup.engine.script.send = from_engine;
    setup.kernel.script.send = from_kernel;
    setup
}

/// Plays it, and holds it to what every case has to keep to.
fn played(setup: &Setup) -> Outcome {
    let outcome = play(setup);
    let problems = verdict::problems(setup, &outcome);
    if !problems.is_empty() {
        let path = std::env::temp_dir().join("trackbed-kernel-tcp-directed.pcapng");
        let written = crate::capture::write(&path, "", &outcome.packets);
        panic!("{problems:#?}\npackets: {} ({written:?})", path.display());
    }
    outcome
}

fn count(packets: &[Seen], direction: Direction, point: Point) -> usize {
    packets.iter().filter(|seen| (seen.direction, seen.point) == (direction, point)).count()
}

/// Segments that one side sends.
fn segments(outcome: &Outcome, direction: Direction) -> Vec<Segment> {
    sent(&outcome.packets, direction).map(|(_, segment)| segment).collect()
}

/// How much was in flight after each new segment, while there was more to send.
fn flights(packets: &[Seen], direction: Direction) -> (Vec<u32>, Option<usize>) {
    let back = if direction == UP { DOWN } else { UP };
    let (mut flights, mut first_echo) = (Vec::new(), None);
    let (mut next, mut una) = (None, None);
    for seen in packets {
        let Ok(segment) = Segment::parse(&seen.packet) else { continue };
        if (seen.direction, seen.point) == (direction, Point::Entered) {
            let end = segment.end();
            next = Some(next.map_or(end, |next| end.max(next)));
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
    assert!(segments(&outcome, data).iter().any(reduced), "nobody says that it has reduced");
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
fn the_engine_reduces_its_window_when_the_kernel_echoes_marks() {
    if is_possible() {
        congestion_is_marked(true);
    }
}

#[test]
fn the_kernel_reduces_its_window_when_the_engine_echoes_marks() {
    if is_possible() {
        congestion_is_marked(false);
    }
}

/// With everything on, options are used; with one side's off, they are not: `wire::options` looks.
#[test]
fn options_are_used_only_where_both_offer_them() {
    if !is_possible() {
        return;
    }
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
        let syns = [UP, DOWN].map(|direction| segments(&outcome, direction)[0].options);
        match name {
            "tcp_timestamps" => assert!(syns.iter().all(|syn| syn.timestamps.is_none())),
            "tcp_sack" => assert!(syns.iter().all(|syn| !syn.sack_permitted)),
            _ => assert!(syns.iter().all(|syn| syn.window_scale.is_none())),
        }
    }
}

/// RFC 9293 section 3.8.6.1: a shut window is probed, each probe is answered, and data goes on.
fn a_shut_window_is_probed(from_engine: bool) {
    let mut setup = setup("zero window");
    let slow = Script { stall: Some((1, ms(3_500))), ..Script::default() };
    let (data, answers) = match from_engine {
        true => {
            setup.kernel.options.receive_buffer = Some(10_000);
            setup.kernel.script = slow;
            setup = sending(setup, 200_000, 0);
            (UP, DOWN)
        }
        false => {
            let receive_buffer = BufferSize { initial: 20_000, max: 20_000 };
            setup.engine.config.receive_buffer = receive_buffer;
            setup.engine.script = slow;
            setup = sending(setup, 0, 200_000);
            (DOWN, UP)
        }
    };
    let outcome = played(&setup);
    let shut = |segment: &Segment| segment.window == 0 && !segment.has(Flags::RST);
    let shut_at = sent(&outcome.packets, answers)
        .find(|(_, segment)| shut(segment))
        .map(|(seen, segment)| (seen.at, segment.acknowledgment))
        .expect("the window is shut");
    let probes = sent(&outcome.packets, data)
        .filter(|(seen, segment)| {
            seen.at > shut_at.0 && segment.payload.is_empty() && segment.sequence.before(shut_at.1)
        })
        .count();
    let answers = segments(&outcome, answers).iter().filter(|segment| shut(segment)).count();
    // The first after 0.2 s or more, then 0.4, 0.8 s.
    assert!(probes >= 2 && answers > 2, "{probes} probes, {answers} times shut");
}

#[test]
fn the_engine_probes_a_window_that_the_kernel_shuts() {
    if is_possible() {
        a_shut_window_is_probed(true);
    }
}

#[test]
fn the_kernel_probes_a_window_that_the_engine_shuts() {
    if is_possible() {
        a_shut_window_is_probed(false);
    }
}

#[test]
fn a_closed_port_refuses() {
    if !is_possible() {
        return;
    }
    for ipv6 in [false, true] {
        let mut refused = Setup { ipv6, ..setup("closed port") };
        refused.kernel.absent = true;
        let outcome = play(&refused);
        let engine = outcome.engine.as_ref().expect("the engine has an answer");
        assert_eq!(engine.report.failure, Some(Failure::Refused));
        assert!(segments(&outcome, DOWN)[0].has(Flags::RST));

        let mut refused = Setup { ipv6, engine_dials: false, ..setup("closed port") };
        refused.engine.absent = true;
        let outcome = play(&refused);
        assert_eq!(outcome.kernel.report.failure, Some(Failure::Refused));
    }
}

/// The first segments of a connection and the last ones are lost, one at a time.
#[test]
fn the_loss_of_a_syn_or_fin_is_repaired() {
    if !is_possible() {
        return;
    }
    for engine_dials in [true, false] {
        // The SYN or SYN-ACK is the first packet of its direction; with nothing to send, the FIN
        // is the second or third.
        for (direction, number) in [(UP, 1), (DOWN, 1), (UP, 2), (DOWN, 2), (UP, 3), (DOWN, 3)] {
            let mut setup = Setup { engine_dials, ..setup("syn and fin") };
            let loss = Loss::new(Listed::new([number]));
            match direction {
                UP => setup.up = setup.up.with(loss),
                DOWN => setup.down = setup.down.with(loss),
            }
            let outcome = played(&setup);
            assert_eq!(count(&outcome.packets, direction, Point::Dropped(DropReason::Loss)), 1);
        }
    }
}

/// RFC 9293 section 3.8.4: an idle connection is probed, answers, and lives on.
#[test]
fn idle_connections_are_kept_alive_by_either_side() {
    if !is_possible() {
        return;
    }
    for from_engine in [true, false] {
        let mut setup = setup("keep-alive");
        setup.engine.script.end = End::CloseAfter(ms(3_500));
        let second = ms(1_000);
        match from_engine {
            true => {
                let keepalive = KeepAlive { idle: second, interval: second, probes: 5 };
                setup.engine.config.keepalive = Some(keepalive);
            }
            false => setup.kernel.options.keep_alive = Some(second),
        }
        setup.kernel.script.end = End::CloseAfter(ms(3_500));
        let outcome = played(&setup);
        let asks = if from_engine { UP } else { DOWN };
        let opened = segments(&outcome, asks)[0].sequence;
        // A probe repeats a sequence number that is acknowledged: that of the SYN.
        let is_probe = |segment: &&Segment| !segment.has(Flags::SYN) && segment.sequence == opened;
        let probes = segments(&outcome, asks).iter().filter(is_probe).count();
        assert!(probes >= 2, "{probes} probes in 3.5 s");
    }
}

/// Both FINs are on the way at the same time (RFC 9293 section 3.6, case 3).
#[test]
fn both_sides_may_close_at_once() {
    if !is_possible() {
        return;
    }
    for engine_dials in [true, false] {
        let mut setup = Setup { engine_dials, ..setup("simultaneous close") };
        let far = LinkSpec::new().with(Delay::fixed(ms(300)));
        (setup.up, setup.down) = (far.clone(), far);
        // Who dials is connected one way earlier.
        let (dialler, other) = (End::CloseAfter(ms(500)), End::CloseAfter(ms(200)));
        (setup.engine.script.end, setup.kernel.script.end) =
            if engine_dials { (dialler, other) } else { (other, dialler) };
        let outcome = played(&setup);
        let fin_at = |direction, point| {
            let mut fins = at(&outcome.packets, direction, point)
                .filter(|(_, segment)| segment.has(Flags::FIN))
                .map(|(seen, _)| seen.at);
            fins.next().expect("a FIN")
        };
        assert!(fin_at(UP, Point::Entered) < fin_at(DOWN, Point::Delivered));
        assert!(fin_at(DOWN, Point::Entered) < fin_at(UP, Point::Delivered));
    }
}

/// RFC 9293 section 3.6: who has closed may go on receiving.
#[test]
fn data_flows_into_a_half_closed_connection() {
    if !is_possible() {
        return;
    }
    for engine_closes_first in [true, false] {
        let mut setup = sending(setup("half-close"), 100_000, 1_000_000);
        let (closed, open) = match engine_closes_first {
            true => (UP, DOWN),
            false => (DOWN, UP),
        };
        if !engine_closes_first {
            std::mem::swap(&mut setup.engine.script.send, &mut setup.kernel.script.send);
        }
        setup.engine.script.after_peer = !engine_closes_first;
        setup.kernel.script.after_peer = engine_closes_first;
        let outcome = played(&setup);
        let fin_at = at(&outcome.packets, closed, Point::Delivered)
            .find(|(_, segment)| segment.has(Flags::FIN))
            .map(|(seen, _)| seen.at)
            .expect("a FIN");
        let mut data =
            sent(&outcome.packets, open).filter(|(_, segment)| !segment.payload.is_empty());
        assert!(data.all(|(seen, _)| seen.at > fin_at));
    }
}

/// RFC 9293 section 3.10.5: in the midst of data in both directions.
#[test]
fn a_reset_is_seen_as_one_by_either_side() {
    if !is_possible() {
        return;
    }
    for engine_aborts in [true, false] {
        let mut setup = sending(setup("reset"), 20_000_000, 20_000_000);
        setup.engine.script.read = Pace { block: 20_000, pause: ms(1) };
        let abort = End::Abort(ms(400));
        match engine_aborts {
            true => setup.engine.script.end = abort,
            false => setup.kernel.script.end = abort,
        }
        let outcome = played(&setup);
        let direction = if engine_aborts { UP } else { DOWN };
        assert!(segments(&outcome, direction).iter().any(|segment| segment.has(Flags::RST)));
    }
}

/// RFC 1191, RFC 8201: a router in between says that packets are too big, to either sender.
#[test]
fn a_narrower_path_is_learnt_by_either_side() {
    if !is_possible() {
        return;
    }
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

/// A window that holds less than a segment is filled without waiting for probes, the engine's as
/// the kernel offers it (RFC 9293 section 3.8.6.2.1).
#[test]
fn a_window_below_a_segment_is_used() {
    if !is_possible() {
        return;
    }
    let mut setup = sending(setup("small window"), 200_000, 0);
    setup.engine.config = Config { mtu: 9_000, nagle: false, ..Config::default() };
    setup.kernel.mtu = 9_000;
    setup.kernel.options.receive_buffer = Some(2_500);
    let outcome = played(&setup);
    let data = at(&outcome.packets, UP, Point::Entered);
    let largest = data.map(|(_, segment)| segment.payload.len()).max();
    assert!(largest < Some(8_000), "the window took whole segments: {largest:?}");
    let engine = outcome.engine.expect("the engine has ended");
    let took = engine.report.done_at.zip(engine.report.opened_at).map(|(end, begin)| end - begin);
    // By probes alone, 40 or more would have to wait for 200 ms each.
    assert!(took < Some(Duration::from_secs(6)), "it took {took:?}");
}
