//! Wi-Fi against closed forms, sums by hand and its own contract.

use trackbed_core::parameter::Value;
use trackbed_net::MEDIA;
use trackbed_net::medium::wifi::{Access, HT20, OFDM, Timing, VHT80, Wifi};
use trackbed_net::medium::{MediumModel, MediumOutlet, Station, Way};

use crate::harness::*;

/// What passes in one way: packets of 1,500 bytes at regular intervals, or as many as are taken.
pub struct Source {
    pub way: Way,
    pub bytes: usize,
    /// Zero to keep the queue full.
    pub interval: Duration,
}

/// What became of the packets of each source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pushed: u32,
    pub delivered: u32,
    dropped: u32,
    pub delay: Duration,
}

struct Recorder<'a> {
    sources: &'a [Source],
    outcomes: Vec<Outcome>,
    /// The number of the next packet of each source, and when each was pushed.
    next: Vec<(u32, VecDeque<Time>)>,
}

impl Recorder<'_> {
    /// Packets leave in the order in which they came.
    fn left(&mut self, way: Way, packet: &Packet) -> (&mut Outcome, Time) {
        let source = self.sources.iter().position(|source| source.way == way).unwrap();
        let (next, pushed) = &mut self.next[source];
        assert_eq!(number(packet), *next);
        *next += 1;
        (&mut self.outcomes[source], pushed.pop_front().unwrap())
    }
}

impl MediumOutlet for Recorder<'_> {
    fn deliver(&mut self, at: Time, way: Way, packet: Packet) {
        let (outcome, pushed) = self.left(way, &packet);
        outcome.delivered += 1;
        outcome.delay += at - pushed;
    }

    fn drop(&mut self, _: Time, way: Way, packet: Packet, why: DropReason) {
        assert_eq!(why, DropReason::Loss);
        self.left(way, &packet).0.dropped += 1;
    }
}

/// Runs a minute.
pub fn run(wifi: &Wifi, stations: &[Station], seed: u64, sources: &[Source]) -> Vec<Outcome> {
    let mut medium = wifi.build(stations, &Seed::of_run(seed, 0));
    let count = sources.len() as u32;
    let mut due: Vec<Time> =
        (0..count).map(|n| Time::ZERO + sources[n as usize].interval / count * n).collect();
    let (outcomes, next) =
        (vec![Outcome::default(); sources.len()], vec![Default::default(); sources.len()]);
    let mut seen = Recorder { sources, outcomes, next };
    loop {
        let first = (0..sources.len()).min_by_key(|source| due[*source]).unwrap();
        let at = medium.next_wake().unwrap_or(Time::MAX).min(due[first]);
        if at > Time::from_millis(60_000) {
            return seen.outcomes;
        }
        medium.advance(at, &mut seen);
        for (source, Source { way, bytes, interval }) in sources.iter().enumerate() {
            while match interval.is_zero() {
                true => medium.held(*way) < 150,
                false => due[source] == at,
            } {
                seen.next[source].1.push_back(at);
                let number = seen.outcomes[source].pushed;
                seen.outcomes[source].pushed += 1;
                medium.push(at, *way, packet(number, *bytes), &mut seen);
                due[source] = if interval.is_zero() { Time::MAX } else { at + *interval };
            }
            let Outcome { pushed, delivered, dropped, .. } = seen.outcomes[source];
            assert_eq!((pushed - delivered - dropped) as usize, medium.held(*way));
        }
        assert!(medium.next_wake().is_none_or(|wake| wake > at));
    }
}

pub fn wifi(timing: Timing) -> Wifi {
    Wifi {
        timing,
        snr: 40.0,
        snr_spread: 0.0,
        frame_error: Ratio::ZERO,
        aggregation: 64,
        attempts: 7,
        queue: DropTail::of_packets(200),
    }
}

const fn up(station: u32) -> Way {
    Way { station, direction: Direction::Forward }
}

fn full(ways: impl IntoIterator<Item = Way>, bytes: usize) -> Vec<Source> {
    ways.into_iter().map(|way| Source { way, bytes, interval: Duration::ZERO }).collect()
}

/// Stations of the lower class.
const OTHERS: [Station; 50] = [Station { priority: 1 }; 50];

/// Successes per microsecond of `n` saturated stations after Bianchi (IEEE JSAC 18(3), 2000,
/// equations 7, 9 and 13), for a window of `w` that doubles `m` times. All times in microseconds.
fn bianchi(n: u32, w: f64, m: i32, slot: f64, success: f64, collision: f64) -> f64 {
    let others = n as i32 - 1;
    let excess = |tau: f64| {
        let p = 1.0 - (1.0 - tau).powi(others);
        let sum: f64 = (0..m).map(|stage| (2.0 * p).powi(stage)).sum();
        tau - 2.0 / (1.0 + w + p * w * sum)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        *(if excess(middle) < 0.0 { &mut low } else { &mut high }) = middle;
    }
    let idle = (1.0 - low).powi(n as i32);
    let one = f64::from(n) * low * (1.0 - low).powi(others);
    one / (idle * slot + one * success + (1.0 - idle - one) * collision)
}

