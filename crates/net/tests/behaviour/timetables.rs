//! Rates, losses and flushes that take effect at given times, to the nanosecond.

use trackbed_net::models::parse_rates;

use crate::harness::*;

const FLUSHED: Point = Point::Dropped(DropReason::Flushed);

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

fn rates(rows: &[(u64, u64)]) -> RateTimetable {
    let rows = rows.iter().map(|(from, mbps)| (at(*from), Bitrate::from_mbps(*mbps)));
    RateTimetable::new(rows, DropTail::of_packets(100)).unwrap()
}

fn flushes(rows: &[(u64, u64)]) -> Flush {
    Flush::new(rows.iter().map(|(when, bytes)| (at(*when), ByteSize::from_bytes(*bytes)))).unwrap()
}

/// 1,500 bytes are 12,000 bit: 1 ms at 12 Mbit/s, 2 at 6, 12 at 1. From 2.5 ms on at 6 Mbit/s, the
/// half of packet 2 that is left takes 1 ms, up to 3.5; packet 3 up to 5.5. Packet 4 begins then; at
/// 6 ms a quarter is sent, and the rest takes 9 ms at 1 Mbit/s, up to 15.
#[test]
fn a_packet_that_is_half_sent_goes_on_at_the_new_rate() {
    let rows = [(0, 12), (2_500, 6), (6_000, 1)]
        .map(|(us, mbps)| (Time::from_micros(us), Bitrate::from_mbps(mbps)));
    let timetable = RateTimetable::new(rows, DropTail::of_packets(9)).unwrap();
    let events = run(&LinkSpec::new().then(timetable), burst(5));
    let expected = [1_000, 2_000, 3_500, 5_500, 15_000].map(Time::from_micros);
    assert_eq!(times(&events, Point::Delivered), expected);
}

/// At rate zero packets wait; with a later rate they go on where they stopped.
#[test]
fn at_rate_zero_packets_wait() {
    let spec = LinkSpec::new().then(rates(&[(0, 12), (2, 0), (50, 12)])).then(Delay::fixed(ms(5)));
    assert_eq!(times(&run(&spec, burst(4)), Point::Delivered), [6, 7, 56, 57].map(at));
    let from_zero = LinkSpec::new().then(rates(&[(0, 0), (10, 12)]));
    assert_eq!(times(&run(&from_zero, burst(1)), Point::Delivered), [at(11)]);
}

/// An idle link is not woken; changes that it missed take effect when a packet arrives.
#[test]
fn an_idle_link_sleeps_through_its_timetable() {
    let spec =
        LinkSpec::new().with(rates(&[(0, 12), (10, 1), (20, 3)])).with(flushes(&[(15, 9_999)]));
    let mut driver = Driver::new(spec.build(&Seed::of_run(1, 0)), Events::new());
    assert_eq!(driver.link.next_wake(), None);
    driver.push(at(100), packet(0, 1500));
    driver.drain();
    assert_eq!(times(&driver.seen, Point::Delivered), [at(104)]);
}

/// A timetable of one row is a rate, whatever the queue does.
#[test]
fn one_row_is_a_constant_rate() {
    let rate = Bitrate::from_mbps(3);
    let codel = Codel { target: ms(1), interval: ms(10), ..Codel::default() };
    let timetable = RateTimetable::new([(Time::ZERO, rate)], codel).unwrap();
    let delay = Delay::fixed(ms(7));
    let one = LinkSpec::new().then(timetable).then(delay.clone());
    let other = LinkSpec::new().then(Rate::new(rate, codel)).then(delay);
    assert!(run(&one, every(ms(1), 300)) == run(&other, every(ms(1), 300)));
}

#[test]
fn a_rate_that_is_set_holds_until_the_timetables_next() {
    let spec = LinkSpec::new().then(rates(&[(0, 12), (10, 3)]));
    let mut driver = Driver::new(spec.build(&Seed::of_run(1, 0)), Events::new());
    assert!(driver.link.change(Time::ZERO, &Change::Rate(Bitrate::from_mbps(6))));
    for number in 0..6 {
        driver.push(Time::ZERO, packet(number, 1500));
    }
    driver.drain();
    assert_eq!(times(&driver.seen, Point::Delivered), [2, 4, 6, 8, 10, 14].map(at));
}

