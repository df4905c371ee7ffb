//! Networks: routes, shared bottlenecks, several interfaces, counters and taps.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use trackbed_net::{BuildError, LOOPBACK_DELAY, Tap};

use crate::harness::*;

/// Both directions alike, with room for 100 packets.
pub fn duplex(mbps: u64, delay: Duration) -> Duplex {
    let spec = LinkSpec::simple(Bitrate::from_mbps(mbps), DropTail::of_packets(100), delay);
    Duplex::new(&spec, &spec, &Seed::of_run(1, 0))
}

/// Hosts "a" and "b", and the link between them.
pub fn pair(link: Duplex) -> (Network, NodeId, NodeId, LinkId) {
    let mut builder = NetworkBuilder::default();
    let (a, b) = (builder.host("a"), builder.host("b"));
    let a_end = End::new(a, addresses(["10.0.0.1", "fd00::1"]));
    let link = builder.connect(a_end, End::new(b, [ip("10.0.0.2")]), link);
    (builder.build().unwrap(), a, b, link)
}

/// Lets everything happen and returns what arrived.
pub fn drain(network: &mut Network) -> Vec<Delivery> {
    let mut deliveries: Vec<Delivery> = std::iter::from_fn(|| network.poll_delivery()).collect();
    while let Some(at) = network.next_wake() {
        network.advance(at);
        deliveries.extend(std::iter::from_fn(|| network.poll_delivery()));
    }
    deliveries
}

fn arrivals(network: &mut Network) -> Vec<(NodeId, Time)> {
    drain(network).iter().map(|delivery| (delivery.node, delivery.at)).collect()
}

fn addresses<const N: usize>(texts: [&str; N]) -> [IpAddr; N] {
    texts.map(ip)
}

#[test]
fn a_packet_takes_serialisation_and_delay_of_every_link_on_its_way() {
    let mut builder = NetworkBuilder::default();
    let (a, r, b) = (builder.host("a"), builder.router("r"), builder.host("b"));
    builder.connect(End::new(a, [ip("10.0.0.1")]), End::new(r, []), duplex(50, ms(10)));
    builder.connect(End::new(r, []), End::new(b, [ip("10.0.1.1")]), duplex(10, ms(5)));
    let mut network = builder.build().unwrap();
    for _ in 0..2 {
        network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.1.1", 1500));
    }
    // 240 us at 50 Mbit/s, 10 ms, 1,200 us at 10 Mbit/s, 5 ms; the second waits for the first.
    let expected = [(b, Time::from_micros(16_440)), (b, Time::from_micros(17_640))];
    assert_eq!(arrivals(&mut network), expected);
    assert_eq!(network.next_wake(), None);
}

/// a - r0 - r1 - r2 - b, with a shortcut r0 - r2.
#[test]
fn packets_take_the_way_with_the_fewest_links() {
    let mut builder = NetworkBuilder::default();
    let (a, b) = (builder.host("a"), builder.host("b"));
    let routers: Vec<NodeId> = (0..4).map(|n| builder.router(format!("r{n}"))).collect();
    let mut join = |from: usize, to: usize| {
        builder.connect(End::new(routers[from], []), End::new(routers[to], []), duplex(100, ms(1)))
    };
    let long = [join(0, 1), join(1, 2)];
    let shortcut = join(0, 2);
    let other = [join(2, 3), join(3, 0)];
    let a_end = End::new(a, addresses(["10.0.0.1", "fd00::1"]));
    builder.connect(a_end, End::new(routers[0], []), duplex(100, ms(1)));
    let b_end = End::new(b, addresses(["10.0.1.1", "fd00:1::1"]));
    builder.connect(b_end, End::new(routers[2], [ip("10.0.1.254")]), duplex(100, ms(1)));
    let mut network = builder.build().unwrap();
    network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.1.1", 500));
    network.send(Time::ZERO, b, datagram("fd00:1::1", "fd00::1", 500));
    network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.1.254", 500));
    let mut nodes: Vec<NodeId> = arrivals(&mut network).iter().map(|(node, _)| *node).collect();
    nodes.sort();
    assert_eq!(nodes, [a, b, routers[2]]);
    let used = |link: LinkId, direction| network.counters(link, direction).offered.packets;
    assert_eq!((used(shortcut, Direction::Forward), used(shortcut, Direction::Backward)), (2, 1));
    for link in long.into_iter().chain(other) {
        assert_eq!(used(link, Direction::Forward) + used(link, Direction::Backward), 0);
    }
}

