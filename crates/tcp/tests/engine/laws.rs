//! The engine against laws that do not come from it: arithmetic, RFCs and published models.

use crate::track::*;

const MSS: f64 = 1448.0;

/// A link that is so fast that only its delay counts.
fn fast(delay_ms: u64) -> Link {
    Link::new(100_000, delay_ms, usize::MAX)
}

/// Bytes per second between `from` and `to`, in seconds.
fn goodput(track: &mut Track, from: u64, to: u64) -> f64 {
    let mut exchange = Exchange::begin(track, usize::MAX);
    let before = exchange.run_until(Time::from_millis(from * 1000));
    (exchange.run_until(Time::from_millis(to * 1000)) - before) as f64 / (to - from) as f64
}

#[track_caller]
fn assert_near(measured: f64, expected: f64, percent: f64) {
    let deviation = (measured / expected - 1.0) * 100.0;
    assert!(deviation.abs() <= percent, "{measured} for {expected}: {deviation:+.2} %");
}

#[test]
fn a_window_limits_the_rate_to_window_over_round_trip_time() {
    for (buffer, delay_ms) in [(65_536, 10), (262_144, 50), (1_000_000, 100)] {
        let receive_buffer = BufferSize { initial: buffer, max: buffer };
        // A delayed acknowledgment would hold back a part of the window.
        let client = Config { receive_buffer, delayed_ack: false, ..tcp("cubic") };
        let mut track = Track::new([client, tcp("cubic")], [fast(delay_ms), fast(delay_ms)]);
        let rate = goodput(&mut track, 5, 25);
        let window = f64::from(track.server().stats().send_window_bytes);
        // Only whole segments are sent into it.
        let used = (window / MSS).floor() * MSS;
        assert_near(rate, used / (delay_ms as f64 * 2e-3), 1.0);
    }
}

#[test]
fn each_of_five_lost_syns_costs_a_second_and_the_next_one_two() {
    let time = |lost: Vec<u64>| {
        let links = [fast(20).with_fate(Fate::List(lost, 0)), fast(20)];
        request(&mut Track::alike(tcp("cubic"), links), 1000)
    };
    let clean = time(vec![]);
    assert_eq!(time(vec![0]) - clean, Duration::from_secs(1));
    assert_eq!(time(vec![0, 1]) - clean, Duration::from_secs(2));
    assert_eq!(time((0..5).collect()) - clean, Duration::from_secs(5));
    assert_eq!(time((0..6).collect()) - clean, Duration::from_secs(7));
}

#[test]
fn after_an_outage_the_first_backed_off_timeout_beyond_it_succeeds() {
    let plain = Config { tail_loss_probe: false, ..tcp("cubic") };
    for outage_ms in [1u64, 150, 500, 1_000, 2_500, 6_000, 20_000] {
        let mut track = Track::alike(plain.clone(), [fast(20), fast(20)]);
        Exchange::begin(&mut track, 1000).run_until(Time::from_millis(5_000));
        let start = track.now;
        let outage = Duration::from_millis(outage_ms);
        track.links[0].set_fate(Fate::Outage(vec![(start, start + outage)]));
        let rto = track.client().stats().rto;
        track.client().write(start, b"again").unwrap();
        track.flush(0);
        while track.server().stats().bytes_received < 24 + 5 {
            track.step().unwrap();
            (0..2).for_each(|end| track.flush(end));
        }
        let waited = (1..).map(|k| rto * ((1 << k) - 1)).find(|&at| at >= outage).unwrap();
        let expected = waited + Duration::from_millis(20);
        assert!(track.now - start - expected <= Duration::from_nanos(10), "outage {outage_ms} ms");
        assert!(track.now - start >= expected, "outage {outage_ms} ms");
    }
}

/// The mean window in segments while every `every`-th data packet is lost, at 100 ms.
fn window_at_periodic_loss(congestion: &str, every: u64, from: u64, to: u64) -> f64 {
    let down = fast(50).with_fate(Fate::Every(every, 0));
    let mut track = Track::alike(Config { batching: false, ..tcp(congestion) }, [fast(50), down]);
    goodput(&mut track, from, to) * 0.1 / MSS
}

#[test]
fn reno_answers_periodic_loss_with_its_response_function() {
    assert_near(window_at_periodic_loss("reno", 1_000, 50, 350), 38.0, 5.0);
    assert_near(window_at_periodic_loss("reno", 10_000, 60, 460), 120.0, 5.0);
}

#[test]
fn cubic_answers_periodic_loss_with_its_response_function() {
    assert_near(window_at_periodic_loss("cubic", 10_000, 60, 460), 187.0, 10.0);
    assert_near(window_at_periodic_loss("cubic", 100_000, 60, 260), 1054.0, 10.0);
}

/// The constant C in rate = MSS / RTT x C / sqrt(p) for random loss p.
fn constant_at_random_loss(per_mille: u64) -> f64 {
    let loss = Ratio::from_parts(per_mille, 10_000);
    let rng = Seed::of_run(3, per_mille).stream("loss");
    let down = fast(25).with_fate(Fate::Random(loss, Box::new(rng)));
    let mut track = Track::alike(Config { batching: false, ..tcp("reno") }, [fast(25), down]);
    goodput(&mut track, 10, 810) * 0.05 / MSS * loss.as_f64().sqrt()
}

#[test]
fn reno_answers_random_loss_with_the_square_root_law() {
    for tenth_per_mille in [10, 4] {
        assert_near(constant_at_random_loss(tenth_per_mille), 1.29, 10.0);
    }
}

#[test]
fn one_reno_flow_uses_a_buffer_as_the_sawtooth_says() {
    // 300 packets of 1,500 bytes fit on the path of 100 ms at 36 Mbit/s.
    const BDP: usize = 300;
    for (quarters, expected) in [(0, 0.750), (1, 0.893), (2, 0.964), (4, 1.000)] {
        // A growing window sends two packets back to back: one must find room.
        let down = Link::new(36, 50, BDP * quarters / 4 + 1);
        let plain = Config { batching: false, delayed_ack: false, ..tcp("reno") };
        let mut track = Track::alike(plain, [fast(50), down]);
        let capacity = 36e6 / 8.0 * MSS / 1500.0;
        assert_near(goodput(&mut track, 60, 360) / capacity, expected, 2.0);
    }
}
