//! Schedulers and coupled congestion control in the engine: the throughput of several paths, shares
//! of a common bottleneck, and the benefit of predicted outages.

use crate::course::Course;
use crate::paths::{Lane, World, client_ip};
use crate::track::*;
use trackbed_tcp::schedulers::{SchedulingAlgorithm, algorithms};

fn scheduler(name: &str) -> &'static SchedulingAlgorithm {
    algorithms().iter().find(|entry| entry.name == name).unwrap()
}

/// Every congestion controller that couples paths.
fn coupled() -> impl Iterator<Item = &'static str> {
    trackbed_tcp::algorithms().iter().filter(|entry| entry.is_coupled).map(|entry| entry.name)
}

/// The settings with this congestion controller, without bursts.
fn controlled(congestion: &str) -> MultipathConfig {
    let tcp = Config { batching: false, ..tcp(congestion) };
    MultipathConfig { tcp, ..MultipathConfig::default() }
}

fn address(host: u8, path: usize, side: u8) -> IpAddr {
    [10, host, path as u8, side].into()
}

/// A download over as many paths as there are links in each direction, and one by Reno over a single
/// path for each further entry of `rivals`, which names the link that it shares.
fn course(config: &MultipathConfig, down: Vec<Link>, rivals: &[usize]) -> Course {
    let count = down.len();
    let mut links = down;
    // Acknowledgments use separate links.
    links.extend((0..count + rivals.len()).map(|_| Link::new(1_000, 25, usize::MAX)));
    let mut course = Course::new(links);
    let ends = |host| ((address(host, 0, 1), 40_000).into(), (address(host, 0, 2), 80).into());
    let endpoints = (1..count).map(|path| Endpoint::subflow(address(0, path, 1))).collect();
    course.connect([MultipathConfig { endpoints, ..config.clone() }, config.clone()], ends(0));
    for path in 0..count {
        course.route(address(0, path, 1), address(0, 0, 2), &[count + path], 1);
        course.route(address(0, 0, 2), address(0, path, 1), &[path], 0);
    }
    for (rival, &shared) in rivals.iter().enumerate() {
        let (host, client) = (rival as u8 + 1, 2 * rival + 2);
        course.connect([config.clone(), controlled("reno")], ends(host));
        course.route(address(host, 0, 1), address(host, 0, 2), &[2 * count + rival], client + 1);
        course.route(address(host, 0, 2), address(host, 0, 1), &[shared], client);
    }
    course
}

/// The share of a link's rate that can be payload: 1,420 of 1,500 bytes, with headers (40),
/// timestamps (12) and mappings (28).
const PAYLOAD: f64 = 1_420.0 / 1_500.0;

/// Two clean paths of 25 Mbit/s are used as one of 50. Redundant carries all twice, Peekaboo and
/// reinjection pay for what they try.
#[test]
fn two_clean_paths_add_up() {
    let cases = algorithms().iter().map(|entry| ("lia", entry.name));
    let others = ["reno", "cubic", "olia", "balia"].map(|congestion| (congestion, "minrtt"));
    for (congestion, name) in cases.chain(others) {
        let least = match name {
            "redundant" => 0.475,
            "peekaboo" => 0.8,
            "reinject" => 0.85,
            _ => 0.95,
        };
        let (scheduler, tcp) = (scheduler(name), tcp(congestion));
        let config = MultipathConfig { scheduler, tcp, ..MultipathConfig::default() };
        let mut course = course(&config, vec![Link::new(25, 15, 150), Link::new(25, 35, 150)], &[]);
        let share = course.rates(10, 40)[0] / (50.0 * PAYLOAD);
        assert!((least..1.001).contains(&share), "{name}, {congestion}: {share}");
    }
}

/// RFC 6356 section 2, goals 1 and 3, where losses are given: all subflows together are as fast as
/// one connection on the best path. The formulas reach that on average; because windows oscillate,
/// the result deviates a little.
#[test]
fn together_subflows_are_as_fast_as_one_connection_on_the_best_path() {
    let lossy = |delay_ms, loss_per_million, name| {
        let rng = Seed::of_run(1, 0).stream(name);
        let fate = Fate::Random(Ratio::from_parts(loss_per_million, 1_000_000), Box::new(rng));
        Link::new(10_000, delay_ms, usize::MAX).with_fate(fate)
    };
    let first = || lossy(25, 1_000, "first");
    let rate = |name, links| course(&controlled(name), links, &[]).rates(20, 320)[0];
    let best = rate("reno", vec![first()]);
    for (second_ms, second_loss) in [(25, 1_000), (50, 1_000), (25, 4_000)] {
        let both = || vec![first(), lossy(second_ms, second_loss, "second")];
        // Without coupling they are faster.
        let uncoupled = rate("reno", both());
        assert!(uncoupled > 1.4 * best, "{uncoupled} against {best}");
        for name in coupled() {
            let ratio = rate(name, both()) / best;
            assert!((0.85..1.15).contains(&ratio), "{name}, {second_ms} ms: {ratio}");
        }
    }
}

