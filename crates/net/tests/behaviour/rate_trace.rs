//! Mahimahi's semantics, worked out by hand.

use crate::harness::*;

fn trace(text: &str) -> LinkSpec {
    LinkSpec::new().then(RateTrace::new(Trace::parse(text).unwrap(), DropTail::of_packets(100)))
}

fn delivered_ms(spec: &LinkSpec, packets: &[(u64, usize)]) -> Vec<(u32, u64)> {
    let arrivals =
        (0..).zip(packets).map(|(n, (at, len))| (Time::from_millis(*at), packet(n, *len)));
    let events = run(spec, arrivals);
    events.iter().map(|(at, _, packet)| (number(packet), at.as_nanos() / 1_000_000)).collect()
}

#[test]
fn each_line_carries_1500_bytes_and_the_trace_repeats() {
    let events = run(&trace("1\n2\n2\n5\n"), burst(9));
    let expected = [1, 2, 2, 5, 6, 7, 7, 10, 11].map(Time::from_millis);
    assert_eq!(times(&events, Point::Delivered), expected);
}

#[test]
fn small_packets_share_an_opportunity_and_large_ones_take_several() {
    let packets = [(0, 500), (0, 500), (0, 600), (0, 1400), (0, 3100), (0, 40)];
    // At 10 ms: 500 + 500 and 500 of 600. 20: 100, then 1,400. 30: 1,500 of 3,100. 40: the same.
    // 50: 100 and 40.
    let expected = [(0, 10), (1, 10), (2, 20), (3, 20), (4, 50), (5, 50)];
    assert_eq!(delivered_ms(&trace("10"), &packets), expected);
}

#[test]
fn an_opportunity_without_a_packet_is_lost() {
    // Nothing waits at 10, 20 and 30 ms. The packet at 40 ms comes too late for that one.
    assert_eq!(delivered_ms(&trace("10"), &[(31, 1500), (40, 1500)]), [(0, 40), (1, 50)]);
    // The rest of an opportunity is lost as well.
    assert_eq!(delivered_ms(&trace("10"), &[(1, 40), (11, 1500)]), [(0, 10), (1, 20)]);
}

#[test]
fn a_time_of_zero_counts_in_every_repetition() {
    // 0, 4 and 4 + 0, 4 + 4 and 8 + 0: a packet at time zero is too late for the first one.
    let events = run(&trace("0\n4"), burst(5));
    assert_eq!(times(&events, Point::Delivered), [4, 4, 8, 8, 12].map(Time::from_millis));
}

#[test]
fn a_long_idle_time_is_skipped() {
    let day = 86_400_000;
    assert_eq!(delivered_ms(&trace("3\n10"), &[(day * 365, 1500)]), [(0, day * 365 + 3)]);
}

#[test]
fn a_packet_waits_in_the_queue_until_its_opportunity() {
    let queue = RateTrace::new(Trace::parse("10").unwrap(), DropTail::of_packets(2));
    assert_eq!(numbers(&run(&LinkSpec::new().then(queue), burst(4)), Point::Delivered), [0, 1]);
}

#[test]
fn the_mean_rate_is_that_of_the_trace() {
    let twelve_megabit = Trace::parse("1\n").unwrap();
    let spec = LinkSpec::new().then(RateTrace::new(twelve_megabit, DropTail::of_packets(5_000)));
    let events = run(&spec.then(Delay::fixed(ms(7))), every(ms(0), 5_000));
    assert_eq!(times(&events, Point::Delivered).last(), Some(&Time::from_millis(5_007)));
}

#[test]
fn errors_name_the_line_and_the_remedy() {
    for (text, part) in [
        ("", "empty"),
        ("0\n0\n", "make it last longer"),
        ("1\n\n2.5\n", "line 3"),
        ("1\nx\n", "line 2 of the rate trace is not a whole number"),
        ("1\n-2\n", "line 2"),
        ("5\n3\n", "line 2 of the rate trace is earlier"),
        ("99999999999999999999", "line 1"),
        ("9999999999999999999", "hundred years"),
    ] {
        let error = Trace::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
    let plain = Trace::parse("1\n2\n").unwrap();
    assert_eq!(Trace::parse("\u{feff}# my 5G drive\r\n1\r\n\r\n 2\r\n").unwrap(), plain);
}
