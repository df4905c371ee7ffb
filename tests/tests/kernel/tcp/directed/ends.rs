//! How connections begin, idle and end.

use trackbed_net::models::loss::Listed;
use trackbed_tcp::config::KeepAlive;

use super::{DOWN, UP, ms, played, segments, sending, setup};
use crate::app::{End, Failure, Pace};
use crate::tcp::ground::{Setup, play};
use crate::tcp::wire::{at, sent};
use crate::*;

#[test]
fn a_closed_port_refuses() {
    where_possible!();
    for ipv6 in [false, true] {
        let mut refused = Setup { ipv6, ..setup("closed port") };
        refused.kernel.absent = true;
        let outcome = play(&refused);
        let engine = outcome.engine.as_ref().expect("the engine has an answer");
        assert_eq!(engine.report.failure, Some(Failure::Refused));
        assert!(segments(&outcome, DOWN)[0].has(Flags::RST));

        let mut refused = Setup { ipv6, engine_dials: false, ..setup("closed port") };
        refused.engine.absent = true;
        assert_eq!(play(&refused).kernel.report.failure, Some(Failure::Refused));
    }
}

/// One segment of a connection without data is lost, the first, second or third of its direction:
/// the SYN or SYN-ACK, and the FIN, which may carry an acknowledgment or follow it.
#[test]
fn the_loss_of_a_syn_or_fin_is_repaired() {
    where_possible!();
    for (engine_dials, direction) in [(true, UP), (true, DOWN), (false, UP), (false, DOWN)] {
        let mut lost = Vec::new();
        for number in [1, 2, 3] {
            let mut setup = Setup { engine_dials, ..setup("syn and fin") };
            let link = if direction == UP { &mut setup.up } else { &mut setup.down };
            *link = link.clone().with(Loss::new(Listed::new([number])));
            let outcome = played(&setup);
            let point = Point::Dropped(DropReason::Loss);
            lost.extend(at(&outcome.packets, direction, point).map(|(_, segment)| segment));
        }
        for flag in [Flags::SYN, Flags::FIN] {
            assert!(lost.iter().any(|segment| segment.has(flag)), "{direction:?}: {lost:?}");
        }
    }
}

/// RFC 9293 section 3.8.4: an idle connection is probed, answers, and lives on.
#[test]
fn idle_connections_are_kept_alive_by_either_side() {
    where_possible!();
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

/// Both FINs are in flight at the same time (RFC 9293 section 3.6, case 3).
#[test]
fn both_sides_may_close_at_once() {
    where_possible!();
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
    where_possible!();
    for engine_closes_first in [true, false] {
        let mut setup = sending(setup("half-close"), 100_000, 1_000_000);
        let (closed, open) = if engine_closes_first { (UP, DOWN) } else { (DOWN, UP) };
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
    where_possible!();
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
