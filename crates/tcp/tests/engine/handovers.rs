//! Random handovers: paths that come and go, predicted or not, under every scheduler and congestion
//! controller. Whatever happens, both sides read every byte exactly once and in order, and once the
//! paths are calm the transfer ends.
//!
//! `HANDOVER_RUNS=10000` runs this many cases, `HANDOVER_SEED=17` one of them.

use crate::multipath_swarm::config;
use crate::paths::{Lane, World, client_ip};
use crate::random::{Dice, setting};
use crate::track::*;
use trackbed_tcp::schedulers;

#[test]
fn every_byte_arrives_once_and_in_order_through_handovers() {
    let cases = match setting("HANDOVER_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..setting("HANDOVER_RUNS").unwrap_or(300),
    };
    // As many threads as processors; a failure prints its number.
    let next = std::sync::atomic::AtomicU64::new(cases.start);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if case >= cases.end {
                        break;
                    }
                    run(case);
                }
            });
        }
    });
}

/// While one of two paths is away, the peer's window fills, and the other path becomes idle. Linux then sends
/// the oldest 32 KiB again with each data-level timeout; these follow each other by the timeout of a path, at
/// least 200 ms. One segment each time would be 5 to 7 kB in a second. After the fifth, the data of the lost
/// path goes out as new data would.
#[test]
fn linux_repeats_a_fragment_at_a_time() {
    let linux = schedulers::algorithms().iter().find(|known| known.name == "linux");
    let size = BufferSize { initial: 300_000, max: 300_000 };
    let tcp = Config { receive_buffer: size, ..Config::default() };
    let config = || MultipathConfig {
        tcp: tcp.clone(),
        scheduler: linux.expect("it is registered"),
        ..MultipathConfig::default()
    };
    let mut configs = [config(), config()];
    configs[0].endpoints = vec![Endpoint::subflow(client_ip(1))];
    let (from, to) = (Time::from_millis(2_000), Time::from_millis(3_600));
    let mut lanes = vec![Lane::new(20, 20), Lane::new(20, 20)];
    lanes[0].outages = vec![(from, to)];
    let mut world = World::new(1, configs, lanes);
    world.hosts[1].to_write = 20_000_000;
    world.open();
    world.run_until(from + Duration::from_millis(500));
    let before = world.hosts[0].read;
    world.run_until(from + Duration::from_millis(1_100));
    let by_fragments = world.hosts[0].read - before;
    assert!((90_000..300_000).contains(&by_fragments), "{by_fragments}");
    world.run_until(to);
    // 20 Mbit/s for half a second, with the headers.
    let afterwards = world.hosts[0].read - before - by_fragments;
    assert!((1_000_000..1_250_000).contains(&afterwards), "{afterwards}");
    world.run_until(END);
    assert!(world.is_complete());
}

/// When the last handover is over, and when the transfer must have ended.
const CALM: Time = Time::from_millis(20_000);
const END: Time = Time::from_millis(900_000);

fn run(case: u64) {
    let mut dice = Dice(Seed::of_run(5, case).stream("handovers"));
    let mut configs = [(); 2].map(|()| config(&mut dice));
    let rng = &mut dice.0;
    let count = 2 + rng.below(2) as usize;
    let handovers: Vec<_> = (0..count).map(|_| handovers(rng)).collect();
    let lanes = handovers.iter().map(|spans| lane(rng, spans.clone())).collect();
    configs[0].endpoints = (1..count).map(|lane| Endpoint::subflow(client_ip(lane))).collect();
    let names = configs.each_ref().map(|config| {
        (config.scheduler.name, config.tcp.congestion.name, config.proactive, config.reactive)
    });
    let mut world = World::new(case, configs, lanes);
    for host in &mut world.hosts {
        host.to_write = [0, 1_000, 100_000, 3_000_000][rng.below(4) as usize];
        host.slow_reader = rng.below(6) == 0;
    }
    world.open();
    let lead = Duration::from_millis(rng.below(400));
    let asks = rng.below(3) == 0;
    let mut blocked = [false; 3];
    for tick in 1..=CALM.as_nanos() / TICK.as_nanos() as u64 {
        let now = Time::ZERO + TICK * tick as u32;
        if !world.run_until(now) {
            break;
        }
        for (path, spans) in handovers.iter().enumerate() {
            let expected = spans.iter().any(|(from, to)| *from <= now + lead && now < *to);
            if expected != blocked[path] {
                blocked[path] = expected;
                announce(&mut world, now, PathId(path as u32), expected, asks);
            }
        }
    }
    world.run_until(END);
    // A slow reader may have left something.
    for index in 0..2 {
        world.hosts[index].slow_reader = false;
        world.work(index);
    }
    world.run_until(END + Duration::from_secs(300));
    let [client, server] = &world.hosts;
    assert!(
        world.is_complete(),
        "HANDOVER_SEED={case}: {names:?}: {} of {} and {} of {} bytes",
        client.read,
        server.to_write,
        server.read,
        client.to_write,
    );
}

/// Both hosts are notified of a handover; the client may also send MP_PRIO to the server.
fn announce(world: &mut World, now: Time, path: PathId, blocked: bool, asks: bool) {
    for index in 0..2 {
        let Some(connection) = &mut world.hosts[index].connection else { continue };
        connection.set_blocked(now, path, blocked);
        if asks && index == 0 {
            connection.set_backup(now, path, blocked);
        }
        world.flush(index);
    }
}

/// How often the position is looked up.
const TICK: Duration = Duration::from_millis(10);

/// Interruptions every few seconds, of 5 ms to 1.5 s.
fn handovers(rng: &mut Rng) -> Vec<(Time, Time)> {
    let mut spans = Vec::new();
    let mut at = Time::from_millis(rng.below(3_000));
    loop {
        let most = [15, 70, 300, 1_500][rng.below(4) as usize];
        let end = at + rng.span(Duration::from_millis(5), Duration::from_millis(most));
        if end > CALM {
            return spans;
        }
        spans.push((at, end));
        at = end + rng.span(Duration::from_millis(100), Duration::from_millis(5_000));
    }
}

fn lane(rng: &mut Rng, outages: Vec<(Time, Time)>) -> Lane {
    let mut lane = Lane::new(1 + rng.below(40), 1 + rng.below(80));
    lane.queue = 10 + rng.below(150) as usize;
    lane.loss = Ratio::from_parts([0, 0, 1, 10][rng.below(4) as usize], 1_000);
    lane.jittered = Ratio::from_parts(rng.below(2), 50);
    lane.jitter = Duration::from_millis(rng.below(40));
    lane.outages = outages;
    lane
}
