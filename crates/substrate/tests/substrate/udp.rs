//! UDP sockets.

use std::collections::BTreeMap;

use crate::support::*;

fn run<T: Send, F: Future<Output = T>>(main: impl FnOnce(Hosts) -> F + Send) -> T {
    Simulation::default().run(seed(), slow_pair(), main).unwrap()
}

fn bind(hosts: &Hosts, host: &str, local: &str) -> Box<dyn UdpSocket> {
    hosts.get(host).unwrap().bind_udp(local.parse().unwrap()).unwrap()
}

#[test]
fn an_echo_takes_two_delays_and_two_serialisations_to_the_nanosecond() {
    // (IP header, the span for header + 8 + 100 bytes at 10 Mbit/s) for both families.
    for (family, host, serialization_ns) in
        [("IPv4", "10.0.0.2", 128 * 800), ("IPv6", "[fd00::2]", 148 * 800)]
    {
        let rtt = run(|hosts| async move {
            let any = if host.starts_with('[') { "[::]:0" } else { "0.0.0.0:0" };
            let server = format!("{host}:7");
            spawn(echo(bind(&hosts, "server", &server))).detach();
            let socket = bind(&hosts, "client", any);
            let payload = [7; 100];
            send(&*socket, server.parse().unwrap(), &payload).await.unwrap();
            let (back, meta) = receive(&*socket).await.unwrap();
            assert_eq!(back, payload);
            assert_eq!(meta.source, server.parse().unwrap());
            assert_eq!(meta.destination.is_ipv4(), family == "IPv4");
            now()
        });
        assert_eq!(rtt, Time::from_nanos(2 * (serialization_ns + 5_000_000)), "{family}");
    }
}

#[test]
fn ephemeral_ports_come_in_sequence_and_taken_addresses_are_refused() {
    let ports = run(|hosts| async move {
        let client = hosts.get("client").unwrap();
        let first = bind(&hosts, "client", "10.0.0.1:0");
        let second = bind(&hosts, "client", "10.0.0.1:0");
        assert_eq!(client.bind_udp(first.local_addr()).unwrap_err().kind(), ErrorKind::AddrInUse);
        let any = address("0.0.0.0", first.local_addr().port());
        assert_eq!(client.bind_udp(any).unwrap_err().kind(), ErrorKind::AddrInUse);
        let foreign = client.bind_udp(address(SERVER, 0)).unwrap_err();
        assert_eq!(foreign.kind(), ErrorKind::AddrNotAvailable);
        assert!(foreign.to_string().contains("client"), "{foreign}");
        let freed = first.local_addr();
        drop(first);
        client.bind_udp(freed).unwrap();
        [freed.port(), second.local_addr().port()]
    });
    assert_eq!(ports, [32_768, 32_769]);
}

#[test]
fn a_batch_becomes_real_packets_and_carries_the_ecn_field() {
    run(|hosts| async move {
        let server = bind(&hosts, "server", "10.0.0.2:9");
        let client = bind(&hosts, "client", "10.0.0.1:9");
        let payload: Vec<u8> = (0..250).collect();
        let datagram = Datagram {
            source: Some(CLIENT.parse().unwrap()),
            ecn: Ecn::Ect0,
            segment_size: Some(100),
            ..datagram(server.local_addr(), &payload)
        };
        send_as(&*client, datagram).await.unwrap();
        sleep(Duration::from_millis(50)).await;
        let mut buffers = [[0; 1_500]; 4];
        let mut slices = buffers.each_mut().map(|buffer| IoSliceMut::new(buffer));
        let mut meta = [ReceivedMeta::default(); 4];
        let count = poll_fn(|cx| server.poll_recv(cx, &mut slices, &mut meta)).await.unwrap();
        assert_eq!(meta[..count].iter().map(|m| m.len).collect::<Vec<_>>(), [100, 100, 50]);
        assert!(meta[..count].iter().all(|m| m.ecn == Ecn::Ect0 && m.stride == m.len));
        let received: Vec<u8> =
            (0..count).flat_map(|i| buffers[i][..meta[i].len].to_vec()).collect();
        assert_eq!(received, payload);
        let links = hosts.with_network(|network| {
            let link = network.links().next().unwrap();
            network.counters(link, trackbed_net::Direction::Forward).delivered.packets
        });
        assert_eq!(links, Some(3));
    });
}

