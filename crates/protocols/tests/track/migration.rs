//! Connections whose host moves to another network (RFC 9000 section 9).

use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::*;

/// Runs `main` with a client that has addresses in this many networks, over these links, up and down.
/// `tap` gets all packets.
fn roam<T: Send, F: Future<Output = T>>(
    [up, down]: [LinkSpec; 2],
    networks: u8,
    tap: Option<Box<dyn Tap>>,
    main: impl FnOnce(Track) -> F + Send,
) -> T {
    let seed = Seed::of_run(1, 0);
    let address = |at: u8| vec![IpAddr::from([10, at, 0, 1])];
    let networks: Vec<Vec<IpAddr>> = (0..networks).map(address).collect();
    let mut builder = NetworkBuilder::default();
    let (client, server) = (builder.host("client"), builder.host("server"));
    builder.connect(
        End::new(client, networks.concat()),
        End::new(server, [server_address().ip()]),
        Duplex::new(&up, &down, &seed.child("link")),
    );
    let run = |hosts: Hosts| {
        let client = hosts.roaming(client, networks);
        main(Track { client, server: hosts.at(server) })
    };
    let mut network = builder.build().unwrap();
    network.set_tap(tap);
    Simulation::default().run(seed, network, run).unwrap()
}

/// A server, and a dialer and its connection, on which a request was answered.
async fn at_home(
    track: &Track,
    protocol: &dyn Protocol,
) -> (ServerHandle, Rc<dyn Dialer>, Rc<dyn Connection>) {
    let server = track.serve(protocol);
    let dialer = track.dialer(protocol, &server, ClientConfig::default());
    let connection = dialer.connect(server_address()).await.unwrap();
    ping(&*connection).await.unwrap();
    (server, dialer, connection)
}

fn move_on(track: &Track, dialer: &dyn Dialer) {
    track.client.move_on().unwrap();
    dialer.host_has_moved().unwrap();
}

fn migrating() -> impl Iterator<Item = &'static dyn Protocol> {
    registry().iter().copied().filter(|one| one.capabilities().migrates)
}

/// An exchange that begins when the host has moved needs no handshake. It takes one round trip more
/// than otherwise, because the server has nothing left to send the answer with, once it has sent the
/// challenge: three times what it has received (RFC 9000 sections 8.1 and 9.3).
#[test]
fn an_exchange_after_a_move_needs_no_handshake() {
    assert_eq!(migrating().count(), 2, "quic and http3");
    for protocol in migrating() {
        roam([clean(), clean()], 4, None, |track| async move {
            let (_server, dialer, connection) = at_home(&track, protocol).await;
            for _ in 0..3 {
                sleep(RTT).await;
                move_on(&track, &*dialer);
                assert!(connection.follows_its_host());
                let begun = now();
                let taken = ping(&*connection).await.unwrap() - begun;
                // The engine's pacer takes a nanosecond for each byte.
                let most = RTT * 2 + Duration::from_micros(5);
                assert!(taken >= RTT * 2 && taken < most, "{}: {taken:?}", protocol.name());
            }
        });
    }
}

/// Records which of the client's addresses the server sends to, and which connection IDs the client
/// uses for the server.
#[derive(Default)]
struct Seen {
    /// The destination, first bytes and length of every packet with a short header, in each
    /// direction.
    up: Vec<(IpAddr, [u8; 8], usize)>,
    down: Vec<(IpAddr, [u8; 8], usize)>,
    /// How many packets there were of any kind, up and down.
    all: [u64; 2],
}

#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Seen>>);

impl Tap for Watch {
    fn see(&mut self, _: Time, _: LinkId, way: Direction, point: Point, packet: &Packet) {
        // After the headers of IP and UDP; the long header has its first bit set (RFC 9000 section
        // 17).
        let quic = &packet.bytes()[28..];
        if point != Point::Entered {
            return;
        }
        let mut seen = self.0.lock().unwrap();
        seen.all[usize::from(way == Direction::Backward)] += 1;
        if quic[0] & 0x80 != 0 {
            return;
        }
        let id = quic[1..9].try_into().unwrap();
        match way {
            Direction::Forward => seen.up.push((packet.source(), id, packet.len())),
            Direction::Backward => seen.down.push((packet.destination(), id, packet.len())),
        }
    }
}

/// RFC 9000 section 9.5: an endpoint must not use a connection ID with more than one local address;
/// section 8.2.1: the datagram that carries a PATH_CHALLENGE has at least 1,200 bytes.
#[test]
fn no_connection_id_is_seen_from_two_addresses_and_the_new_path_is_challenged() {
    let watch = Watch::default();
    roam([clean(), clean()], 3, Some(Box::new(watch.clone())), |track| async move {
        let (_server, dialer, connection) = at_home(&track, protocol("quic")).await;
        for _ in 0..2 {
            sleep(RTT).await;
            move_on(&track, &*dialer);
            ping(&*connection).await.unwrap();
        }
    });
    let seen = watch.0.lock().unwrap();
    for (name, packets) in [("up", &seen.up), ("down", &seen.down)] {
        let mut of_id = BTreeMap::new();
        for &(address, id, _) in packets {
            let addresses: &mut std::collections::BTreeSet<IpAddr> = of_id.entry(id).or_default();
            addresses.insert(address);
        }
        assert!(of_id.len() >= 3, "{name}: an ID for each address at the least: {of_id:?}");
        assert!(of_id.values().all(|addresses| addresses.len() == 1), "{name}: {of_id:?}");
    }
    for network in [1, 2] {
        let address = IpAddr::from([10, network, 0, 1]);
        let first = seen.down.iter().find(|(to, ..)| *to == address).unwrap();
        assert!(first.2 >= 1_200 + 28, "the first packet to {address}: {} bytes", first.2);
    }
}