/// Bianchi's Table II: FHSS at 1 Mbit/s, where a bit is a microsecond. His propagation delay of 1 us
/// is in the acknowledgment's preamble (twice) and in the waits.
const FHSS: Timing = Timing {
    slot: us(50),
    sifs: us(28),
    sensing: us(1),
    preamble: us(128),
    ack_preamble: us(130),
    symbol: us(1),
    extra_bits: 0,
    header: 34,
    ack_timeout: us(1),
    collision_wait: us(1),
    counts_busy_slots: true,
    access: [Access { aifsn: 2, cw_min: 31, cw_max: 255 }; 2],
    aggregate: 0,
    rates: &[(0, 1)],
};

#[test]
fn saturated_stations_reach_bianchis_throughput() {
    for m in [3, 5] {
        let access = [Access { aifsn: 2, cw_min: 31, cw_max: (32 << m) - 1 }; 2];
        let timing = Timing { access, ..FHSS };
        let model = Wifi { attempts: u32::MAX, aggregation: 1, ..wifi(timing) };
        for n in [2, 5, 10, 20, 50] {
            let seen = run(&model, &OTHERS[..n as usize], 1, &full((0..n).map(up), 1023));
            let share =
                f64::from(seen.iter().map(|one| one.delivered).sum::<u32>()) * 8184.0 / 60e6;
            // A frame takes 128 + 272 + 8,184 us; then SIFS, 240 for the acknowledgment, DIFS and two
            // propagation delays, or DIFS and one.
            let law = bianchi(n, 32.0, m, 50.0, 8982.0, 8713.0) * 8184.0;
            println!("m = {m}, {n} stations: {share:.4}, Bianchi {law:.4}");
            assert_near(share, law, 0.02);
        }
    }
}

/// A cycle is AIFS, 7.5 slots of back-off, the transmission, SIFS and the acknowledgment.
#[test]
fn one_saturated_station_gets_the_throughput_computed_by_hand() {
    for (timing, aggregation, frames, cycle) in [
        // 1,536 bytes in 57 symbols; DIFS is 34 us.
        (OFDM, 1, 1.0, 34.0 + 67.5 + (20.0 + 57.0 * 4.0) + 16.0 + 28.0),
        // 1,538 bytes in 48 symbols; AIFS is 43 us.
        (HT20, 1, 1.0, 43.0 + 67.5 + (36.0 + 48.0 * 4.0) + 16.0 + 28.0),
        // 28 times 1,544 bytes in 1,331 symbols; a 29th would exceed 5,484 us.
        (HT20, 64, 28.0, 43.0 + 67.5 + (36.0 + 1331.0 * 4.0) + 16.0 + 32.0),
        // 64 times 1,544 bytes in 507 symbols.
        (VHT80, 64, 64.0, 43.0 + 67.5 + (40.0 + 507.0 * 4.0) + 16.0 + 32.0),
    ] {
        let model = Wifi { aggregation, ..wifi(timing) };
        let seen = run(&model, &OTHERS[..1], 1, &full([up(0)], 1500));
        println!("{:.2} Mbit/s", f64::from(seen[0].delivered) * 12e3 / 60e6);
        assert_near(f64::from(seen[0].delivered) * 12e3 / 60e6, frames * 12e3 / cycle, 0.005);
    }
}

/// Two stations send equally many frames, whatever their rates, so a slow one slows the fast one down
/// ("performance anomaly"). A frame takes 228 us at 65 Mbit/s and 1,936 us at 6.5 Mbit/s, the
/// acknowledgment 28 and 44 us.
#[test]
fn stations_share_the_frames_and_not_the_time() {
    let pause = 43.0 + 16.0;
    for (snr, spread, success, longest) in [
        (40.0, 0.0, pause + 228.0 + 28.0, 228.0),
        (20.0, 20.0, pause + (228.0 + 28.0 + 1936.0 + 44.0) / 2.0, 1936.0),
    ] {
        let model =
            Wifi { snr, snr_spread: spread, aggregation: 1, attempts: u32::MAX, ..wifi(HT20) };
        let seen = run(&model, &OTHERS[..2], 1, &full([up(0), up(1)], 1500));
        let [first, second] = [0, 1].map(|station| f64::from(seen[station].delivered));
        println!("{first} and {second} frames");
        // After a collision with the slow one, the fast one's timeout of 45 us is long over.
        assert_near(first, second, if spread > 0.0 { 0.1 } else { 0.02 });
        let law = bianchi(2, 16.0, 6, 9.0, success, longest + 45.0 + 43.0);
        assert_near((first + second) / 60e6, law, 0.02);
    }
}

