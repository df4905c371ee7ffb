//! Wi-Fi against closed forms, sums by hand, ns-3, and its own contract.

use std::process::Command;

use trackbed_core::parameter::Value;
use trackbed_net::MEDIA;
use trackbed_net::medium::wifi::{Access, HT20, OFDM, Timing, VHT80, Wifi};
use trackbed_net::medium::{MediumModel, MediumOutlet, Station, Way};

use crate::harness::*;

/// The packets of one way, and what became of them.
#[derive(Clone, Debug, PartialEq)]
struct Source {
    way: Way,
    bytes: usize,
    /// The mean of exponential intervals; zero to keep the queue full.
    interval: Duration,
    due: Time,
    waiting: VecDeque<Time>,
    delivered: f64,
    dropped: f64,
    delay_us: f64,
}

fn source(way: Way, bytes: usize, interval: Duration) -> Source {
    let (due, waiting) = (Time::ZERO, VecDeque::new());
    Source { way, bytes, interval, due, waiting, delivered: 0.0, dropped: 0.0, delay_us: 0.0 }
}

fn full(ways: impl IntoIterator<Item = Way>, bytes: usize) -> Sources {
    Sources(ways.into_iter().map(|way| source(way, bytes, Duration::ZERO)).collect())
}

struct Sources(Vec<Source>);

impl Sources {
    /// Packets leave in the order in which they came; each carries its time.
    fn left(&mut self, at: Time, way: Way, packet: &Packet) -> &mut Source {
        let source = self.0.iter_mut().find(|source| source.way == way).unwrap();
        let pushed = source.waiting.pop_front().unwrap();
        assert_eq!(number(packet), pushed.as_nanos() as u32);
        source.delay_us += (at - pushed).as_secs_f64() * 1e6;
        source
    }

    fn delivered(&self) -> f64 {
        self.0.iter().map(|source| source.delivered).sum()
    }

    /// Runs a minute.
    fn run(mut self, wifi: &Wifi, stations: &[Station], seed: u64) -> Sources {
        let seed = Seed::of_run(seed, 0);
        let (mut medium, mut gaps) = (wifi.build(stations, &seed), seed.stream("gaps"));
        loop {
            let due = self.0.iter().map(|source| source.due).min().unwrap();
            let at = medium.next_wake().map_or(due, |wake| wake.min(due));
            if at > Time::from_millis(60_000) {
                return self;
            }
            medium.advance(at, &mut self);
            for n in 0..self.0.len() {
                while let source = &mut self.0[n]
                    && (source.due == at || source.interval.is_zero() && source.waiting.len() < 150)
                {
                    let (way, packet) = (source.way, packet(at.as_nanos() as u32, source.bytes));
                    let gap = source.interval.mul_f64(gaps.exponential());
                    source.due = if gap.is_zero() { Time::MAX } else { at + gap };
                    source.waiting.push_back(at);
                    medium.push(at, way, packet, &mut self);
                }
                assert_eq!(medium.held(self.0[n].way), self.0[n].waiting.len());
            }
            assert!(medium.next_wake().is_none_or(|wake| wake > at));
        }
    }
}

impl MediumOutlet for Sources {
    fn deliver(&mut self, at: Time, way: Way, packet: Packet) {
        self.left(at, way, &packet).delivered += 1.0;
    }

    fn drop(&mut self, at: Time, way: Way, packet: Packet, why: DropReason) {
        assert_eq!(why == DropReason::Loss, at > Time::ZERO);
        self.left(at, way, &packet).dropped += 1.0;
    }
}

/// Without aggregation and with unlimited attempts, as in the closed forms.
fn wifi(timing: Timing) -> Wifi {
    let (snr, snr_spread, frame_error, aggregation) = (40.0, 0.0, Ratio::ZERO, 1);
    let (attempts, queue) = (u64::MAX, DropTail::of_packets(200));
    Wifi { timing, snr, snr_spread, frame_error, aggregation, attempts, queue }
}

fn up(station: u32) -> Way {
    Way { station, direction: Direction::Forward }
}

const STATIONS: [Station; 50] = [const { Station { priority: 1, course: None } }; 50];

/// Successes per microsecond of `n` saturated stations after Bianchi (IEEE JSAC 18(3), 2000,
/// equations 7, 9 and 13), for a window of `w` that doubles `m` times. All times in microseconds.
fn bianchi(n: i32, w: f64, m: i32, slot: f64, success: f64, collision: f64) -> f64 {
    let excess = |tau: f64| {
        let p = 1.0 - (1.0 - tau).powi(n - 1);
        let sum: f64 = (0..m).map(|stage| (2.0 * p).powi(stage)).sum();
        tau - 2.0 / (1.0 + w + p * w * sum)
    };
    let (mut tau, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (tau + high) / 2.0;
        *(if excess(middle) < 0.0 { &mut tau } else { &mut high }) = middle;
    }
    let idle = (1.0 - tau).powi(n);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n - 1);
    one / (idle * slot + one * success + (1.0 - idle - one) * collision)
}

