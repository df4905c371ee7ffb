//! Connections over several paths of QUIC (draft-ietf-quic-multipath), in virtual time.

use trackbed_protocols::PathControl;
use trackbed_substrate::{PathWish, TcpPath};

use crate::support::*;

/// A link as an operator's cell has it.
fn cell(mbps: u64, one_way: Duration) -> LinkSpec {
    let queue = DropTail::of_bytes(ByteSize::from_bytes(250_000));
    LinkSpec::simple(Bitrate::from_mbps(mbps), queue, one_way)
}

/// A connection whose client opens a second path, and the path control of both ends.
struct Joined {
    _server: ServerHandle,
    connection: Rc<dyn Connection>,
    client_paths: PathControl,
    server_paths: PathControl,
}

async fn join(track: &Track, scheduler: &str) -> Joined {
    join_to(track, scheduler, "mpquic").await
}

/// The same to a server of the protocol `served`.
async fn join_to(track: &Track, scheduler: &str, served: &str) -> Joined {
    let (client_paths, server_paths) = (PathControl::default(), PathControl::default());
    let config = ServerConfig {
        transport: transport_over_paths(scheduler, Vec::new(), true),
        paths: server_paths.clone(),
        ..ServerConfig::default()
    };
    let server = track.serve_with(protocol(served), &config, Rc::new(service));
    let config = ClientConfig {
        transport: transport_over_paths(scheduler, vec![ENDS[1]], false),
        paths: client_paths.clone(),
        ..ClientConfig::default()
    };
    let connection = track.connect(protocol("mpquic"), &server, config).await;
    Joined { _server: server, connection, client_paths, server_paths }
}

/// Runs `main` over two ways.
fn over<T: Send, F: Future<Output = T>>(
    ways: [&LinkSpec; 2],
    run: u64,
    main: impl FnOnce(Track) -> F + Send,
) -> T {
    let seed = Seed::of_run(1, run);
    simulate_on(fork(ways, &seed), seed, main)
}

/// What has arrived when, of a download that goes on until `end`.
async fn download(connection: &dyn Connection, end: Time) -> Vec<(Time, u64)> {
    let response = connection.exchange(get("/zeros?1000000000")).await.unwrap();
    let (mut body, mut all, mut arrived) = (response.body, Vec::new(), 0);
    while now() < end {
        arrived += body.next().await.unwrap().unwrap().len() as u64;
        all.push((now(), arrived));
    }
    all
}

fn at(arrivals: &[(Time, u64)], time: Time) -> u64 {
    arrivals.iter().take_while(|(at, _)| *at <= time).last().map_or(0, |(_, bytes)| *bytes)
}

fn mbps(arrivals: &[(Time, u64)], from: Time, until: Time) -> f64 {
    (at(arrivals, until) - at(arrivals, from)) as f64 * 8.0 / (until - from).as_secs_f64() / 1e6
}

fn longest_gap(arrivals: &[(Time, u64)], from: Time, until: Time) -> Duration {
    let within = arrivals.iter().map(|(at, _)| *at).filter(|at| *at >= from && *at <= until);
    let times: Vec<Time> = within.collect();
    times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
}

/// What the client has received so far on each path.
fn received(control: &PathControl) -> [u64; 2] {
    let of = |end| {
        let paths = control.paths();
        let mut on = paths.iter().filter(|path: &&TcpPath| path.local.ip() == end);
        on.next().map_or(0, |path| path.info.bytes_received)
    };
    ENDS.map(of)
}

const fn seconds(seconds: u64) -> Time {
    Time::from_millis(1_000 * seconds)
}

#[test]
fn two_clean_paths_are_pooled() {
    let way = cell(25, Duration::from_millis(20));
    for scheduler in ["minrtt", "roundrobin"] {
        let arrivals = over([&way, &way], 0, |track| async move {
            let joined = join(&track, scheduler).await;
            download(&*joined.connection, seconds(20)).await
        });
        let rate = mbps(&arrivals, seconds(2), seconds(20));
        // Of 1,480 bytes on the link, headers leave some 1,420 to the stream: 48 of 50 Mbit/s.
        assert!(rate > 47.5 && rate < 48.5, "{scheduler}: {rate} Mbit/s of 50");
    }
}