/// 10 KiB are 10,240 bytes: six packets of 1,500, and not a seventh. The one that is being sent goes
/// on, and the next one follows it at once.
#[test]
fn a_flush_takes_the_packets_that_have_waited_longest() {
    for (queue, name) in [(0, "drop-tail"), (1, "codel")] {
        let rate = Bitrate::from_mbps(12);
        let rate = match queue {
            0 => Rate::new(rate, DropTail::of_packets(50)),
            _ => Rate::new(rate, Codel::default()),
        };
        let spec =
            LinkSpec::new().with(rate).with(flushes(&[(2, 10_240)])).with(Delay::fixed(ms(9)));
        let events = run(&spec, burst(12));
        // At 2 ms packets 0 and 1 are sent, and 2 has just begun.
        assert_eq!(numbers(&events, FLUSHED), [3, 4, 5, 6, 7, 8], "{name}");
        assert!(times(&events, FLUSHED).iter().all(|time| *time == at(2)));
        assert_eq!(numbers(&events, Point::Delivered), [0, 1, 2, 9, 10, 11]);
        assert_eq!(times(&events, Point::Delivered), [10, 11, 12, 13, 14, 15].map(at));
    }
}

#[test]
fn a_flush_makes_room_and_takes_no_more_than_there_is() {
    let rate = Rate::new(Bitrate::from_mbps(12), DropTail { packets: Some(3), bytes: None });
    let spec = LinkSpec::new().then(flushes(&[(1, 0), (5, 1_499), (6, 1 << 40)])).then(rate);
    let mut arrivals: Vec<_> = (0..4).map(|number| (at(4), packet(number, 1500))).collect();
    arrivals.extend((4..9).map(|number| (at(6), packet(number, 1500))));
    let events = run(&spec, arrivals);
    // At 6 ms packets 0 and 1 are sent and 2 begins; 3 is flushed, and three find room behind.
    assert_eq!(numbers(&events, FLUSHED), [3]);
    assert_eq!(numbers(&events, Point::Dropped(DropReason::QueueFull)), [7, 8]);
    assert_eq!(numbers(&events, Point::Delivered), [0, 1, 2, 4, 5, 6]);
}

/// As at a handover: at 3 ms the queue is lost, and nothing is sent for 10 ms. What comes meanwhile
/// waits.
#[test]
fn a_flush_works_through_a_pause_and_on_a_trace() {
    let down = Spells::new([(at(3), at(13))]).unwrap();
    let spec = LinkSpec::new()
        .with(Rate::new(Bitrate::from_mbps(12), DropTail::of_packets(50)))
        .with(flushes(&[(3, 1 << 40)]))
        .with(Pause { down });
    let mut arrivals: Vec<_> = burst(8).collect();
    arrivals.push((at(5), packet(8, 1500)));
    let events = run(&spec, arrivals);
    assert_eq!(numbers(&events, FLUSHED), [4, 5, 6, 7]);
    assert_eq!(numbers(&events, Point::Delivered), [0, 1, 2, 3, 8]);
    assert_eq!(times(&events, Point::Delivered), [1, 2, 3, 14, 15].map(at));
    let trace = RateTrace::new(Trace::parse("10").unwrap(), DropTail::of_packets(9));
    let events = run(&LinkSpec::new().then(flushes(&[(15, 3_000)])).then(trace), burst(5));
    assert_eq!(numbers(&events, FLUSHED), [1, 2]);
    assert_eq!(times(&events, Point::Delivered), [10, 20, 30].map(at));
}

#[test]
fn without_a_queue_there_is_nothing_to_flush() {
    let spec = LinkSpec::new().then(flushes(&[(3, 1 << 40)])).then(Delay::fixed(ms(9)));
    assert_eq!(run(&spec, burst(5)), run(&LinkSpec::new().then(Delay::fixed(ms(9))), burst(5)));
}

