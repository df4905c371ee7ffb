//! The radio cell against arithmetic by hand.

use std::sync::Arc;

use trackbed_core::parameter::Value;
use trackbed_net::medium::{Course, Medium, MediumEntry, MediumOutlet, Station, Way};
use trackbed_net::{Direction::Backward as Down, Direction::Forward as Up, MEDIA};

use crate::harness::*;

fn entry() -> &'static MediumEntry {
    MEDIA.iter().find(|entry| entry.name == "cell").unwrap()
}

fn given<'a>(keys: &[(&'a str, &str)]) -> Vec<(&'a str, Value)> {
    let kind = |name| entry().parameters.iter().find(|one| one.name == name).unwrap().kind;
    keys.iter().map(|(name, text)| (*name, kind(*name).parse(text).unwrap())).collect()
}

/// What became of a packet: when, whose, its number, and why it was dropped.
type Fate = (Time, Way, u32, Option<DropReason>);

/// Drives a cell as the contract asks, and checks that no packet appears or vanishes.
struct Cell {
    medium: Box<dyn Medium>,
    fates: Fates,
    entered: usize,
    stations: u32,
}

struct Fates(Vec<Fate>);

impl MediumOutlet for Fates {
    fn deliver(&mut self, at: Time, way: Way, packet: Packet) {
        self.0.push((at, way, number(&packet), None));
    }

    fn drop(&mut self, at: Time, way: Way, packet: Packet, why: DropReason) {
        self.0.push((at, way, number(&packet), Some(why)));
    }
}

fn way(station: u32, direction: Direction) -> Way {
    Way { station, direction }
}

impl Cell {
    /// Stations of these priorities.
    fn new(keys: &[(&str, &str)], priorities: &[u8]) -> Cell {
        let stations = priorities.iter().map(|rank| Station { priority: *rank, course: None });
        Cell::of(keys, stations.collect())
    }

    fn of(keys: &[(&str, &str)], stations: Vec<Station>) -> Cell {
        let medium = entry().model(&given(keys)).unwrap().build(&stations, &Seed::of_run(1, 0));
        Cell { medium, fates: Fates(Vec::new()), entered: 0, stations: stations.len() as u32 }
    }

    fn advance(&mut self, until: Time) {
        while let Some(at) = self.medium.next_wake().filter(|at| *at <= until) {
            self.medium.advance(at, &mut self.fates);
            assert!(self.medium.next_wake().is_none_or(|next| next > at), "a wake lies ahead");
        }
    }

    fn push(&mut self, at: Time, way: Way, number: u32, len: usize) {
        self.advance(at);
        self.entered += 1;
        self.medium.push(at, way, packet(number, len), &mut self.fates);
        assert!(self.medium.next_wake().is_none_or(|next| next > at), "a wake lies ahead");
    }

    /// Runs to the end, and returns the fates of all packets.
    fn finish(mut self) -> Vec<Fate> {
        self.advance(Time::MAX);
        let ways = (0..self.stations).flat_map(|station| [way(station, Up), way(station, Down)]);
        assert_eq!(ways.map(|way| self.medium.held(way)).sum::<usize>(), 0);
        assert_eq!(self.fates.0.len(), self.entered);
        self.fates.0
    }

    /// Sends `count` packets of 200 B, `gap` apart, and returns the delays in ms.
    fn delays(mut self, direction: Direction, gap: Duration, count: u32) -> Vec<f64> {
        (0..count).for_each(|n| self.push(Time::ZERO + gap * n, way(0, direction), n, 200));
        let delay = |fate: &Fate| fate.0.since(Time::ZERO + gap * fate.2).as_secs_f64() * 1e3;
        self.finish().iter().map(delay).collect()
    }
}

/// Bit rates in Mbit/s of stations that always have packets of 1,500 B to send.
fn rates(keys: &[(&str, &str)], stations: u32, direction: Direction, seconds: f64) -> Vec<f64> {
    rates_of(keys, vec![Station::default(); stations as usize], direction, seconds)
}

fn rates_of(
    keys: &[(&str, &str)],
    stations: Vec<Station>,
    direction: Direction,
    seconds: f64,
) -> Vec<f64> {
    let keys = [keys, &[("queue", "100 MB")]].concat();
    let mut cell = Cell::of(&keys, stations);
    let stations = cell.stations;
    for station in 0..stations {
        (0..15_000).for_each(|n| cell.push(Time::ZERO, way(station, direction), n, 1500));
    }
    let early = Time::from_millis(200);
    cell.advance(early + Duration::from_secs_f64(seconds));
    let fates = cell.fates.0.iter().filter(|fate| fate.0 > early && fate.3.is_none());
    let mut rates = vec![0.0; stations as usize];
    fates.for_each(|fate| rates[fate.1.station as usize] += 1500.0 * 8e-6 / seconds);
    rates
}