#[test]
fn little_data_takes_the_path_with_the_lower_round_trip_time() {
    let [slow, fast] = [40, 10].map(|ms| cell(25, Duration::from_millis(ms)));
    let [on_slow, on_fast] = over([&slow, &fast], 0, |track| async move {
        let joined = join(&track, "minrtt").await;
        // By now the second path is open, and both ends have measured it.
        sleep(Duration::from_secs(1)).await;
        let before = received(&joined.client_paths);
        for _ in 0..20 {
            let from = now();
            ping(&*joined.connection).await.unwrap();
            let took = now() - from;
            assert!(took < Duration::from_millis(25), "{took:?}");
        }
        let after = received(&joined.client_paths);
        [0, 1].map(|path| after[path] - before[path])
    });
    assert!(on_fast > 20 * 30 && on_slow < on_fast / 4, "{on_slow} and {on_fast} B");
}

/// A path that dies takes its whole window along. RFC 9002 section 6.2.1: after the round-trip
/// time, four times its variation and the peer's delay of acknowledgments, in all some 250 ms with
/// full queues, others carry that; then the window is on its way for as long as their queue lasts.
#[test]
fn a_path_that_dies_delays_the_transfer_by_its_probe_timeout() {
    let way = cell(25, Duration::from_millis(20));
    for dead in [0, 1] {
        let spell = (seconds(5), seconds(8));
        let dying = way.clone().with(Outage { down: Spells::new([spell]).unwrap() });
        let ways = if dead == 0 { [&dying, &way] } else { [&way, &dying] };
        let arrivals = over(ways, 0, |track| async move {
            let joined = join(&track, "minrtt").await;
            download(&*joined.connection, seconds(20)).await
        });
        let gap = longest_gap(&arrivals, seconds(4), seconds(8));
        assert!(gap < Duration::from_millis(400), "nothing for {gap:?} without path {dead}");
        let alone = mbps(&arrivals, seconds(6), seconds(8));
        assert!(alone > 22.5, "{alone} Mbit/s on what is left without path {dead}");
        // Probes go out after 200 ms, and each after twice the time: the fifth at some 11.5 s.
        let healed = mbps(&arrivals, seconds(14), seconds(20));
        assert!(healed > 42.0, "{healed} Mbit/s with path {dead} again");
    }
}

#[test]
fn what_the_receiver_makes_a_backup_is_left_within_a_round_trip_and_the_queue() {
    // 40 ms, and 80 ms that a queue of 250 kB takes.
    let soon = Duration::from_millis(125);
    leave(0, |joined| &joined.client_paths, PathWish::Backup, soon);
    leave(1, |joined| &joined.client_paths, PathWish::Backup, soon);
}

#[test]
fn what_the_sender_blocks_is_left_at_once_and_taken_again() {
    let at_once = Duration::from_millis(105);
    leave(1, |joined| &joined.server_paths, PathWish::Blocked, at_once);
}

/// A download leaves the path `left` within `delay` of the `wish` of one end, and comes back without it.
fn leave(
    left: usize,
    at: fn(&Joined) -> &PathControl,
    wish: fn(bool) -> PathWish,
    delay: Duration,
) {
    let way = cell(25, Duration::from_millis(20));
    over([&way, &way], 0, |track| async move {
        let joined = join(&track, "minrtt").await;
        let paths = joined.client_paths.clone();
        let response = joined.connection.exchange(get("/zeros?1000000000")).await.unwrap();
        let reading = spawn(body::drain(response.body));
        sleep_until(seconds(5)).await;
        assert!(at(&joined).set_path(ENDS[left], wish(true)));
        sleep(delay).await;
        let before = received(&paths);
        sleep(Duration::from_secs(2)).await;
        let after = received(&paths);
        let [on_left, on_other] = [left, 1 - left].map(|path| after[path] - before[path]);
        assert!(on_left < 10_000, "{on_left} B on path {left}");
        assert!(on_other > 5_500_000, "{on_other} B on the other path");
        assert!(at(&joined).set_path(ENDS[left], wish(false)));
        sleep(Duration::from_secs(2)).await;
        let back = received(&paths)[left] - after[left];
        assert!(back > 4_000_000, "{back} B on path {left} again");
        drop(reading);
    });
}

