//! Coupled congestion control against the goals of RFC 6356: subflows that always have data to
//! send, beside connections on a single path.

use std::net::IpAddr;

use crate::track::course::{Course, Plain, Station};
use crate::track::{Fate, Link};
use trackbed_core::{Ratio, Seed, Time};
use trackbed_tcp::congestion::{CongestionControl, Coupling, HyStart};
use trackbed_tcp::{Config, CongestionAlgorithm, Connection, algorithms};

/// An algorithm whose controllers all belong to one multipath connection.
#[derive(Debug)]
struct Joined {
    algorithm: &'static dyn CongestionAlgorithm,
    coupling: Coupling,
}

impl CongestionAlgorithm for Joined {
    fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    fn summary(&self) -> &'static str {
        self.algorithm.summary()
    }

    fn build(&self, hystart: HyStart) -> Box<dyn CongestionControl> {
        self.algorithm.join(hystart, &self.coupling)
    }
}

/// The flows of one connection: one with its algorithm, or several that are joined.
fn joined(name: &str, flows: usize) -> Vec<Config> {
    let algorithm = *algorithms().iter().find(|entry| entry.name() == name).unwrap();
    let joined = Joined { algorithm, coupling: Coupling::default() };
    let congestion: &'static Joined = Box::leak(Box::new(joined));
    vec![Config { congestion, batching: false, ..Config::default() }; flows]
}

/// What each flow gets, in Mbit/s, between second 20 and the end. Flow i takes the links
/// `routes[i]` down and has a link of its own up; all flows of `delays_ms[i]` and back.
fn rates(
    flows: &[Config],
    routes: &[&[usize]],
    up_ms: &[u64],
    down: Vec<Link>,
    end: u64,
) -> Vec<f64> {
    let address = |side: u8, flow: usize| IpAddr::from([10, side, 0, flow as u8 + 1]);
    let mut links = down;
    let first_up = links.len();
    links.extend(up_ms.iter().map(|ms| Link::new(10_000, *ms, usize::MAX)));
    let mut stations: Vec<Box<dyn Station>> = Vec::new();
    for (flow, config) in flows.iter().enumerate() {
        let (client, server) = (address(0, flow), address(1, flow));
        // The controller that counts is the sender's.
        let own = Config { batching: false, ..Config::default() };
        let connection = Connection::connect(
            Time::ZERO,
            &own,
            (client, 40_000).into(),
            (server, 80).into(),
            1_000,
        );
        stations.push(Box::new(Plain::client(connection, own)));
        stations.push(Box::new(Plain::server(config.clone())));
    }
    let mut course = Course::new(stations, links);
    for (flow, route) in routes.iter().enumerate() {
        let (client, server) = (address(0, flow), address(1, flow));
        course.route(client, server, &[first_up + flow], 2 * flow + 1);
        course.route(server, client, route, 2 * flow);
    }
    course.rates(20, end)
}

fn lossy(delay_ms: u64, loss_per_million: u64, name: &str) -> Link {
    let rng = Seed::of_run(1, 0).stream(name);
    let fate = Fate::Random(Ratio::from_parts(loss_per_million, 1_000_000), Box::new(rng));
    Link::new(10_000, delay_ms, usize::MAX).with_fate(fate)
}

/// A bottleneck of this rate with a round trip of 50 ms and a queue of one more.
fn bottleneck(rate_mbps: u64) -> Link {
    let queue = (rate_mbps * 50_000 / 8 / 1_500).max(20) as usize;
    Link::new(rate_mbps, 25, queue)
}

/// Every algorithm that couples paths.
fn coupled() -> impl Iterator<Item = &'static str> {
    algorithms().iter().filter(|entry| entry.is_coupled()).map(|entry| entry.name())
}

/// When a measurement ends, in seconds.
const END: u64 = 320;