#[test]
fn unread_datagrams_overflow_the_receive_buffer() {
    let network = pair(Bitrate::from_mbps(1_000), Duration::from_millis(1));
    let received = Simulation::default().run(seed(), network, |hosts| async move {
        let server = bind(&hosts, "server", "10.0.0.2:9");
        let client = bind(&hosts, "client", "10.0.0.1:9");
        for _ in 0..6_000 {
            send(&*client, server.local_addr(), &[0; 1_000]).await.unwrap();
        }
        sleep(Duration::from_secs(1)).await;
        send(&*client, server.local_addr(), b"late").await.unwrap();
        sleep(Duration::from_secs(1)).await;
        let mut count = 0;
        let mut meta = [ReceivedMeta::default()];
        let mut buffer = [0; 1_500];
        poll_fn(|cx| {
            while server.poll_recv(cx, &mut [IoSliceMut::new(&mut buffer)], &mut meta).is_ready() {
                count += 1;
            }
            Poll::Ready(())
        })
        .await;
        count
    });
    // Each is charged its 1,028 bytes and 576 for its management: the 5,230th fills 8 MiB.
    assert_eq!(received.unwrap(), (8_u32 << 20).div_ceil(1_028 + 576));
}

#[test]
fn a_datagram_that_cannot_be_is_refused_with_the_reason() {
    run(|hosts| async move {
        let socket = bind(&hosts, "client", "10.0.0.1:0");
        let big = send(&*socket, address(SERVER, 9), &[0; 65_508]).await.unwrap_err();
        assert_eq!(big.kind(), ErrorKind::InvalidInput);
        assert!(big.to_string().contains("65507"), "{big}");
        let family = send(&*socket, address("fd00::2", 9), b"x").await.unwrap_err();
        assert_eq!(family.kind(), ErrorKind::InvalidInput);
        let source = Some(SERVER.parse().unwrap());
        let foreign = Datagram { source, ..datagram(address(SERVER, 9), b"x") };
        let foreign = send_as(&*socket, foreign).await.unwrap_err();
        assert_eq!(foreign.kind(), ErrorKind::AddrNotAvailable);
    });
}

#[test]
fn a_multihomed_host_sends_and_receives_on_each_of_its_addresses() {
    let mut builder = NetworkBuilder::default();
    let (phone, server) = (builder.host("phone"), builder.host("server"));
    let end = |node, address: &str| End::new(node, [address.parse().unwrap()]);
    let spec = |millis| LinkSpec::new().then(Delay::fixed(Duration::from_millis(millis)));
    for (millis, ours, theirs) in [(10, "10.1.0.1", "10.1.0.2"), (40, "10.2.0.1", "10.2.0.2")] {
        let duplex = Duplex::new(&spec(millis), &spec(millis), &seed().child(ours));
        builder.connect(end(phone, ours), end(server, theirs), duplex);
    }
    let network = builder.build().unwrap();
    let arrivals = Simulation::default().run(seed(), network, |hosts| async move {
        assert_eq!(hosts.get("phone").unwrap().addresses().len(), 2);
        spawn(echo(bind(&hosts, "server", "10.1.0.2:7"))).detach();
        spawn(echo(bind(&hosts, "server", "10.2.0.2:7"))).detach();
        let socket = bind(&hosts, "phone", "0.0.0.0:0");
        let mut arrivals = BTreeMap::new();
        for (ours, theirs) in [("10.1.0.1", "10.1.0.2"), ("10.2.0.1", "10.2.0.2")] {
            let source = Some(ours.parse().unwrap());
            let hello = Datagram { source, ..datagram(address(theirs, 7), b"hello") };
            send_as(&*socket, hello).await.unwrap();
        }
        for _ in 0..2 {
            let (_, meta) = receive(&*socket).await.unwrap();
            arrivals.insert(meta.destination.to_string(), now());
        }
        arrivals
    });
    let expected = [("10.1.0.1".to_owned(), 20), ("10.2.0.1".to_owned(), 80)];
    assert_eq!(arrivals.unwrap(), expected.map(|(a, t)| (a, Time::from_millis(t))).into());
}

#[test]
fn a_host_reaches_itself() {
    run(|hosts| async move {
        for own in ["10.0.0.1:7", "127.0.0.1:7", "[fd00::1]:7", "[::1]:7"] {
            spawn(echo(bind(&hosts, "client", own))).detach();
            let any = if own.starts_with('[') { "[::]:0" } else { "0.0.0.0:0" };
            let socket = bind(&hosts, "client", any);
            send(&*socket, own.parse().unwrap(), b"me").await.unwrap();
            assert_eq!(receive(&*socket).await.unwrap().0, b"me");
        }
    });
}