/// RFC 6356 section 2, goal 2: both subflows through one bottleneck take what one connection does.
#[test]
fn at_a_shared_bottleneck_subflows_take_the_share_of_one_connection() {
    let share = |congestion: &str| {
        let links = vec![Link::new(20, 25, 85), Link::new(1_000, 0, 1_000)];
        let mut course = course(&controlled(congestion), links, &[0, 0]);
        // Both subflows through the first link.
        course.route(address(0, 0, 2), address(0, 1, 1), &[0], 0);
        let rates = course.rates(20, 320);
        rates[0] / ((rates[1] + rates[2]) / 2.0)
    };
    let uncoupled = share("reno");
    assert!((1.7..2.3).contains(&uncoupled), "{uncoupled}");
    for name in coupled() {
        let share = share(name);
        assert!((0.75..1.2).contains(&share), "{name}: {share}");
    }
}

/// RFC 6356 section 2, goal 1: with a rival on each path, no less than on the better one alone.
#[test]
fn coupled_subflows_get_at_least_what_the_best_path_gives() {
    for name in coupled() {
        let links = vec![Link::new(20, 25, 85), Link::new(5, 25, 40)];
        let rate = course(&controlled(name), links, &[0, 1]).rates(20, 320)[0];
        assert!(rate > 0.95 * 10.0 * PAYLOAD, "{name}: {rate}");
    }
}

/// A queue that holds as much as is on the way is enough to keep both links busy.
#[test]
fn coupled_subflows_fill_two_idle_bottlenecks() {
    for name in coupled() {
        let links = vec![Link::new(10, 25, 41), Link::new(10, 25, 41)];
        let share = course(&controlled(name), links, &[]).rates(20, 120)[0] / (20.0 * PAYLOAD);
        assert!(share > 0.97, "{name}: {share}");
    }
}