/// Nothing before 100 ms, everything from then on, nothing from 200 ms on; half of 20,000 packets,
/// give or take five times sqrt(n/4) = 354, from 300 ms on.
#[test]
fn losses_change_when_the_timetable_says() {
    let half = Ratio::from_parts(1, 2);
    let rows = [(100, Ratio::ONE), (200, Ratio::ZERO), (300, half)];
    let law = LossTimetable::new(rows.map(|(from, share)| (at(from), share))).unwrap();
    let events = run(&LinkSpec::new().then(Loss::new(law)), every(ms(1), 20_300));
    let lost = numbers(&events, Point::Dropped(DropReason::Loss));
    let (early, late): (Vec<u32>, Vec<u32>) = lost.into_iter().partition(|number| *number < 300);
    assert_eq!(early, (100..200).collect::<Vec<u32>>());
    assert!(late.len().abs_diff(10_000) < 354, "{}", late.len());
    // The same draws as a constant probability: another timetable shifts nothing.
    let constant = run(&LinkSpec::new().then(Loss::bernoulli(half)), every(ms(1), 20_300));
    let constant = numbers(&constant, Point::Dropped(DropReason::Loss));
    assert!(late.iter().eq(constant.iter().filter(|number| **number >= 300)));
}

#[test]
fn a_loss_that_is_set_takes_the_place_of_the_timetable() {
    let spec = LinkSpec::new().then(Loss::new(LossTimetable::new([(at(5), Ratio::ONE)]).unwrap()));
    let mut driver = Driver::new(spec.build(&Seed::of_run(1, 0)), Events::new());
    assert!(driver.link.change(Time::ZERO, &Change::Loss(Ratio::ZERO)));
    driver.push(at(7), packet(0, 1500));
    assert_eq!(numbers(&driver.seen, Point::Delivered), [0]);
}

/// Measurements of a drive: epochs, milliseconds, gaps, decimals beyond a bit, headings of several tools.
#[test]
fn a_table_of_rates_has_its_units_in_its_heading() {
    let rows = [(0, 12_500_000), (500, 0), (2_000, 7_250_123)];
    let rows = rows.map(|(ms, bps)| (at(ms), Bitrate::from_bps(bps)));
    for text in [
        "# a phone\n0 s, 12.5 Mbit/s\r\n\r\n500 ms, 0 bit/s\r\n2 s, 7250123 bit/s",
        "\u{feff}time, Mbit/s\r\n0, 12.5\r\n0.5, 0\r\n1,\r\n2, 7.2501234567\r\n",
        "Timestamp;cell;DL throughput (kbps)\n1700000000,5;7;12500\n1700000001;8;0\n\
         1700000002;8;-\n1700000002,5;8;7250,1234\n",
        "rate_mbps\ttime_ms\n12.5\t100\n0\t600\nNaN\t1600\n7.250123\t2100\n",
        "time,bit/s\n1700000000100,12500000\n1700000000600,0\n1700000002100,7250123.4\n",
        "time_s rate_Mbit/s\n0 12.5\n0.5 1\n0.5  0\n2 7.250123\n",
        "time (ns GMT),mbps\n150000000000,12.5\n150500000000,0\n152000000000,7.250123\n",
        "time,mbps\n2023-11-14 22:13:20 UTC,12.5\n2023-11-14 17:13:20.5 EST,0\n2023-11-14T22:13:22Z,7.250123\n",
    ] {
        assert_eq!(parse_rates(text).unwrap(), rows, "{text}");
    }
    for (text, part) in [
        ("time,rate\n0,1\n", "line 1: no column has a unit in its heading"),
        ("time,Mbit/s\n0,1\n\nx,2\n", "line 4: \"x\" is not a valid time"),
        ("time,Mbit/s\n0,1\n2,1\n1,1\n", "line 4: is earlier than the line before"),
        ("time,up_Mbps,down_Mbps\n0,1,2\n", "line 1: the columns up_Mbps and down_Mbps both"),
        ("0\t1\n", "a heading such as time_s,rate_Mbit/s"),
        ("time,Mbit/s\r\n0,1\r\n1,-2\r\n", "line 3: \"-2"),
        ("0,1\n", "line 1: \"0\" has no unit"),
    ] {
        let error = parse_rates(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}