/// A gap after which phases of all periods here are spread evenly.
const GAP: Duration = Duration::from_nanos(201_037_100);

#[test]
fn the_mean_access_delay_is_that_of_the_standards_steps() {
    for (preset, keys, uplink, downlink) in [
        // Together the 20 ms of Holma and Toskala (LTE for UMTS, 11.4) for a ping with 4 ms in the
        // terminal, 4 ms in the base station and requests every 10 ms; 22 ms with 10 % errors.
        // LTE up: half of 10 ms until the request, 4 to the grant, 4 to the block, 1 on the air, 1.5
        // to decode. Down: 1.5 in the base station, 0.5 until a slot, 1 on the air, 1.5 to decode.
        ("lte-10mhz", [("bler", "0 %"), ("rlc", "am")], 15.5, 4.5),
        ("lte-20mhz", [("bler", "0 %"), ("rlc", "am")], 15.5, 4.5),
        ("lte-20mhz", [("bler", "0 %"), ("sr_period", "5 ms")], 13.0, 4.5),
        ("lte-20mhz", [("bler", "0 %"), ("terminal", "3 ms")], 14.5, 4.5),
        // Each failure costs 8 ms: 0.1 + 0.01 + 0.001 of them. After four (1 in 10^4) RLC needs 46.5.
        ("lte-20mhz", [("bler", "10 %"), ("rlc", "am")], 15.5 + 0.9, 4.5 + 0.9),
        // NR in slots of 0.5 ms, DDDSU: the request is in slot 4, the grant at the earliest in 8, an
        // S, the block in 12, so in 14, the next U: 11 slots with it, and 1.5 to decode. Down: 1.5
        // slots; D, D, D, S begin 1, 1, 1, 2 slots apart, so the mean wait is (3 x 1^2 + 2^2) / (2 x
        // 5) = 0.7; 1 on the air, 1.5 to decode.
        ("nr-20mhz-tdd", [("bler", "0 %"), ("rlc", "am")], 5.0 + 12.5 / 2.0, 4.7 / 2.0),
    ] {
        let keys = [("preset", preset), keys[0], keys[1]];
        for (direction, expected) in [(Up, uplink), (Down, downlink)] {
            let delays = Cell::new(&keys, &[0]).delays(direction, GAP, 20_000);
            assert_near(mean(&delays), expected, 0.01);
        }
    }
}

#[test]
fn each_failed_transmission_costs_one_round_trip() {
    for (preset, direction, most, step) in [
        // Without a failure at most 1.5 + 1 + 1 + 1.5 ms, or 10 + 4 + 4 + 1 + 1.5.
        ("lte-20mhz", Down, 5.0, 8.0),
        ("lte-20mhz", Up, 20.5, 8.0),
        // Up again 10 slots after: granted 4 slots later, sent 4 later, in the next U.
        ("nr-20mhz-tdd", Up, 10.0 + 6.25, 5.0),
    ] {
        let keys = [("preset", preset), ("bler", "30 %"), ("rlc", "um")];
        let delays = Cell::new(&keys, &[0]).delays(direction, ms(200), 3_000);
        let first = delays.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(first <= most, "{first} ms");
        for (sent, share) in [(0, 0.7), (1, 0.21), (2, 0.063)] {
            let is_this = |delay: &&f64| (*delay - first - step * f64::from(sent)).abs() < 1e-6;
            assert_near(delays.iter().filter(is_this).count() as f64 / 3e3, share, 0.2);
        }
    }
}

#[test]
fn the_peak_rate_is_that_of_the_resource_elements() {
    let each = 5.5547; // bits of an element at the best index
    for (preset, up, down) in [
        ("lte-10mhz", 48.0 * 144.0 * each / 1e3, 50.0 * 120.0 * each / 1e3),
        ("lte-20mhz", 96.0 * 144.0 * each / 1e3, 100.0 * 120.0 * each / 1e3),
        // In 2.5 ms one U, or three D and an S with 10 of 14 symbols.
        ("nr-20mhz-tdd", 51.0 * 154.0 * each / 2.5e3, 51.0 * (3.0 * 144.0 + 102.0) * each / 2.5e3),
    ] {
        let keys = [("preset", preset), ("snr", "30"), ("bler", "0 %")];
        // Headers are 6 B of 1,506.
        assert_near(rates(&keys, 1, Up, 2.0)[0], up / 1.004, 0.01);
        assert_near(rates(&keys, 1, Down, 2.0)[0], down / 1.004, 0.01);
    }
}