#[test]
fn two_senders_share_a_bottleneck() {
    let mut builder = NetworkBuilder::default();
    let (router, server) = (builder.router("r"), builder.host("server"));
    let server_end = End::new(server, [ip("10.9.0.1")]);
    let bottleneck = builder.connect(End::new(router, []), server_end, duplex(12, ms(0)));
    let senders = ["10.0.0.1", "10.0.0.2"].map(|address| {
        let host = builder.host(address);
        builder.connect(End::new(host, [ip(address)]), End::new(router, []), duplex(100, ms(1)));
        (host, address)
    });
    let mut network = builder.build().unwrap();
    // Each sends as much as the bottleneck carries, for a second: half of it has to go.
    for n in 0..1_000 {
        for (host, address) in senders {
            network.send(Time::from_millis(n), host, datagram(address, "10.9.0.1", 1500));
        }
    }
    let deliveries = drain(&mut network);
    let mut per_source = BTreeMap::new();
    for delivery in &deliveries {
        *per_source.entry(delivery.packet.source()).or_insert(0) += 1;
    }
    let counters = network.counters(bottleneck, Direction::Forward);
    assert_eq!(counters.offered.packets, 2_000);
    assert_eq!(counters.delivered.packets, deliveries.len() as u64);
    assert_eq!(counters.delivered.bytes, deliveries.len() as u64 * 1500);
    assert_eq!(counters.dropped(DropReason::QueueFull), counters.dropped_in_all());
    assert_eq!(counters.delivered.packets + counters.dropped_in_all().packets, 2_000);
    // A second's worth, the queue and the packet being sent.
    assert!((1_095..=1_105).contains(&deliveries.len()), "{}", deliveries.len());
    assert_eq!(per_source.len(), 2);
    let spacing = deliveries.windows(2).map(|pair| pair[1].at - pair[0].at);
    assert!(spacing.min().unwrap() >= ms(1), "12 Mbit/s are one packet a millisecond");
}

/// A phone with Wi-Fi and cellular: the source address chooses the link, both ways.
#[test]
fn the_source_address_chooses_the_interface() {
    let mut builder = NetworkBuilder::default();
    let (phone, server) = (builder.host("phone"), builder.host("server"));
    let internet = builder.router("internet");
    let mut attach = |node, texts: [&str; 2], delay| {
        builder.connect(
            End::new(node, addresses(texts)),
            End::new(internet, []),
            duplex(100, delay),
        )
    };
    let wifi = attach(phone, ["10.1.0.1", "fd01::1"], ms(5));
    let cellular = attach(phone, ["10.2.0.1", "fd02::1"], ms(30));
    attach(server, ["10.3.0.1", "fd03::1"], ms(0));
    let mut network = builder.build().unwrap();
    for (from, to) in [("10.1.0.1", "10.3.0.1"), ("10.2.0.1", "10.3.0.1"), ("fd02::1", "fd03::1")] {
        network.send(Time::ZERO, phone, datagram(from, to, 1250));
    }
    for to in ["10.1.0.1", "10.2.0.1"] {
        network.send(Time::ZERO, server, datagram("10.3.0.1", to, 1250));
    }
    assert_eq!(drain(&mut network).len(), 5);
    let used = |link, direction| network.counters(link, direction).delivered.packets;
    assert_eq!((used(wifi, Direction::Forward), used(wifi, Direction::Backward)), (1, 1));
    assert_eq!((used(cellular, Direction::Forward), used(cellular, Direction::Backward)), (2, 1));
    let interfaces = network.interfaces(phone);
    assert_eq!(interfaces.len(), 2);
    assert_eq!(network.addresses(interfaces[1]), addresses(["10.2.0.1", "fd02::1"]));
    assert_eq!(network.interface_of(ip("fd02::1")), Some(interfaces[1]));
    assert_eq!(network.node("server"), Some(server));
}

#[test]
fn what_has_no_way_is_counted() {
    let mut builder = NetworkBuilder::default();
    let (a, b, island) = (builder.host("a"), builder.host("b"), builder.host("island"));
    let other = builder.host("other");
    builder.connect(
        End::new(a, [ip("10.0.0.1")]),
        End::new(b, [ip("10.0.0.2")]),
        duplex(10, ms(1)),
    );
    let island_end = End::new(island, [ip("10.7.0.1")]);
    builder.connect(island_end, End::new(other, [ip("10.7.0.2")]), duplex(10, ms(1)));
    let mut network = builder.build().unwrap();
    for (from, to) in [
        ("10.0.0.1", "10.0.0.99"), // no host; the neighbour, a host, does not forward
        ("10.0.0.1", "10.7.0.1"),  // out of reach
        ("10.0.0.77", "10.0.0.2"), // not an address of the sender
        ("10.7.0.1", "10.7.0.2"),  // another host's
    ] {
        network.send(Time::ZERO, a, datagram(from, to, 100));
    }
    assert_eq!(drain(&mut network), []);
    assert_eq!((network.unroutable().packets, network.unroutable().bytes), (4, 400));
}

