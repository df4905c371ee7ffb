//! RFC 8290, against its own arithmetic: 1,500 bytes at 12 Mbit/s leave every millisecond.

use crate::harness::*;

fn link(queue: FqCodel) -> LinkSpec {
    LinkSpec::new().then(Rate::new(Bitrate::from_mbps(12), queue))
}

/// A queue that drops only what exceeds `packets`.
fn patient(packets: u64) -> FqCodel {
    let codel = Codel { packets, target: Duration::from_secs(1_000), ..Codel::default() };
    FqCodel { codel, ..FqCodel::default() }
}

/// A packet of one of the flows, which differ in their source's last byte.
fn of(flow: u8, len: usize) -> Packet {
    datagram(&format!("10.0.1.{flow}"), "10.0.0.2", len)
}

fn flows(events: &Events, point: Point) -> Vec<u8> {
    events.iter().filter(|(_, at, _)| *at == point).map(|(.., packet)| packet.bytes()[15]).collect()
}

/// Packets of flows: their length, the gap between them in microseconds, how many.
fn mixed(flows: &[(u8, usize, u64, u32)]) -> Vec<(Time, Packet)> {
    let of_one = |&(flow, len, gap, count): &(u8, usize, u64, u32)| {
        (0..count).map(move |n| (Time::ZERO + us(gap) * n, of(flow, len)))
    };
    let mut all: Vec<(Time, Packet)> = flows.iter().flat_map(of_one).collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

#[test]
fn a_lone_flow_meets_codel() {
    let plain = LinkSpec::new().then(Rate::new(Bitrate::from_mbps(12), Codel::default()));
    for ecn in [Ecn::NotCapable, Ecn::Ect0] {
        let arrivals = || (0..1_800).map(|n| (Time::ZERO + us(500) * n, packet_with(n, 1500, ecn)));
        assert_eq!(run(&link(FqCodel::default()), arrivals()), run(&plain, arrivals()));
    }
}

/// Long packets at 2 and 1 times the link's rate, beside short ones of 0.53 times it.
#[test]
fn flows_share_evenly_however_much_they_send() {
    for (gap, queue) in
        [500, 1_000].into_iter().flat_map(|gap| [(gap, patient(100)), (gap, FqCodel::default())])
    {
        let count = (4_000_000 / gap) as u32;
        let mut events = run(&link(queue), mixed(&[(1, 1500, gap, count), (2, 200, 250, 16_000)]));
        events.retain(|(at, ..)| *at <= Time::from_millis(4_000));
        let long = flows(&events, Point::Delivered).iter().filter(|flow| **flow == 1).count();
        assert_near(long as f64 * 1_500.0, 3_000_000.0, 0.01);
    }
}

/// The packet that is being sent takes at most a millisecond more, and its own 300 bytes 200 us.
#[test]
fn a_packet_of_a_sparse_flow_passes_first() {
    let arrivals = [(1, 1500, 100, 800), (2, 1500, 100, 800), (3, 300, 20_050, 4)];
    let mut events = run(&link(patient(10_000)), mixed(&arrivals));
    events.retain(|(.., packet)| packet.len() == 300);
    let times = times(&events, Point::Delivered);
    let late = |n: u64| times[n as usize] > Time::ZERO + us(20_050 * n + 1_200);
    assert!(times.len() == 4 && (1..4).all(|n| !late(n)), "{times:?}");
}

/// One is being sent and eight have room, so the longest queue shrinks from seven to three.
#[test]
fn too_many_packets_push_out_the_first_of_the_longest_queue() {
    let arrivals = mixed(&[(1, 1500, 0, 8), (2, 1500, 0, 4), (3, 1500, 0, 1)]);
    let events = run(&link(patient(8)), arrivals);
    assert_eq!(flows(&events, Point::Dropped(DropReason::QueueFull)), [1; 4]);
    // A quantum of 1,514 bytes lets a flow send two packets in its first turn, and the second time one.
    assert_eq!(flows(&events, Point::Delivered), [1, 1, 1, 2, 2, 3, 1, 2, 2]);
}

#[test]
fn a_flush_takes_the_oldest_of_all_flows() {
    let flush = Flush::new([(Time::ZERO + us(10), ByteSize::from_bytes(4_600))]).unwrap();
    let rate = Rate::new(Bitrate::from_mbps(12), patient(100));
    let arrivals =
        (0..).zip([1, 1, 2, 1, 2, 2]).map(|(n, flow)| (Time::ZERO + us(n), of(flow, 1500)));
    let events = run(&LinkSpec::new().then(flush).then(rate), arrivals);
    assert_eq!(flows(&events, Point::Dropped(DropReason::Flushed)), [1, 2, 1]);
    assert_eq!(flows(&events, Point::Delivered), [1, 2, 2]);
}