/// RFC 6356 section 2, goals 1 and 3, where losses are given: all subflows together are as fast as
/// one connection on the best path. The formulas reach that on average; because windows oscillate,
/// the result deviates a little.
#[test]
fn together_subflows_are_as_fast_as_one_connection_on_the_best_path() {
    for (second_ms, second_loss) in [(25, 1_000), (50, 1_000), (25, 4_000)] {
        let total = |name: &str| {
            let links = vec![lossy(25, 1_000, "first"), lossy(second_ms, second_loss, "second")];
            let rates = rates(&joined(name, 2), &[&[0], &[1]], &[25, second_ms], links, END);
            (rates[0], rates[0] + rates[1])
        };
        // Without coupling the first is a connection on the best path; together they are faster.
        let (best, uncoupled) = total("reno");
        assert!(uncoupled > 1.4 * best, "{uncoupled} against {best}");
        for name in coupled() {
            let ratio = total(name).1 / best;
            assert!((0.85..1.15).contains(&ratio), "{name}, {second_ms} ms: {ratio}");
        }
    }
}

/// RFC 6356 section 2, goal 2: at a bottleneck that all share, two subflows take no more than one
/// connection does.
#[test]
fn at_a_shared_bottleneck_subflows_take_the_share_of_one_connection() {
    let share = |name: &str| {
        let flows = [joined(name, 2), joined("reno", 1), joined("reno", 1)].concat();
        let rates = rates(&flows, &[&[0][..]; 4], &[25; 4], vec![bottleneck(20)], END);
        (rates[0] + rates[1]) / ((rates[2] + rates[3]) / 2.0)
    };
    let uncoupled = share("reno");
    assert!((1.7..2.3).contains(&uncoupled), "{uncoupled}");
    for name in coupled() {
        let share = share(name);
        assert!((0.75..1.2).contains(&share), "{name}: {share}");
    }
}

/// RFC 6356 section 2, goal 1: a connection over two bottlenecks, each with a competitor, gets at
/// least what the better one alone would give.
#[test]
fn two_bottlenecks_give_at_least_what_the_better_one_does() {
    for name in coupled() {
        let flows = [joined(name, 2), joined("reno", 1), joined("reno", 1)].concat();
        let links = vec![bottleneck(20), bottleneck(5)];
        let rates = rates(&flows, &[&[0], &[1], &[0], &[1]], &[25; 4], links, END);
        // Half of 20 Mbit/s, headers taken off.
        let alone = 10.0 * 1_448.0 / 1_500.0;
        let ratio = (rates[0] + rates[1]) / alone;
        assert!(ratio > 0.95, "{name}: {ratio}, {rates:?}");
    }
}

#[test]
fn idle_bottlenecks_are_both_filled() {
    for name in algorithms().iter().map(|entry| entry.name()) {
        let links = vec![bottleneck(10), bottleneck(10)];
        let rates = rates(&joined(name, 2), &[&[0], &[1]], &[25, 25], links, 120);
        let ratio = (rates[0] + rates[1]) / (20.0 * 1_448.0 / 1_500.0);
        assert!(ratio > 0.97, "{name}: {ratio}");
    }
}

/// A subflow without data does not grow, and so does not take the growth of the others for later. While it is
/// acknowledged, it does not shrink either.
#[test]
fn a_window_that_is_not_used_stays_as_it_is() {
    for name in coupled() {
        let flow = |name| joined(name, 1).remove(0);
        let mut track = crate::track::Track::new(
            [flow("reno"), flow(name)],
            [25, 25].map(|ms| Link::new(100, ms, 1_000)),
        );
        crate::track::request(&mut track, 20_000);
        let mut windows = Vec::new();
        // A segment each round trip, for ever less than the window.
        for _ in 0..200 {
            let now = track.now;
            track.server().write(now, &[0; 1_000]).unwrap();
            track.flush(1);
            for _ in 0..4 {
                track.step();
                (0..2).for_each(|end| track.flush(end));
            }
            windows.push(track.server().stats().cwnd_segments);
        }
        // What was still to be acknowledged of the request's answer may raise it.
        assert!(windows[10..].iter().all(|window| *window == windows[10]), "{name}: {windows:?}");
    }
}