#[test]
fn a_host_reaches_itself() {
    let (mut network, a, _, link) = pair(duplex(10, ms(1)));
    for (from, to) in
        [("127.0.0.1", "127.0.0.1"), ("10.0.0.1", "10.0.0.1"), ("fd00::1", "::1"), ("::1", "::1")]
    {
        network.send(Time::from_millis(1), a, datagram(from, to, 100));
    }
    assert_eq!(arrivals(&mut network), vec![(a, Time::from_millis(1) + LOOPBACK_DELAY); 4]);
    assert_eq!(network.counters(link, Direction::Forward).offered.packets, 0);
}

#[test]
fn parameters_change_while_the_network_runs() {
    let (mut network, a, b, link) = pair(duplex(12, ms(1)));
    network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.0.2", 1500));
    let faster = Change::Rate(Bitrate::from_mbps(24));
    assert!(network.change(Time::from_micros(500), link, Direction::Forward, &faster));
    let less = Change::Loss(Ratio::ZERO);
    assert!(!network.change(Time::from_micros(500), link, Direction::Forward, &less));
    // Half of it at 12 Mbit/s, half at 24, and the delay.
    assert_eq!(arrivals(&mut network), [(b, Time::from_micros(1_750))]);
    // A packet that is under way when the change comes is left alone: 750 bytes at 24 Mbit/s are
    // 250 us.
    let at = |us: u64| Time::from_micros(10_000 + us);
    network.send(at(0), a, datagram("10.0.0.1", "10.0.0.2", 750));
    network.send(at(0), a, datagram("10.0.0.1", "10.0.0.2", 1500));
    let slower = Change::Rate(Bitrate::from_mbps(6));
    assert!(network.change(at(500), link, Direction::Forward, &slower));
    assert_eq!(arrivals(&mut network), [(b, at(1_250)), (b, at(500 + 1_000 + 1_000))]);
}

type Sighting = (Time, LinkId, Direction, Point, usize);

#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Sighting>>>);

impl Tap for Recorder {
    fn see(&mut self, at: Time, link: LinkId, direction: Direction, point: Point, packet: &Packet) {
        self.0.lock().unwrap().push((at, link, direction, point, packet.len()));
    }
}

#[test]
fn a_tap_sees_packets_enter_leave_and_vanish() {
    let mut builder = NetworkBuilder::default();
    let (a, r, b) = (builder.host("a"), builder.router("r"), builder.host("b"));
    let spec = LinkSpec::simple(Bitrate::from_mbps(12), DropTail::of_packets(0), ms(1));
    let lossy = LinkSpec::new().with(Loss::bernoulli(Ratio::ONE));
    let seed = Seed::of_run(1, 0);
    let first = Duplex::new(&spec, &lossy, &seed);
    let first = builder.connect(End::new(a, [ip("10.0.0.1")]), End::new(r, []), first);
    let second = Duplex::new(&LinkSpec::new(), &spec, &seed);
    let second = builder.connect(End::new(r, []), End::new(b, [ip("10.0.0.2")]), second);
    let mut network = builder.build().unwrap();
    let recorder = Recorder::default();
    network.set_tap(Some(Box::new(recorder.clone())));
    network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.0.2", 1500));
    network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.0.2", 1000));
    network.send(Time::ZERO, b, datagram("10.0.0.2", "10.0.0.1", 750));
    drain(&mut network);
    let full = Point::Dropped(DropReason::QueueFull);
    let (forward, backward) = (Direction::Forward, Direction::Backward);
    let at = Time::from_micros;
    let expected = [
        (at(0), first, forward, Point::Entered, 1500),
        (at(0), first, forward, Point::Entered, 1000),
        (at(0), first, forward, full, 1000),
        (at(0), second, backward, Point::Entered, 750),
        (at(1_500), second, backward, Point::Delivered, 750),
        (at(1_500), first, backward, Point::Entered, 750),
        (at(1_500), first, backward, Point::Dropped(DropReason::Loss), 750),
        (at(2_000), first, forward, Point::Delivered, 1500),
        (at(2_000), second, forward, Point::Entered, 1500),
        (at(2_000), second, forward, Point::Delivered, 1500),
    ];
    assert_eq!(*recorder.0.lock().unwrap(), expected);
}