#[test]
fn both_schedulers_give_equal_time_without_fading() {
    for scheduler in ["proportional-fair", "round-robin"] {
        for direction in [Up, Down] {
            // Means of 14 and 26 dB: indices 11 (threshold 12.3 dB) and 15, half of the time each.
            let keys = [("scheduler", scheduler), ("snr_spread", "12"), ("bler", "0 %")];
            let rates = rates(&keys, 2, direction, 2.0);
            let peak = if direction == Up { 96.0 * 144.0 } else { 100.0 * 120.0 } / 1e3;
            assert_near(rates[0], peak * 3.3223 / 2.0, 0.02);
            assert_near(rates[1], peak * 5.5547 / 2.0, 0.02);
        }
    }
}

#[test]
fn proportional_fairness_sends_to_whom_the_signal_favours_now() {
    let keys = |scheduler| {
        let fading = [("fading", "5"), ("coherence", "20 ms"), ("snr", "10"), ("bler", "0 %")];
        [&fading[..], &[("scheduler", scheduler)]].concat()
    };
    let fair = rates(&keys("proportional-fair"), 4, Down, 16.0);
    let turns = rates(&keys("round-robin"), 4, Down, 16.0);
    let (fair_sum, turns_sum): (f64, f64) = (fair.iter().sum(), turns.iter().sum());
    assert!(fair_sum > 1.15 * turns_sum, "{fair:?} {turns:?}");
    fair.iter().for_each(|rate| assert_near(*rate, fair_sum / 4.0, 0.05));
}

