use crate::harness::*;

const QUEUE_FULL: Point = Point::Dropped(DropReason::QueueFull);

fn rate(mbps: u64, queue: DropTail) -> LinkSpec {
    LinkSpec::new().then(Rate::new(Bitrate::from_mbps(mbps), queue))
}

#[test]
fn packets_leave_one_serialisation_time_after_the_other() {
    let events = run(&rate(50, DropTail::of_packets(10)).then(Delay::fixed(ms(10))), burst(3));
    // 12,000 bit at 50 Mbit/s are 240 us.
    assert_eq!(times(&events, Point::Delivered), [10_240, 10_480, 10_720].map(Time::from_micros));
}

#[test]
fn serialisation_is_rounded_up_to_a_nanosecond() {
    // 12,000 bit at 7 Mbit/s are 1,714,285.71 ns.
    let spec = rate(7, DropTail::of_packets(10));
    let expected = [1_714_286, 3_428_572].map(Time::from_nanos);
    assert_eq!(times(&run(&spec, burst(2)), Point::Delivered), expected);
}

#[test]
fn an_idle_link_waits_for_no_one() {
    let events = run(&rate(12, DropTail::of_packets(1)), every(ms(5), 3));
    assert_eq!(times(&events, Point::Delivered), [1, 6, 11].map(Time::from_millis));
}

#[test]
fn the_packet_being_sent_is_not_in_the_queue() {
    let events = run(&rate(12, DropTail::of_packets(2)), burst(5));
    assert_eq!(numbers(&events, Point::Delivered), [0, 1, 2]);
    assert_eq!(numbers(&events, QUEUE_FULL), [3, 4]);
    assert_eq!(numbers(&run(&rate(12, DropTail::of_packets(0)), burst(2)), Point::Delivered), [0]);
}

#[test]
fn a_departure_makes_room_before_an_arrival_at_the_same_time() {
    let arrivals = [(0, 0), (0, 1), (1, 2), (1, 3)];
    let arrivals = arrivals.map(|(at, n)| (Time::from_millis(at), packet(n, 1500)));
    let events = run(&rate(12, DropTail::of_packets(1)), arrivals);
    assert_eq!(numbers(&events, Point::Delivered), [0, 1, 2]);
    assert_eq!(numbers(&events, QUEUE_FULL), [3]);
}

#[test]
fn a_limit_in_bytes_lets_a_small_packet_in_where_a_large_one_finds_no_room() {
    let queue = DropTail::of_bytes(ByteSize::from_bytes(2_000));
    let lengths = [1500, 1500, 1000, 500, 40];
    let arrivals = (0..).zip(lengths).map(|(n, len)| (Time::ZERO, packet(n, len)));
    let events = run(&rate(12, queue), arrivals);
    assert_eq!(numbers(&events, Point::Delivered), [0, 1, 3]);
    assert_eq!(numbers(&events, QUEUE_FULL), [2, 4]);
}

#[test]
fn a_limit_in_bytes_counts_only_those_that_wait() {
    let queue = DropTail::of_bytes(ByteSize::from_bytes(3_000));
    // One packet a millisecond for as long as it takes the queue to turn over many times.
    let events = run(&rate(12, queue), every(ms(1), 100));
    assert_eq!(numbers(&events, Point::Delivered).len(), 100);
    let events = run(&rate(12, queue), every(us(500), 100));
    // 50 leave within 50 ms, two wait at the end.
    assert_eq!(numbers(&events, Point::Delivered).len(), 52);
}

#[test]
fn the_rate_is_never_exceeded() {
    let mut rng = Seed::of_run(5, 0).stream("arrivals");
    let mut at = Time::ZERO;
    let arrivals = (0..5_000).map(|n| {
        at += us(rng.below(2_000));
        (at, packet(n, 40 + rng.below(1_461) as usize))
    });
    let rate_12 = Bitrate::from_mbps(12);
    let events = run(&rate(12, DropTail::of_packets(50)), arrivals);
    let mut last = Time::ZERO;
    for (at, point, packet) in &events {
        if *point == Point::Delivered {
            assert!(*at - last >= rate_12.serialization(packet.len()));
            last = *at;
        }
    }
}

#[test]
fn a_change_of_rate_holds_for_the_rest_of_the_packet() {
    let link = rate(12, DropTail::of_packets(10)).build(&Seed::of_run(1, 0));
    let mut driver = Driver::new(link, Events::new());
    driver.push(Time::ZERO, packet(0, 1500));
    driver.push(Time::ZERO, packet(1, 1500));
    // Half a packet at 12 Mbit/s, the other half at 6, a quarter of the next at 6, then nothing
    // for 10 ms, then the rest at 12.
    change(&mut driver, 500, Change::Rate(Bitrate::from_mbps(6)));
    change(&mut driver, 2_000, Change::Rate(Bitrate::from_bps(0)));
    assert_eq!(driver.link.next_wake(), None);
    change(&mut driver, 12_000, Change::Rate(Bitrate::from_mbps(12)));
    driver.drain();
    assert_eq!(times(&driver.seen, Point::Delivered), [1_500, 12_750].map(Time::from_micros));
}

#[test]
fn a_change_of_delay_holds_for_packets_that_set_out_later() {
    let spec = rate(12, DropTail::of_packets(10)).then(Delay::fixed(ms(10)));
    let mut driver = Driver::new(spec.build(&Seed::of_run(1, 0)), Events::new());
    (0..3).for_each(|n| driver.push(Time::ZERO, packet(n, 1500)));
    // Packet 0 set out after 1 ms, packet 1 sets out after 2 ms and may not overtake it.
    change(&mut driver, 1_500, Change::Delay(ms(3)));
    driver.drain();
    assert_eq!(times(&driver.seen, Point::Delivered), [11, 11, 11].map(Time::from_millis));
    assert_eq!(numbers(&driver.seen, Point::Delivered), [0, 1, 2]);
    assert!(!driver.link.change(Time::from_millis(20), &Change::Loss(Default::default())));
}

fn change(driver: &mut Driver<Events>, at_us: u64, change: Change) {
    let at = Time::from_micros(at_us);
    driver.advance(at);
    assert!(driver.link.change(at, &change));
}