#[test]
fn what_happens_together_happens_in_the_order_of_the_links() {
    let mut builder = NetworkBuilder::default();
    let (r, sink) = (builder.router("r"), builder.host("sink"));
    let sources: Vec<(NodeId, String)> = (0..20)
        .map(|n| {
            let address = format!("10.0.0.{}", n + 1);
            let host = builder.host(address.clone());
            builder.connect(End::new(host, [ip(&address)]), End::new(r, []), duplex(12, ms(1)));
            (host, address)
        })
        .collect();
    builder.connect(End::new(r, []), End::new(sink, [ip("10.1.0.1")]), duplex(1_000, us(1)));
    let mut network = builder.build().unwrap();
    for (host, address) in sources.iter().rev() {
        network.send(Time::ZERO, *host, datagram(address, "10.1.0.1", 1500));
    }
    let order: Vec<IpAddr> = drain(&mut network).iter().map(|d| d.packet.source()).collect();
    let expected: Vec<IpAddr> = sources.iter().map(|(_, address)| ip(address)).collect();
    assert_eq!(order, expected);
}

#[test]
fn ten_thousand_hosts_behind_one_router_reach_one_another() {
    let mut builder = NetworkBuilder::default();
    let router = builder.router("r");
    let address = |n: u32| IpAddr::from(std::net::Ipv4Addr::from(0x0a00_0001 + n));
    let instant = LinkSpec::new();
    let seed = Seed::of_run(1, 0);
    let hosts: Vec<NodeId> = (0..10_000)
        .map(|n| {
            let host = builder.host(format!("h{n}"));
            let link = Duplex::new(&instant, &instant, &seed);
            builder.connect(End::new(host, [address(n)]), End::new(router, []), link);
            host
        })
        .collect();
    let mut network = builder.build().unwrap();
    for n in 0..10_000 {
        let peer = (n * 7_919 + 13) % 10_000;
        let packet = datagram(&address(n).to_string(), &address(peer).to_string(), 100);
        network.send(Time::ZERO, hosts[n as usize], packet);
        let delivery = if n == peer { drain(&mut network).pop() } else { network.poll_delivery() };
        assert_eq!(delivery.unwrap().node, hosts[peer as usize]);
    }
}

#[test]
fn impossible_networks_are_refused() {
    let build = |first: &[&str], second: &[&str], mtu, same_name| {
        let mut builder = NetworkBuilder::default();
        let a = builder.host("a");
        let b = builder.host(if same_name { "a" } else { "b" });
        let end = |node, texts: &[&str]| End::new(node, texts.iter().map(|text| ip(text)));
        builder.connect(end(a, first), end(b, second), duplex(1, ms(1)).with_mtu(mtu));
        builder.build().map(|_| ()).unwrap_err()
    };
    let one = ["10.0.0.1"];
    let two = ["10.0.0.2"];
    assert_eq!(build(&one, &one, 1500, false), BuildError::DuplicateAddress(ip("10.0.0.1")));
    assert_eq!(build(&one, &[], 1500, false), BuildError::NoAddress("b".into()));
    assert_eq!(build(&one, &two, 1500, true), BuildError::DuplicateName("a".into()));
    for odd in ["127.0.0.1", "0.0.0.0", "ff02::1", "224.0.0.1"] {
        assert_eq!(build(&one, &[odd], 1500, false), BuildError::UnusableAddress(ip(odd)));
    }
    assert_eq!(build(&one, &two, 575, false), BuildError::MtuTooSmall { mtu: 575, least: 576 });
    let six = build(&["fd00::1"], &two, 1279, false);
    assert_eq!(six, BuildError::MtuTooSmall { mtu: 1279, least: 1280 });
    assert!(six.to_string().contains("use at least 1280"));
    let mut builder = NetworkBuilder::default();
    let a = builder.host("a");
    builder.connect(End::new(a, [ip(one[0])]), End::new(a, [ip(two[0])]), duplex(1, ms(1)));
    assert_eq!(builder.build().unwrap_err(), BuildError::SelfLink("a".into()));
    let mut builder = NetworkBuilder::default();
    builder.edge("alone");
    assert_eq!(builder.build().unwrap_err(), BuildError::EdgeLinks("alone".into()));
}

