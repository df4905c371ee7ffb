use std::net::SocketAddr;

use trackbed_core::packet::{Ecn, UdpDatagram};
use trackbed_core::{Bitrate, Seed};

use super::*;
use crate::queue::DropTail;
use crate::spec::LinkSpec;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn datagram(from: &str, to: &str, len: usize) -> Packet {
    let header = if ip(from).is_ipv4() { 28 } else { 48 };
    let payload = vec![0; len - header];
    let packet = UdpDatagram::emit(
        SocketAddr::new(ip(from), 1),
        SocketAddr::new(ip(to), 2),
        Ecn::NotCapable,
        &payload,
    );
    assert_eq!(packet.len(), len);
    packet
}

fn plain(mbps: u64, delay_ms: u64) -> Duplex {
    let rate = Bitrate::from_mbps(mbps);
    let delay = Duration::from_millis(delay_ms);
    let spec = LinkSpec::simple(rate, DropTail::of_packets(100), delay);
    Duplex::new(&spec, &spec, &Seed::of_run(1, 0))
}

fn run(network: &mut Network) -> Vec<Delivery> {
    let mut deliveries: Vec<Delivery> = std::iter::from_fn(|| network.poll_delivery()).collect();
    while let Some(at) = network.next_wake() {
        network.advance(at);
        deliveries.extend(std::iter::from_fn(|| network.poll_delivery()));
    }
    deliveries
}

#[test]
fn a_packet_takes_serialisation_and_delay_of_every_link_on_its_way() {
    let mut builder = NetworkBuilder::new();
    let (a, r, b) = (builder.host("a"), builder.router("r"), builder.host("b"));
    builder.connect(End::new(a, [ip("10.0.0.1")]), End::new(r, []), plain(50, 10));
    builder.connect(End::new(r, []), End::new(b, [ip("10.0.1.1")]), plain(10, 5));
    let mut network = builder.build().unwrap();
    for _ in 0..2 {
        network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.1.1", 1500));
    }
    // 240 us at 50 Mbit/s, 10 ms, 1,200 us at 10 Mbit/s, 5 ms; the second waits for the first.
    let arrivals: Vec<_> = run(&mut network).iter().map(|d| (d.node, d.at)).collect();
    assert_eq!(arrivals, [(b, Time::from_micros(16_440)), (b, Time::from_micros(17_640))]);
}
