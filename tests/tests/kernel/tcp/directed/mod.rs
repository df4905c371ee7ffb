//! One subject each, checked on the wire.

mod ends;
mod signals;
mod windows;

use super::ground::{Outcome, Setup, play};
use super::wire::sent;
use crate::capture::Seen;
use crate::*;

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

/// Plays it, and checks the rules of every case.
fn played(setup: &Setup) -> Outcome {
    let outcome = play(setup);
    let problems = super::problems(setup, &outcome);
    if !problems.is_empty() {
        let test = thread::current().name().unwrap_or("test").replace("::", "-");
        let packets = random::keep(&format!("tcp-{test}"), &test, &outcome.packets);
        panic!("{problems:#?}\n{packets}");
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