#[test]
fn an_edge_sends_and_takes_packets_of_any_address() {
    let mut builder = NetworkBuilder::default();
    let (near, far) = (builder.edge("near"), builder.edge("far"));
    let link = builder.connect(End::new(near, []), End::new(far, []), duplex(50, ms(10)));
    let mut network = builder.build().unwrap();
    network.send(Time::ZERO, near, datagram("192.0.2.1", "198.51.100.7", 1500));
    network.send(Time::ZERO, far, datagram("127.0.0.1", "127.0.0.1", 1500));
    let arrived = Time::from_micros(10_240);
    assert_eq!(arrivals(&mut network), [(far, arrived), (near, arrived)]);
    assert_eq!(network.counters(link, Direction::Forward).delivered.packets, 1);
    assert_eq!(network.unroutable().packets, 0);
}

#[test]
fn a_router_sends_an_edge_what_is_addressed_to_it() {
    let mut builder = NetworkBuilder::default();
    let (edge, router, host) = (builder.edge("edge"), builder.router("r"), builder.host("host"));
    builder.connect(End::new(edge, [ip("10.0.0.1")]), End::new(router, []), duplex(50, ms(1)));
    builder.connect(End::new(router, []), End::new(host, [ip("10.0.1.1")]), duplex(50, ms(1)));
    let mut network = builder.build().unwrap();
    network.send(Time::ZERO, host, datagram("10.0.1.1", "10.0.0.1", 1500));
    network.send(Time::ZERO, edge, datagram("10.0.0.1", "10.0.1.1", 1500));
    let arrived = Time::from_micros(2_480);
    assert_eq!(arrivals(&mut network), [(edge, arrived), (host, arrived)]);
}

/// 1,500 bytes take 12 ms at 1 Mbit/s. The packet that is being sent goes on, and is lost at the host.
#[test]
fn what_waits_for_an_address_that_is_gone_takes_no_time_of_the_link() {
    let mut builder = NetworkBuilder::default();
    let (server, r, phone) = (builder.host("server"), builder.router("r"), builder.host("phone"));
    builder.connect(End::new(server, [ip("10.0.0.1")]), End::new(r, []), duplex(1_000, ms(0)));
    let two = addresses(["10.0.1.1", "10.0.1.2"]);
    let link = builder.connect(End::new(r, []), End::new(phone, two), duplex(1, ms(5)));
    let mut network = builder.build().unwrap();
    for to in ["10.0.1.1"; 5].into_iter().chain(["10.0.1.2"]) {
        network.send(Time::ZERO, server, datagram("10.0.0.1", to, 1500));
    }
    assert!(network.withdraw(Time::from_millis(1), two[0]));
    assert!(!network.withdraw(Time::from_millis(1), two[0]));
    // 12 us on the first link, then twice 12 ms and 5 ms.
    assert_eq!(arrivals(&mut network), [(phone, Time::from_micros(29_012))]);
    assert_eq!(network.counters(link, Direction::Forward).dropped(DropReason::Flushed).packets, 4);
    assert_eq!(network.unroutable().packets, 1);
}

/// What is under way when a run ends is lost with the same probability as the rest.
#[test]
fn after_the_end_of_a_run_the_counters_know_the_fate_of_every_packet() {
    let loaded = || {
        let spec = LinkSpec::simple(Bitrate::from_mbps(12), DropTail::of_packets(50), ms(100))
            .with(Loss::bernoulli(Ratio::from_parts(1, 2)));
        let (mut network, a, _, link) = pair(Duplex::new(&spec, &spec, &Seed::of_run(1, 0)));
        (0..100).for_each(|_| network.send(Time::ZERO, a, datagram("10.0.0.1", "10.0.0.2", 1500)));
        (network, link)
    };
    let fates = |network: &Network, link| {
        let counters = network.counters(link, Direction::Forward);
        let lost =
            [DropReason::QueueFull, DropReason::Loss].map(|why| counters.dropped(why).packets);
        (counters.delivered.packets, lost, network.held(link, Direction::Forward))
    };
    let (mut whole, link) = loaded();
    drain(&mut whole);
    let (delivered, [full, lost], _) = fates(&whole, link);
    assert!(lost > 10 && delivered + full + lost == 100, "{delivered} {full} {lost}");

    let (mut ended, link) = loaded();
    ended.drain(Duration::from_secs(60));
    assert_eq!(fates(&ended, link), (delivered, [full, lost], 0));
    assert_eq!((ended.next_wake(), ended.poll_delivery().is_none()), (None, true));

    // A packet takes 1 ms to send and 100 ms to arrive.
    let (mut early, link) = loaded();
    early.drain(ms(20));
    assert_eq!(fates(&early, link).0, 0);
    assert!(fates(&early, link).2 > 0);
}
