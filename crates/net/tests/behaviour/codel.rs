//! RFC 8289, against its own arithmetic: 1,500 bytes at 12 Mbit/s leave every millisecond, and
//! arrive every half millisecond.

use crate::harness::*;

const MANAGED: Point = Point::Dropped(DropReason::QueueManagement);
const MARKED: Point = Point::Altered(Alteration::Marked);

fn codel(codel: Codel) -> LinkSpec {
    LinkSpec::new().then(Rate::new(Bitrate::from_mbps(12), codel))
}

/// The packet that leaves the queue after n ms has waited n/2 ms: 5 ms at n = 10. An interval
/// later the first is dropped, then one at the end of each interval / sqrt(k), at the first
/// departure thereafter.
fn schedule(count: u32) -> Vec<Time> {
    let mut drop_ms = 110.0;
    let mut schedule = Vec::new();
    for k in 1..=count {
        schedule.push(Time::from_millis(f64::ceil(drop_ms) as u64));
        drop_ms += 100.0 / f64::from(k).sqrt();
    }
    schedule
}

#[test]
fn drops_follow_the_control_law() {
    let events = run(&codel(Codel::default()), every(us(500), 1_800));
    assert_eq!(times(&events, MANAGED)[..12], schedule(12));
    assert!(times(&events, Point::Dropped(DropReason::QueueFull)).is_empty());
}

#[test]
fn packets_of_capable_transports_are_marked_on_the_same_schedule() {
    let arrivals =
        |ecn| (0..1_800).map(move |n| (Time::ZERO + us(500) * n, packet_with(n, 1500, ecn)));
    for ecn in [Ecn::Ect0, Ecn::Ect1] {
        let events = run(&codel(Codel::default()), arrivals(ecn));
        assert_eq!(times(&events, MARKED)[..12], schedule(12));
        assert!(times(&events, MANAGED).is_empty());
        let marked = |e: &&(_, Point, Packet)| {
            e.1 == Point::Delivered && e.2.ecn() == Ecn::CongestionExperienced
        };
        assert_eq!(events.iter().filter(marked).count(), times(&events, MARKED).len());
    }
    let deaf = Codel { ecn: false, ..Codel::default() };
    assert_eq!(times(&run(&codel(deaf), arrivals(Ecn::Ect0)), MANAGED)[..12], schedule(12));
}

#[test]
fn a_queue_that_is_bad_for_less_than_an_interval_is_left_alone() {
    // 150 packets at once take 150 ms: the last ones wait for long, but all wait above the target
    // from 5 ms on, so the interval ends at 105 ms. 100 packets are gone by then.
    assert_eq!(run(&codel(Codel::default()), every(ms(0), 100)).len(), 100);
    let some = run(&codel(Codel::default()), every(ms(0), 150));
    assert_eq!(times(&some, MANAGED), [Time::from_millis(105)]);
}

#[test]
fn waiting_below_the_target_is_never_punished() {
    // Pairs, every 2 ms: each second packet waits 1 ms, for ever.
    let arrivals = (0..5_000).map(|n| (Time::from_millis(u64::from(n / 2) * 2), packet(n, 1500)));
    assert_eq!(numbers(&run(&codel(Codel::default()), arrivals), Point::Delivered).len(), 5_000);
}

/// On a slow link every packet waits longer than the target; RFC 8289 section 4.2 leaves a queue
/// alone that holds less than a packet.
#[test]
fn a_queue_of_one_packet_is_never_punished() {
    let slow = Rate::new(Bitrate::from_bps(120_000), Codel::default());
    let arrivals =
        (0..100).map(|n| (Time::ZERO + ms(100) * u32::saturating_sub(n, 1), packet(n, 1500)));
    let events = run(&LinkSpec::new().then(slow), arrivals);
    assert_eq!(numbers(&events, Point::Delivered).len(), 100);
    assert_eq!(times(&events, Point::Delivered)[99], Time::from_millis(10_000));
}

#[test]
fn the_limits_hold_beside_the_control_law() {
    let events = run(&codel(Codel { packets: 3, ..Codel::default() }), every(ms(0), 6));
    assert_eq!(numbers(&events, Point::Delivered), [0, 1, 2, 3]);
    assert_eq!(numbers(&events, Point::Dropped(DropReason::QueueFull)), [4, 5]);
}

#[test]
fn dropping_resumes_where_it_ended_if_the_pause_was_short() {
    // Two overloads of 900 ms with 600 ms between them in which the queue drains.
    let overload = |from| every(us(500), 1_800).map(move |(at, packet)| (at + ms(from), packet));
    let first = times(&run(&codel(Codel::default()), overload(0)), MANAGED);
    let both = times(&run(&codel(Codel::default()), overload(0).chain(overload(2_400))), MANAGED);
    let second = &both[first.len()..];
    // RFC 8289 section 5.6: the count goes on if the last drop was due less than 16 intervals ago,
    // so the second drop follows the first after much less than an interval.
    assert!(second[1] - second[0] < ms(50), "{second:?}");
    assert_eq!(first[1] - first[0], ms(100));
}
