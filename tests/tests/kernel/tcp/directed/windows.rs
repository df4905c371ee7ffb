//! Windows that are shut, and windows that are small.

use trackbed_tcp::config::BufferSize;

use super::{DOWN, UP, ms, played, segments, sending, setup};
use crate::app::Script;
use crate::tcp::wire::{at, sent};
use crate::*;

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
            setup.engine.config.receive_buffer = BufferSize { initial: 20_000, max: 20_000 };
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
fn either_side_probes_a_window_that_the_other_shuts() {
    where_possible!();
    [true, false].into_iter().for_each(a_shut_window_is_probed);
}

/// A window that holds less than a segment is filled without waiting for probes, the engine's as
/// the kernel offers it (RFC 9293 section 3.8.6.2.1).
#[test]
fn a_window_below_a_segment_is_used() {
    where_possible!();
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