#[test]
fn a_frame_is_dropped_after_its_last_attempt() {
    for (timing, error, attempts, share) in
        [(OFDM, 50, 3, 0.125), (HT20, 50, 3, 0.125), (HT20, 50, 1, 0.5), (VHT80, 100, 7, 1.0)]
    {
        let aggregation = if timing.aggregate == 0 { 1 } else { 64 };
        let model = Wifi { frame_error: percent(error), attempts, aggregation, ..wifi(timing) };
        let seen = &run(&model, &OTHERS[..1], 1, &full([up(0)], 1500))[0];
        let dropped = f64::from(seen.dropped) / f64::from(seen.dropped + seen.delivered);
        assert_near(dropped, share, 0.02);
    }
}

#[test]
fn a_run_repeats_and_an_idle_station_changes_nothing() {
    let down = |station| Way { station, direction: Direction::Backward };
    let sources = full([up(0), up(1), down(0), down(1)], 1500);
    let go = |stations, seed| run(&wifi(HT20), &OTHERS[..stations], seed, &sources);
    let seen = go(2, 1);
    assert_eq!(seen, go(2, 1));
    assert_eq!(seen, go(20, 1));
    assert_ne!(seen, go(2, 2));
    // The access point is the third sender, and serves its stations in turn.
    let all: u32 = seen.iter().map(|one| one.delivered).sum();
    assert_near(f64::from(seen[2].delivered), f64::from(seen[3].delivered), 0.001);
    assert_near(f64::from(seen[2].delivered + seen[3].delivered), f64::from(all) / 3.0, 0.04);
}

/// Among ten saturated stations a packet of AC_VO waits for AIFS of 34 us and at most 3 slots, one of
/// AC_BE for 43 us and at most 15 slots, and each failure doubles that.
#[test]
fn priority_shortens_the_wait_for_the_air() {
    let delay = |priority| {
        let stations = [&[Station { priority }], &OTHERS[..10]].concat();
        let mut sources = full((1..=10).map(up), 1500);
        sources.push(Source { way: up(0), bytes: 200, interval: ms(20) });
        let seen = run(&Wifi { aggregation: 1, ..wifi(HT20) }, &stations, 1, &sources);
        seen[10].delay.as_secs_f64() / f64::from(seen[10].delivered)
    };
    let [first, others] = [delay(0), delay(1)];
    println!("AC_VO {:.0} us, AC_BE {:.0} us", first * 1e6, others * 1e6);
    assert!(first * 3.0 < others);
}

#[test]
fn a_station_that_is_away_sends_nothing() {
    #[derive(Default)]
    struct Times(Vec<Time>);
    impl MediumOutlet for Times {
        fn deliver(&mut self, at: Time, _: Way, _: Packet) {
            self.0.push(at);
        }
        fn drop(&mut self, at: Time, _: Way, _: Packet, why: DropReason) {
            assert_eq!((at, why), (Time::from_millis(1), DropReason::QueueFull));
        }
    }
    let model = Wifi { queue: DropTail::of_packets(2), ..wifi(OFDM) };
    let mut medium = model.build(&OTHERS[..2], &Seed::of_run(1, 0));
    let mut seen = Times::default();
    assert!(medium.change(Time::ZERO, up(0), &Change::Paused(true)));
    assert!(!medium.change(Time::ZERO, up(0), &Change::Loss(Ratio::ZERO)));
    (0..3).for_each(|n| medium.push(Time::from_millis(1), up(0), packet(n, 1500), &mut seen));
    assert_eq!((medium.next_wake(), medium.held(up(0))), (None, 2));
    medium.change(Time::from_millis(5), up(0), &Change::Paused(false));
    while let Some(at) = medium.next_wake() {
        medium.advance(at, &mut seen);
    }
    // The medium was idle: the first goes at once and takes 248 us. The second has a back-off.
    let behind = Time::from_micros(5_248 + 16 + 28 + 34 + 248);
    assert_eq!(seen.0[0], Time::from_micros(5_248));
    assert!((0..16).any(|slots| seen.0[1] == behind + us(9) * slots));
}

#[test]
fn the_entry_takes_its_example_and_refuses_what_cannot_be() {
    let entry = MEDIA.iter().find(|entry| entry.name == "wifi").unwrap();
    let model = |pairs: &[(&'static str, &str)]| {
        let kind = |name| entry.parameters.iter().find(|one| one.name == name).unwrap().kind;
        let given: Vec<(&str, Value)> =
            pairs.iter().map(|&(name, text)| (name, kind(name).parse(text).unwrap())).collect();
        entry.model(&given)
    };
    assert!(model(entry.example).is_ok());
    for (pairs, error) in [
        ([("snr", "20"), ("snr_spread", "12")], "wifi: snr: a station needs 9 dB; raise snr"),
        ([("standard", "802.11a"), ("aggregation", "2")], "one packet at a time; remove the key"),
    ] {
        let message = model(&pairs).unwrap_err().to_string();
        assert!(message.contains(error), "{message}");
    }
}
