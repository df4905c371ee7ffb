//! Hosts that move from one network to the next.

use trackbed_net::NodeId;

use crate::support::*;

const NETWORKS: [[&str; 2]; 3] =
    [["10.1.0.1", "fd00:1::1"], ["172.16.0.1", "fd00:2::1"], ["172.16.0.2", "fd00:2::2"]];

fn networks() -> Vec<Vec<IpAddr>> {
    NETWORKS.map(|pair| pair.map(|text| text.parse().unwrap()).to_vec()).to_vec()
}

/// A phone with addresses in three networks, and a server 10 ms away.
fn network() -> (Network, NodeId) {
    let mut builder = NetworkBuilder::default();
    let (phone, server) = (builder.host("phone"), builder.host("server"));
    let spec = LinkSpec::new().then(Delay::fixed(Duration::from_millis(10)));
    builder.connect(
        End::new(phone, networks().concat()),
        End::new(server, ["10.0.0.1", "fd00::1"].map(|text| text.parse().unwrap())),
        Duplex::new(&spec, &spec, &seed()),
    );
    (builder.build().unwrap(), phone)
}

fn unroutable(hosts: &Hosts) -> u64 {
    hosts.with_network(|network| network.unroutable().packets).unwrap()
}

#[test]
fn the_old_address_is_gone_at_once_and_the_new_one_works() {
    let (network, phone) = network();
    Simulation::default()
        .run(seed(), network, |hosts| async move {
            let phone = hosts.roaming(phone, networks());
            let server = hosts.get("server").unwrap();
            for echoing in ["10.0.0.1:7", "[fd00::1]:7"] {
                spawn(echo(server.bind_udp(echoing.parse().unwrap()).unwrap())).detach();
            }
            for (at, [v4, v6]) in NETWORKS.into_iter().enumerate() {
                assert_eq!(phone.addresses(), networks()[at]);
                let later = NETWORKS.get(at + 1).map_or("192.0.2.1", |later| later[0]);
                let early = phone.bind_udp(address(later, 0)).unwrap_err();
                assert_eq!(early.kind(), ErrorKind::AddrNotAvailable);
                for (own, there) in [(v4, "10.0.0.1"), (v6, "fd00::1")] {
                    let socket = phone.bind_udp(address(own, 0)).unwrap();
                    send(&*socket, address(there, 7), b"here").await.unwrap();
                    let (_, meta) = receive(&*socket).await.unwrap();
                    assert_eq!(meta.destination, own.parse::<IpAddr>().unwrap());
                }
                let old = phone.bind_udp(address(v4, 0)).unwrap();
                send(&*old, address("10.0.0.1", 7), b"its answer comes too late").await.unwrap();
                let lost = unroutable(&hosts);
                sleep(Duration::from_millis(5)).await;
                let Ok(()) = phone.move_on() else {
                    assert_eq!(at, NETWORKS.len() - 1, "it moves as often as it has networks");
                    assert_eq!(phone.move_on().unwrap_err().kind(), ErrorKind::NotFound);
                    return;
                };
                // The answer to what was sent before is lost, and so is what is sent from there now.
                send(&*old, address("10.0.0.1", 7), b"from nowhere").await.unwrap();
                sleep(Duration::from_millis(100)).await;
                assert_eq!(unroutable(&hosts), lost + 2);
                assert!(phone.bind_udp(address(v4, 0)).is_err(), "the address is gone");
            }
        })
        .unwrap();
}

/// The peer of a host that has moved gives up by its own timers, and the host's next connection
/// comes from its new address.
#[test]
fn tcp_connections_stay_behind() {
    let (network, phone) = network();
    Simulation::default()
        .run(seed(), network, |hosts| async move {
            let phone = hosts.roaming(phone, networks());
            let options = TcpOptions::default();
            let listen = address("10.0.0.1", 80);
            let listener = hosts.get("server").unwrap().listen_tcp(listen, &options).unwrap();
            let mut stream = phone.connect_tcp(None, listen, &options).await.unwrap();
            let mut accepted = listener.accept().await.unwrap();
            assert_eq!(accepted.peer_addr().ip().to_string(), NETWORKS[0][0]);
            phone.move_on().unwrap();
            stream.write_all(b"lost").await.unwrap();
            let silence = spawn(async move { accepted.read(&mut [0; 9]).await });
            let before = now();
            let next = phone.connect_tcp(None, listen, &options).await.unwrap();
            assert_eq!(now() - before, Duration::from_millis(20), "one round trip");
            assert_eq!(next.local_addr().ip().to_string(), NETWORKS[1][0]);
            // Nothing but a loss of memory would bring an answer, a reset for example.
            sleep_until(Time::from_millis(60_000)).await;
            assert!(!silence.is_finished(), "the server hears nothing of the old connection");
        })
        .unwrap();
}
