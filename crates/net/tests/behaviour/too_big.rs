//! Path MTU discovery: which node responds to a packet that is too big, and how (RFC 1191, RFC
//! 4443).

use trackbed_core::packet::{Offload, Segmentation, TooBig};

use crate::harness::*;
use crate::topology::{drain, duplex};

/// a -1500- r -1300- b (1400 from b); the router optionally has addresses.
fn narrow_path(addresses: &[&str]) -> (Network, [NodeId; 2], LinkId) {
    let mut builder = NetworkBuilder::default();
    let (a, r, b) = (builder.host("a"), builder.router("r"), builder.host("b"));
    let router_end = End::new(r, addresses.iter().map(|text| ip(text)));
    builder.connect(End::new(a, [ip("10.0.0.1"), ip("fd00::1")]), router_end, duplex(100, ms(1)));
    let b_end = End::new(b, [ip("10.0.1.1"), ip("fd00:1::1")]);
    let narrow = Duplex { mtu: [1300, 1400], ..duplex(100, ms(1)) };
    let narrow = builder.connect(End::new(r, []), b_end, narrow);
    (builder.build().unwrap(), [a, b], narrow)
}

fn reply(deliveries: &[Delivery]) -> (NodeId, TooBig) {
    match deliveries {
        [only] => (only.node, TooBig::parse(&only.packet).unwrap()),
        other => panic!("one reply, not {other:?}"),
    }
}

#[test]
fn a_router_answers_from_its_own_address() {
    for (from, to, router) in
        [("10.0.0.1", "10.0.1.1", "10.0.0.254"), ("fd00::1", "fd00:1::1", "fd00::fe")]
    {
        let (mut network, [a, _], narrow) = narrow_path(&["10.0.0.254", "fd00::fe"]);
        let packet = datagram(from, to, 1301);
        network.send(Time::ZERO, a, packet.clone());
        let deliveries = drain(&mut network);
        let (node, too_big) = reply(&deliveries);
        assert_eq!((node, too_big.mtu), (a, 1300));
        assert_eq!(deliveries[0].packet.source(), ip(router));
        assert_eq!(too_big.original[..], packet.bytes()[..too_big.original.len()]);
        let counters = network.counters(narrow, Direction::Forward);
        assert_eq!(counters.offered.packets, 1);
        assert_eq!(counters.dropped(DropReason::TooBig).bytes, 1301);
    }
}

#[test]
fn a_router_without_addresses_answers_from_the_range_for_benchmarks() {
    for (from, to, range) in
        [("10.0.0.1", "10.0.1.1", "198.18."), ("fd00::1", "fd00:1::1", "2001:2::")]
    {
        let (mut network, [a, _], _) = narrow_path(&[]);
        network.send(Time::ZERO, a, datagram(from, to, 1400));
        let deliveries = drain(&mut network);
        assert_eq!(reply(&deliveries).1.mtu, 1300);
        assert!(deliveries[0].packet.source().to_string().starts_with(range));
    }
}

#[test]
fn a_packet_of_exactly_the_mtu_passes() {
    let (mut network, [a, b], _) = narrow_path(&[]);
    network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.1.1", 1300));
    network.send(Time::from_millis(9), b, datagram("10.0.1.1", "10.0.0.1", 1400));
    let nodes: Vec<NodeId> = drain(&mut network).iter().map(|delivery| delivery.node).collect();
    assert_eq!(nodes, [b, a]);
}

#[test]
fn a_host_is_told_at_once_of_its_own_link() {
    let (mut network, [_, b], _) = narrow_path(&[]);
    network.send(Time::from_millis(3), b, datagram("fd00:1::1", "fd00::1", 1401));
    let delivery = network.poll_delivery().unwrap();
    assert_eq!((delivery.node, delivery.at), (b, Time::from_millis(3)));
    assert_eq!(TooBig::parse(&delivery.packet).unwrap().mtu, 1400);
    assert_eq!(network.mtu(network.interfaces(b)[0]), 1400);
    assert_eq!(drain(&mut network), []);
}

#[test]
fn an_icmp_message_is_never_answered() {
    let (mut network, [a, _], _) = narrow_path(&[]);
    let quoted = datagram("10.0.1.1", "10.0.0.1", 1400);
    // An error message with a body larger than the link takes.
    let header = trackbed_core::packet::IpHeader {
        source: ip("10.0.0.1"),
        destination: quoted.source(),
        protocol: trackbed_core::packet::protocol::ICMP,
        ecn: Default::default(),
    };
    network.send(Time::ZERO, a, Packet::build(&header, 1380, |body| body[0] = 3));
    assert_eq!(drain(&mut network), []);
}

#[test]
fn what_counts_of_a_super_packet_is_its_segments() {
    let (mut network, [a, b], narrow) = narrow_path(&["10.0.0.254", "fd00::fe"]);
    let packet = |segment| {
        let offload = Offload {
            segmentation: Segmentation::Udp,
            checksum: true,
            segment,
            sum_from: 20,
            sum_at: 6,
        };
        datagram("10.0.0.1", "10.0.1.1", 9_028).with_offload(offload)
    };
    network.send(Time::ZERO, a, packet(1_272));
    let deliveries = drain(&mut network);
    assert_eq!((deliveries[0].node, deliveries[0].packet.offload().segment), (b, 1_272));
    let first = *network.counters(narrow, Direction::Forward);
    // 9,000 bytes are seven datagrams of 1,272 bytes and one of 96, each with 28 bytes of headers.
    assert_eq!((first.delivered.packets, first.delivered.bytes), (8, 9_000 + 8 * 28));
    network.send(Time::from_millis(1_000), a, packet(1_273));
    let (node, too_big) = reply(&drain(&mut network));
    assert_eq!((node, too_big.mtu), (a, 1_300));
    let dropped = network.counters(narrow, Direction::Forward).dropped(DropReason::TooBig);
    assert_eq!((dropped.packets, dropped.bytes), (8, 9_000 + 8 * 28));
}