/// Bianchi's Table II: FHSS at 1 Mbit/s. His propagation delay of 1 us is in the preamble of the
/// acknowledgment (twice) and in the waits.
#[test]
fn saturated_stations_reach_bianchis_throughput() {
    let timing = Timing { slot: us(50), sifs: us(28), sensing: us(1), symbol: us(1), ..HT20 };
    let timing = Timing { preamble: us(128), ack_preamble: us(130), extra_bits: 0, ..timing };
    let timing = Timing { header: 34, ack_timeout: us(1), collision_wait: us(1), ..timing };
    for (m, n) in [3, 5].into_iter().flat_map(|m| [2, 5, 10, 20, 50].map(|n| (m, n))) {
        let access = [Access { aifsn: 2, cw_min: 31, cw_max: (32 << m) - 1 }; 2];
        let model = wifi(Timing { access, snr: &[0], bits: &[1], ..timing });
        let seen = full((0..n as u32).map(up), 1023).run(&model, &STATIONS[..n as usize], 1);
        let share = seen.delivered() * 8184.0 / 60e6;
        // A frame takes 8,584 us; then SIFS, 240 us, DIFS and two delays, or DIFS and one delay.
        let law = bianchi(n, 32.0, m, 50.0, 8982.0, 8713.0) * 8184.0;
        println!("m = {m}, {n} stations: {share:.4}, Bianchi {law:.4}");
        assert_near(share, law, 0.02);
    }
}

/// A cycle is AIFS, 7.5 slots of back-off, the transmission, SIFS and the acknowledgment.
#[test]
fn one_saturated_station_gets_the_throughput_computed_by_hand() {
    for (timing, snr, aggregation, frames, cycle) in [
        // 1,536 bytes in 57 symbols; DIFS is 34 us.
        (OFDM, 40.0, 1, 1.0, 34.0 + 67.5 + (20.0 + 57.0 * 4.0) + 16.0 + 28.0),
        // 1,538 bytes in 48 symbols; AIFS is 43 us.
        (HT20, 40.0, 1, 1.0, 43.0 + 67.5 + (36.0 + 48.0 * 4.0) + 16.0 + 28.0),
        // 28 times 1,544 bytes in 1,331 symbols; a 29th would exceed 5,484 us.
        (HT20, 40.0, 64, 28.0, 43.0 + 67.5 + (36.0 + 1331.0 * 4.0) + 16.0 + 32.0),
        // 64 times 1,544 bytes in 507 symbols, or in 564 with MCS 8.
        (VHT80, 34.0, 64, 64.0, 43.0 + 67.5 + (40.0 + 507.0 * 4.0) + 16.0 + 32.0),
        (VHT80, 33.9, 64, 64.0, 43.0 + 67.5 + (40.0 + 564.0 * 4.0) + 16.0 + 32.0),
    ] {
        let model = Wifi { snr, aggregation, ..wifi(timing) };
        let mbps = full([up(0)], 1500).run(&model, &STATIONS[..1], 1).delivered() * 12e3 / 60e6;
        assert_near(mbps, frames * 12e3 / cycle, 0.005);
    }
}

/// Two stations send equally many frames, whatever their rates, so a slow one slows the fast one down
/// (the "performance anomaly"). A frame takes 228 us at 65 Mbit/s and 1,936 us at 6.5 Mbit/s, the
/// acknowledgment 28 and 44 us, SIFS and AIFS 59 us.
#[test]
fn stations_share_the_frames_and_not_the_time() {
    for (snr, snr_spread, success, longest, uneven) in [
        (40.0, 0.0, 59.0 + 228.0 + 28.0, 228.0, 0.02),
        // When they collide, the fast one's timeout of 45 us is over before the slow one's begins.
        (20.0, 20.0, 59.0 + (228.0 + 28.0 + 1936.0 + 44.0) / 2.0, 1936.0, 0.1),
    ] {
        let model = Wifi { snr, snr_spread, ..wifi(HT20) };
        let seen = full([up(0), up(1)], 1500).run(&model, &STATIONS[..2], 1);
        assert_near(seen.0[0].delivered, seen.0[1].delivered, uneven);
        let law = bianchi(2, 16.0, 6, 9.0, success, longest + 45.0 + 43.0);
        assert_near(seen.delivered() / 60e6, law, 0.02);
    }
}

#[test]
fn a_frame_is_dropped_after_its_last_attempt() {
    for (timing, error, attempts, share) in
        [(OFDM, 50, 3, 0.125), (HT20, 50, 3, 0.125), (VHT80, 100, 7, 1.0)]
    {
        let (frame_error, aggregation) = (percent(error), 64);
        let model = Wifi { frame_error, attempts, aggregation, ..wifi(timing) };
        let seen = &full([up(0)], 1500).run(&model, &STATIONS[..1], 1).0[0];
        assert_near(seen.dropped / (seen.dropped + seen.delivered), share, 0.02);
    }
}