#[test]
fn a_server_without_multipath_is_spoken_to_on_one_path() {
    let way = cell(25, Duration::from_millis(20));
    let arrivals = over([&way, &way], 0, |track| async move {
        let joined = join_to(&track, "minrtt", "quic").await;
        let arrivals = download(&*joined.connection, seconds(10)).await;
        let paths = joined.client_paths.paths();
        assert_eq!(paths.iter().map(|path| path.local.ip()).collect::<Vec<_>>(), ENDS[..1]);
        arrivals
    });
    let rate = mbps(&arrivals, seconds(2), seconds(10));
    assert!(rate > 22.5 && rate < 25.0, "{rate} Mbit/s of 25");
}

#[test]
fn a_client_without_multipath_is_answered_on_one_path() {
    let way = cell(25, Duration::from_millis(20));
    over([&way, &way], 0, |track| async move {
        let server = track.serve(protocol("mpquic"));
        let connection = track.connect(protocol("quic"), &server, ClientConfig::default()).await;
        echo(&*connection, 300_000, 1).await;
    });
}

#[test]
fn what_quic_has_no_scheduler_for_is_refused() {
    let way = cell(25, Duration::from_millis(20));
    over([&way, &way], 0, |track| async move {
        let config = ServerConfig {
            transport: transport_over_paths("blest", vec![], false),
            ..Default::default()
        };
        let host = Arc::clone(&track.server);
        let served = protocol("mpquic").serve((host, server_address()), &config, Rc::new(service));
        let refusal = served.unwrap_err().to_string();
        assert!(refusal.contains("use minrtt, roundrobin"), "{refusal}");
    });
}

/// Uploads and downloads over two ways that die and come back at random.
#[test]
fn every_byte_arrives_once_and_in_order_whatever_dies() {
    for run in 0..CASES {
        let mut dice = Seed::of_run(7, run).stream("spells");
        let mut way = || {
            let mut spells = Vec::new();
            let mut from = dice.below(1_000);
            while from < 12_000 {
                let until = from + 1 + dice.below(1_500);
                spells.push((Time::from_millis(from), Time::from_millis(until)));
                from = until + 1 + dice.below(1_500);
            }
            let (mbps, delay) = (2 + dice.below(48), Duration::from_millis(1 + dice.below(80)));
            cell(mbps, delay).with(Outage { down: Spells::new(spells).unwrap() })
        };
        let ways = [way(), way()];
        let scheduler = ["minrtt", "roundrobin"][(run % 2) as usize];
        over([&ways[0], &ways[1]], run, |track| async move {
            let joined = join(&track, scheduler).await;
            let exchange = |number| echo(&*joined.connection, 700_000, 100 * run + number);
            join_all((0..3).map(exchange)).await;
        });
    }
}

/// As many as take a few seconds.
const CASES: u64 = 40;

#[test]
fn a_run_over_several_paths_follows_from_its_seed() {
    let way = cell(25, Duration::from_millis(20));
    let trace = |run| {
        let seed = Seed::of_run(1, run);
        let network = fork([&way, &way], &seed);
        let ((), packets): (_, PacketDigest) = simulate_seen(network, seed, |track| async move {
            let joined = join(&track, "minrtt").await;
            fetch(&*joined.connection, 3_000_000).await;
        });
        packets.sum()
    };
    assert_eq!(trace(0), trace(0));
    assert_ne!(trace(0), trace(1));
}