/// A subflow without data does not grow, and so does not take the growth of the others for later. While it is
/// acknowledged, it does not shrink either.
#[test]
fn a_window_that_is_not_used_stays_as_it_is() {
    for name in coupled() {
        let configs = ["reno", name].map(|congestion| controlled(congestion).tcp);
        let mut track = Track::new(configs, [25, 25].map(|ms| Link::new(100, ms, 1_000)));
        request(&mut track, 20_000);
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

/// Which side knows of an outage in advance, with the true times.
#[derive(Clone, Copy)]
enum Foresight {
    Nobody,
    /// The sender blocks the path (PHA), or with a negative lead notices the outage.
    Sender {
        lead_ms: i64,
    },
    /// The receiver asks for it by MP_PRIO (PHA-D).
    Receiver {
        lead_ms: i64,
    },
}

/// A download of 24 MB over 25 Mbit/s at 20 ms and 15 Mbit/s at 35 ms, with an outage of the first
/// path from 4.0 to 4.3 s.
fn outage(config: MultipathConfig, foresight: Foresight) -> World {
    let mut lanes = vec![Lane::new(25, 20), Lane::new(15, 35)];
    let ms = Time::from_millis;
    lanes[0].outages = vec![(ms(4_000), ms(4_300))];
    let client = MultipathConfig {
        endpoints: vec![Endpoint::subflow(client_ip(1))],
        ..MultipathConfig::default()
    };
    let mut world = World::new(1, [client, config], lanes);
    world.hosts[0].log = Some(Vec::new());
    world.hosts[1].to_write = 24_000_000;
    world.capture = Some(Vec::new());
    world.open();
    let (lead_ms, teller) = match foresight {
        Foresight::Nobody => (None, 1),
        Foresight::Sender { lead_ms } => (Some(lead_ms), 1),
        Foresight::Receiver { lead_ms } => (Some(lead_ms), 0),
    };
    let begin = |lead: i64| 4_000_u64.saturating_add_signed(-lead);
    for (at, bad) in lead_ms.into_iter().flat_map(|lead| [(begin(lead), true), (4_300, false)]) {
        world.run_until(ms(at));
        let connection = world.hosts[teller].connection();
        let told = match foresight {
            Foresight::Receiver { .. } => connection.set_backup(ms(at), PathId(0), bad),
            _ => connection.set_blocked(ms(at), PathId(0), bad),
        };
        assert!(told);
        world.flush(teller);
    }
    world.run_until(ms(60_000));
    assert!(world.is_complete(), "{} read", world.hosts[0].read);
    world
}

/// The longest time without new data around the outage, and retransmissions on the first path.
fn harm(world: &mut World) -> (Duration, u64) {
    let log = world.hosts[0].log.take().unwrap();
    let times: Vec<Time> = log.iter().map(|(at, _)| *at).collect();
    let during = |at: &Time| (Time::from_millis(3_950)..Time::from_millis(4_500)).contains(at);
    let gap = times.windows(2).filter(|pair| during(&pair[0])).map(|pair| pair[1] - pair[0]).max();
    (gap.unwrap(), world.hosts[1].connection().stats().retransmissions)
}

/// The benefit of handover-aware scheduling, with the true times. Data that a path was given leaves
/// by that path: with `linux` and `sttf`, which let long queues form, the warning must come
/// earlier. With `linux` the queue still holds the stream up for 150 ms, in place of 480.
#[test]
fn who_foresees_an_outage_loses_nothing_in_it() {
    for entry in algorithms() {
        let lead_ms = if ["linux", "sttf"].contains(&entry.name) { 1_000 } else { 200 };
        let measure = |foresight| {
            let config =
                MultipathConfig { scheduler: entry, proactive: true, ..Default::default() };
            harm(&mut outage(config, foresight))
        };
        let plain = measure(Foresight::Nobody);
        for foresight in [Foresight::Sender { lead_ms }, Foresight::Receiver { lead_ms }] {
            let aware = measure(foresight);
            let name = entry.name;
            assert!(aware.0 * 3 < plain.0 && aware.1 < plain.1, "{name}: {plain:?} {aware:?}");
        }
    }
}

/// A sender that learns of an outage 50 ms after its begin sends what is in flight again on the other path: it waits
/// no more for the timer of the first.
#[test]
fn who_notices_an_outage_at_once_need_not_wait_for_its_timer() {
    let gap = |reactive, foresight| {
        let config = MultipathConfig { proactive: true, reactive, ..MultipathConfig::default() };
        harm(&mut outage(config, foresight)).0
    };
    let plain = gap(false, Foresight::Nobody);
    let noticed = Foresight::Sender { lead_ms: -50 };
    let [left, sent_again] = [false, true].map(|reactive| gap(reactive, noticed));
    assert!(sent_again * 2 < plain.min(left), "{plain:?}, {left:?} and {sent_again:?}");
}

/// With nothing blocked the wrapper changes no packet, whatever the scheduler.
#[test]
fn without_warnings_the_wrapper_changes_no_packet() {
    for entry in algorithms() {
        let [plain, wrapped] = [false, true].map(|proactive| {
            let config =
                MultipathConfig { scheduler: entry, proactive, ..MultipathConfig::default() };
            outage(config, Foresight::Nobody).capture.unwrap()
        });
        assert!(plain.len() > 8_000, "{}", plain.len());
        assert_eq!(plain.len(), wrapped.len(), "{}", entry.name);
        let differs = plain.iter().zip(&wrapped).position(|(plain, wrapped)| plain != wrapped);
        assert_eq!(differs, None, "{}", entry.name);
    }
}

/// A peer's window of 150 kB, a fast path, and a slow one on which every other segment goes: what it
/// holds up, the fast one repeats, and it is given less.
#[test]
fn opportunistic_retransmission_frees_a_blocked_window() {
    let rate = |opportunistic| {
        let receive_buffer = BufferSize { initial: 300_000, max: 300_000 };
        let tcp = Config { receive_buffer, ..tcp("lia") };
        let scheduler = scheduler("roundrobin");
        let config = MultipathConfig { scheduler, tcp, opportunistic, ..Default::default() };
        let mut course = course(&config, vec![Link::new(25, 5, 100), Link::new(5, 150, 100)], &[]);
        course.rates(10, 40)[0]
    };
    let (blocked, freed) = (rate(false), rate(true));
    assert!(freed > 1.4 * blocked, "{freed} against {blocked}");
}