#[test]
fn a_run_repeats_and_an_idle_station_changes_nothing() {
    let down = |station| Way { station, direction: Direction::Backward };
    let ways = [up(0), up(1), down(0), down(1)];
    let go = |stations, seed| full(ways, 1500).run(&wifi(HT20), &STATIONS[..stations], seed).0;
    let seen = go(2, 1);
    assert_eq!(seen, go(2, 1));
    assert_eq!(seen, go(20, 1));
    assert_ne!(seen, go(2, 2));
    // The access point is one sender of three, and serves its stations in turn.
    let [a, b, c, d] = [0, 1, 2, 3].map(|source| seen[source].delivered);
    assert_near(c, d, 0.001);
    assert_near(c + d, (a + b + c + d) / 3.0, 0.04);
}

/// A packet of AC_VO waits for 34 us and at most 3 slots, one of AC_BE for 43 us and at most 15 slots,
/// with each collision for twice as many.
#[test]
fn priority_shortens_the_wait_for_the_air() {
    let [first, others] = [0, 1].map(|priority| {
        let stations = [&[Station { priority, course: None }], &STATIONS[..10]].concat();
        let mut sources = full((1..=10).map(up), 1500);
        sources.0.push(source(up(0), 200, ms(20)));
        let seen = sources.run(&wifi(HT20), &stations, 1);
        seen.0[10].delay_us / seen.0[10].delivered
    });
    assert!(first * 3.0 < others, "{first} us and {others} us");
}

#[test]
fn a_station_that_is_away_sends_nothing() {
    for queue in [DropTail::of_packets(2), DropTail::of_bytes(ByteSize::from_bytes(3_000))] {
        let mut medium = Wifi { queue, ..wifi(OFDM) }.build(&STATIONS[..2], &Seed::of_run(1, 0));
        assert!(medium.change(Time::ZERO, up(0), &Change::Paused(true)));
        let mut seen = full([up(0)], 1500);
        seen.0[0].waiting.extend([Time::ZERO; 3]);
        (0..3).for_each(|_| medium.push(Time::ZERO, up(0), packet(0, 1500), &mut seen));
        assert_eq!((medium.next_wake(), medium.held(up(0)), seen.0[0].dropped), (None, 2, 1.0));
        medium.change(Time::from_millis(5), up(0), &Change::Paused(false));
        while let Some(at) = medium.next_wake() {
            medium.advance(at, &mut seen);
        }
        // The medium was idle: the first goes at once and takes 248 us. The second has a back-off.
        let slots = (seen.0[0].delay_us - (5_248 + 5_248 + 16 + 28 + 34 + 248) as f64) / 9.0;
        assert!((0..16).any(|drawn| (slots - f64::from(drawn)).abs() < 1e-6), "{slots}");
    }
}

#[test]
fn a_signal_that_is_too_weak_is_refused() {
    let entry = MEDIA.iter().find(|entry| entry.name == "wifi").unwrap();
    let given = [("snr", Value::Decibels(20.0)), ("snr_spread", Value::Decibels(12.0))];
    let error = entry.model(&given).unwrap_err().to_string();
    assert_eq!(error, "wifi: snr less snr-spread: a station needs 9 dB; change one of them");
}

/// Stations that offer 20 Mbit/s in all, with Debian's ns-3.
#[test]
#[ignore = "thorough: ns-3"]
fn packets_wait_as_long_as_in_ns_3() {
    let source_file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/behaviour/wifi/stations.cc");
    let program = concat!(env!("CARGO_TARGET_TMPDIR"), "/ns-3-stations");
    let libraries = ["wifi", "mobility", "network", "core"].map(|name| format!("-lns3-{name}"));
    let compiled = Command::new("g++").args(["-o", program, source_file]).args(libraries).output();
    if !compiled.as_ref().is_ok_and(|output| output.status.success()) {
        return eprintln!("SKIPPED: install the Debian packages g++ and libns3-dev: {compiled:?}");
    }
    for n in [5, 20] {
        let words = [n, 600 * n, 60].map(|number| number.to_string());
        let output = Command::new(program).args(words).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let theirs: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let poisson = (0..n).map(|station| source(up(station), 1500, us(600) * n)).collect();
        let seen = Sources(poisson).run(&wifi(OFDM), &STATIONS[..n as usize], 1);
        let delay = seen.0.iter().map(|source| source.delay_us).sum::<f64>() / seen.delivered();
        println!("{n} stations: {} packets, {delay:.0} us; ns-3 {theirs:?}", seen.delivered());
        assert_near(seen.delivered(), theirs[0], 0.1);
        assert_near(delay, theirs[1], 0.1);
    }
}