/// A transfer goes on over the same connection; nothing is lost or comes twice, and the server has
/// seen one request.
#[test]
fn a_transfer_goes_on_where_it_was() {
    for protocol in migrating() {
        for upload in [false, true] {
            roam([clean(), clean()], 6, None, |track| async move {
                let requests = Rc::new(AtomicU32::new(0));
                let counted = Rc::clone(&requests);
                let counting = move |request: Request| {
                    counted.fetch_add(1, Ordering::Relaxed);
                    service(request)
                };
                let config = ServerConfig::default();
                let server = track.serve_with(protocol, &config, Rc::new(counting));
                let dialer = track.dialer(protocol, &server, ClientConfig::default());
                let connection = dialer.connect(server_address()).await.unwrap();
                let request = match upload {
                    true => Request::new("/echo", body::zeros(5_000_000)),
                    false => get("/zeros?5000000"),
                };
                let mut arriving = connection.exchange(request).await.unwrap().body;
                let (mut bytes, mut moves) = (0, 0);
                while let Some(piece) = arriving.next().await {
                    let piece = piece.unwrap();
                    assert!(piece.iter().all(|byte| *byte == 0));
                    bytes += piece.len();
                    if bytes > moves * 1_000_000 && moves < 5 {
                        moves += 1;
                        move_on(&track, &*dialer);
                        assert!(connection.follows_its_host());
                    }
                }
                assert_eq!((bytes, moves), (5_000_000, 5), "{}", protocol.name());
                assert_eq!(requests.load(Ordering::Relaxed), 1);
                assert_eq!(connection.transport().smoothed_rtt.map(|rtt| rtt >= RTT), Some(true));
            });
        }
    }
}

/// No connection migrates before the handshake is confirmed (RFC 9000 section 9), and TCP
/// connections never do. A new connection is opened from the new address, early data and all.
#[test]
fn what_cannot_follow_says_so_and_is_replaced_from_the_new_address() {
    for_each_protocol(|protocol| {
        let can = protocol.capabilities();
        let handshake = match can.handshakes.contains(&Handshake::Early) {
            true => Handshake::Early,
            false => Handshake::New,
        };
        roam([clean(), clean()], 2, None, |track| async move {
            let server = track.serve(protocol);
            let config = ClientConfig { handshake, ..ClientConfig::default() };
            let dialer = track.dialer(protocol, &server, config);
            let earlier = dialer.connect(server_address()).await.unwrap();
            ping(&*earlier).await.unwrap();
            sleep(RTT * 3).await;
            assert_eq!(earlier.follows_its_host(), can.migrates);
            earlier.close().await;
            sleep(RTT * 3).await;
            assert!(!earlier.follows_its_host(), "it is closed");

            let unfinished = dialer.connect(server_address()).await.unwrap();
            move_on(&track, &*dialer);
            if handshake == Handshake::Early {
                assert!(!unfinished.follows_its_host(), "the server has not answered yet");
            }
            let begun = now();
            let next = dialer.connect(server_address()).await.unwrap();
            let taken = ping(&*next).await.unwrap() - begun;
            // MQTT takes them all: TCP, TLS 1.3, CONNECT and the exchange.
            assert!(taken <= RTT * 4, "{}: {taken:?}", protocol.name());
        });
    });
}

/// Whatever packet is lost while a path is validated: the ping, the challenge, the response, or
/// what comes behind them.
#[test]
fn a_migration_outlives_the_loss_of_any_of_its_packets() {
    let protocol = protocol("quic");
    let moved_fetch = |[up, down]: [LinkSpec; 2], tap: Option<Box<dyn Tap>>| {
        roam([up, down], 2, tap, |track| async move {
            let (_server, dialer, connection) = at_home(&track, protocol).await;
            sleep(RTT).await;
            move_on(&track, &*dialer);
            let moved = now();
            fetch(&*connection, 100_000).await;
            now() - moved
        })
    };
    let watch = Watch::default();
    moved_fetch([clean(), clean()], Some(Box::new(watch.clone())));
    // How many packets cross the link before the move, in either direction, long headers included.
    let before = |packets: &[(IpAddr, [u8; 8], usize)], all: u64| {
        let home = IpAddr::from([10, 0, 0, 1]);
        let at_home = packets.iter().filter(|(address, ..)| *address == home).count() as u64;
        all - (packets.len() as u64 - at_home)
    };
    let seen = watch.0.lock().unwrap();
    let (up, down) = (before(&seen.up, seen.all[0]), before(&seen.down, seen.all[1]));
    let mut rescued = 0;
    for lost in 1..=6 {
        for is_up in [true, false] {
            let number = if is_up { up + lost } else { down + lost };
            let lossy = clean().with(Loss::new(Listed::new([number])));
            let links = if is_up { [lossy, clean()] } else { [clean(), lossy] };
            let taken = moved_fetch(links, None);
            rescued += u32::from(taken > Duration::from_secs(1));
            // A second for the client's patience; the rest is for probes and slow start.
            assert!(taken < Duration::from_secs(4), "packet {lost} lost, up {is_up}: {taken:?}");
        }
    }
    assert!(rescued > 0, "the loss of some packet has to leave both sides waiting");
}