#[test]
fn who_has_priority_waits_for_one_slot_at_most() {
    let keys = [("bler", "0 %"), ("queue", "100 MB"), ("scheduler", "round-robin")];
    for (rank, shortest, longest) in [(0, 9.0, 10.0), (1, 54.0, 64.0)] {
        let mut cell = Cell::new(&keys, &[rank, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        for station in 1..10 {
            (0..3_000).for_each(|n| cell.push(Time::ZERO, way(station, Down), n, 1500));
        }
        let sent = |n: u32| Time::ZERO + us(100_070) * (n / 30);
        (0..600).for_each(|n| cell.push(sent(n), way(0, Down), n, 1500));
        let fates = cell.finish().into_iter();
        let last = fates.filter(|fate| fate.1.station == 0 && fate.2 % 30 == 29);
        for delay in last.map(|fate| fate.0.since(sent(fate.2)).as_secs_f64() * 1e3) {
            // 30 packets fill 5.4 slots of 8,329 B: 1.5 in the base station, at most 1 until a slot,
            // 6 on the air, 1.5 to decode. As one of ten it waits five times for nine others.
            assert!((shortest..=longest).contains(&delay), "{rank}: {delay}");
        }
    }
}

#[test]
fn a_sleeping_station_is_reached_when_it_listens() {
    // It sleeps in 310 of 320 ms, then for another 155 ms in the mean: 310^2 / (2 x 320) = 150.2.
    let keys = [("bler", "0 %"), ("drx_cycle", "320 ms")];
    let gap = Duration::from_nanos(1_000_371_000);
    assert_near(mean(&Cell::new(&keys, &[0]).delays(Down, gap, 20_000)), 4.5 + 150.2, 0.01);
    assert_near(mean(&Cell::new(&keys, &[0]).delays(Up, gap, 20_000)), 15.5, 0.01);
    let busy = Cell::new(&keys, &[0]).delays(Down, ms(90), 1_000);
    assert!(busy[1..].iter().all(|delay| *delay < 5.1), "active for 100 ms");
}

/// Packets of several stations, sizes and directions.
fn crowd(keys: &[(&str, &str)], stations: usize) -> Vec<Fate> {
    let mut cell = Cell::new(keys, &[0; 4][..stations]);
    let mut rng = Seed::of_run(3, 0).stream("crowd");
    let mut now = Time::ZERO;
    for n in 0..20_000 {
        now += Duration::from_micros(rng.below(1_500));
        let way = way(rng.below(3) as u32, [Up, Down][rng.below(2) as usize]);
        cell.push(now, way, n, 60 + rng.below(3_000) as usize);
    }
    cell.finish()
}

#[test]
fn packets_keep_their_order_and_only_unacknowledged_mode_loses_them() {
    let fading =
        [("snr", "12"), ("fading", "6"), ("coherence", "5 ms"), ("preset", "nr-20mhz-tdd")];
    let constant =
        [("bler", "40 %"), ("snr", "12"), ("drx_cycle", "40 ms"), ("scheduler", "round-robin")];
    for (channel, rlc) in [(fading, "am"), (fading, "um"), (constant, "am"), (constant, "um")] {
        let fates = crowd(&[&channel[..], &[("rlc", rlc), ("queue", "100 MB")]].concat(), 3);
        let lost = fates.iter().filter(|fate| fate.3.is_some()).count();
        assert!((rlc == "um") == (lost > 20) && lost < 4_000, "{channel:?} {rlc}: {lost} lost");
        for way in [way(0, Up), way(1, Up), way(1, Down), way(2, Down)] {
            let own: Vec<_> = fates.iter().filter(|fate| fate.1 == way).collect();
            assert!(own.is_sorted_by_key(|fate| (fate.0, fate.2)));
        }
    }
}

#[test]
fn a_run_repeats_and_an_idle_station_changes_nothing() {
    let keys = [("snr", "12"), ("fading", "6"), ("rlc", "um")];
    let first = crowd(&keys, 3);
    assert_eq!(crowd(&keys, 3), first);
    assert_eq!(crowd(&keys, 4), first);
}

#[test]
fn what_exceeds_the_queue_is_dropped() {
    for direction in [Up, Down] {
        let mut cell = Cell::new(&[("queue", "15.1 kB")], &[0]);
        (0..100).for_each(|n| cell.push(Time::ZERO, way(0, direction), n, 1500));
        let is_dropped = |fate: &&Fate| fate.3 == Some(DropReason::QueueFull);
        assert_eq!(cell.finish().iter().filter(is_dropped).count(), 90);
    }
}

#[test]
fn a_station_in_a_handover_keeps_its_packets() {
    let paused = [(); 2].map(|()| vec![(Time::from_millis(100), Time::from_millis(300))]);
    let course = Some(Arc::new(Course { paused, ..Course::default() }));
    // By the one who drives the medium, and by the station's course.
    for course in [None, course] {
        let station = Station { priority: 0, course: course.clone() };
        let mut cell = Cell::of(&[("bler", "20 %")], vec![station, Station::default()]);
        for n in 0..100 {
            let at = Time::ZERO + ms(4) * n;
            cell.advance(at);
            let changes = course.is_none() && (n == 25 || n == 75);
            for direction in [Up, Down].into_iter().filter(|_| changes) {
                assert!(cell.medium.change(at, way(0, direction), &Change::Paused(n == 25)));
            }
            [Up, Down].into_iter().for_each(|direction| cell.push(at, way(0, direction), n, 700));
        }
        let fates = cell.finish();
        assert!(fates.iter().all(|fate| fate.3.is_none()));
        // What was on the air at 100 ms is decoded; the first request afterwards is answered in 9 ms.
        let during = |fate: &&Fate| (103..301).contains(&(fate.0.as_nanos() / 1_000_000));
        assert_eq!(fates.iter().filter(during).count(), 0);
    }
}

/// From 2.2 s on the signal is 3 dB, before it is 12: each half has the rate of its signal.
#[test]
fn the_rate_of_a_moving_station_follows_its_signal() {
    for direction in [Up, Down] {
        let fixed = |snr| rates(&[("snr", snr)], 1, direction, 2.0)[0];
        let snr = vec![(Time::ZERO, 12.0), (Time::from_millis(2_200), 3.0)];
        let course = Some(Arc::new(Course { snr, ..Course::default() }));
        let station = Station { priority: 0, course };
        let moving = rates_of(&[("snr", "50")], vec![station], direction, 4.0)[0];
        let expected = (fixed("12") + fixed("3")) / 2.0;
        assert!((moving / expected - 1.0).abs() < 0.02, "{moving} {expected}");
    }
}

#[test]
fn idle_stations_cost_no_wakes() {
    let mut cell = Cell::new(&[("bler", "0 %")], &[0; 1_000]);
    cell.push(Time::from_millis(1), way(999, Down), 0, 100);
    let wake = || cell.medium.next_wake().inspect(|at| cell.medium.advance(*at, &mut cell.fates));
    let wakes = std::iter::from_fn(wake).count();
    // Ready, sent, landed, and a slot that finds the queue empty.
    assert!(wakes <= 4, "{wakes}");
}

#[test]
fn refusals_name_the_key_and_the_remedy() {
    entry().model(&given(entry().example)).unwrap();
    for (key, value, parts) in [
        ("snr", "200", "snr: no radio has that; write at most 100 dB"),
        ("coherence", "0 s", "coherence is out of range; write 1ms to 10.24s"),
        ("drx_cycle", "10 ms", "drx_cycle is out of range; write 11ms to 10.24s"),
    ] {
        let error = entry().model(&given(&[(key, value)])).unwrap_err().to_string();
        assert_eq!(error, format!("cell: {parts}"));
    }
}
