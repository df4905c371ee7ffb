//! Bodies arrive whole, at the same time, and no faster than they are read.

use futures_util::stream;

use crate::support::*;

const LARGE: usize = 5_000_000;

/// Both directions at once, and alone, over a link that loses one packet in a hundred.
#[test]
fn large_bodies_survive_loss_both_ways() {
    let lossy = fast(100).with(Loss::bernoulli(Ratio::from_parts(1, 100)));
    for_each_protocol_over(&lossy, async |protocol, track| {
        let (_server, connection) = track.connected(protocol).await;
        echo(&*connection, LARGE, 1).await;
        let stats = connection.transport();
        assert!(stats.packets_sent > 3_000 && stats.packets_lost > 10, "{stats:?}");
        assert!(stats.bytes_sent > LARGE as u64 && stats.bytes_received > LARGE as u64);
        assert!(stats.smoothed_rtt.unwrap() >= Duration::from_millis(20), "{stats:?}");
        upload(&*connection, 1_000_000, 2).await;
        fetch(&*connection, 3_000_000).await;
        // An unread upload does not block others.
        let response = connection.exchange(post("/ignore", noise(1_000_000, 3).0)).await.unwrap();
        assert_eq!(body::collect(response.body, 32).await.unwrap(), "ignored");
        ping(&*connection).await.unwrap();
        connection.close().await;
    });
}

#[test]
fn every_congestion_control_carries_a_transfer() {
    for congestion in congestion().iter().filter(|entry| entry.of == CongestionOf::Quic) {
        let took = simulate(&fast(50), |track| async move {
            let mut config = ServerConfig::default();
            config.transport.congestion = congestion.name.to_owned();
            let server = track.serve_with(protocol("quic"), &config, Rc::new(service));
            let connection =
                track.connect(protocol("quic"), &server, ClientConfig::default()).await;
            fetch(&*connection, 2_000_000).await;
            now()
        });
        // 2 MB at 50 Mbit/s take 0.32 s; slow start and the handshake a few round trips of 20 ms.
        let seconds = took.as_secs_f64();
        assert!((0.32..0.7).contains(&seconds), "{}: {seconds} s", congestion.name);
    }
}

/// Twenty small exchanges share one round trip where the protocol multiplexes.
#[test]
fn exchanges_at_once_share_a_round_trip_or_take_turns() {
    for protocol in registry() {
        let took = simulate(&clean(), |track| async move {
            let (_server, connection) = track.connected(*protocol).await;
            ping(&*connection).await.unwrap();
            let start = now();
            let all = join_all((0..20).map(|_| ping(&*connection))).await;
            assert!(all.iter().all(Result::is_ok), "{all:?}");
            now() - start
        });
        let turns = if protocol.capabilities().multiplexed { 1 } else { 20 };
        assert_eq!(took, RTT * turns, "{}", protocol.name());
    }
}

/// A server that produces a piece only when the last one was taken, and a client that takes one
/// piece a second: what is produced stays ahead of what is read by no more than the buffers hold.
#[test]
fn a_slow_reader_holds_the_sender_back() {
    for_each_protocol(|protocol| {
        let ahead = simulate(&fast(1_000), |track| async move {
            let produced = Rc::new(Cell::new(0u64));
            let count = Rc::clone(&produced);
            let service = move |_: Request| {
                let count = Rc::clone(&count);
                let pieces = stream::repeat_with(move || {
                    count.set(count.get() + 100_000);
                    Ok(vec![0; 100_000].into())
                });
                let body: trackbed_connection::Body = Box::pin(pieces.take(10_000));
                std::future::ready(Response { status: 200, body })
            };
            let window = 1 << 20;
            let transport = TransportParameters { window, ..TransportParameters::default() };
            let config = ServerConfig { transport: transport.clone(), ..ServerConfig::default() };
            let server = track.serve_with(protocol, &config, Rc::new(service));
            let config = ClientConfig { transport, ..ClientConfig::default() };
            let connection = track.connect(protocol, &server, config).await;
            let mut response = connection.exchange(get("/")).await.unwrap();
            let mut read = 0;
            for _ in 0..5 {
                read += response.body.next().await.unwrap().unwrap().len() as u64;
                sleep(Duration::from_secs(1)).await;
            }
            produced.get() - read
        });
        // TCP's own buffers reach 4 MiB (sending) and 6 MiB (receiving).
        assert!(ahead < 15_000_000, "{}: {ahead} B ahead", protocol.name());
    });
}

/// 35,000 packets fit into the window and wait until they are read.
#[test]
fn a_reader_may_leave_a_whole_window_unread() {
    for name in ["quic", "mpquic", "http3", "http2", "sctp"] {
        pause(name, 1_000, Duration::from_secs(10));
    }
}

/// A stall of the application is not an error of the connection.
#[test]
fn a_reader_may_pause_for_longer_than_the_idle_timeout() {
    for name in ["tcp", "tcp+tls", "http2", "mqtt", "sctp"] {
        pause(name, 100, Duration::from_secs(100));
    }
}

fn pause(name: &str, mbps: u64, pause: Duration) {
    simulate(&fast(mbps), |track| async move {
        let transport = idle_after(Duration::from_secs(30));
        let (_server, connection) = track.connected_over(protocol(name), transport).await;
        let mut response = connection.exchange(get("/zeros?50000000")).await.unwrap();
        let first = response.body.next().await.unwrap().unwrap().len() as u64;
        sleep(pause).await;
        assert_eq!(body::drain(response.body).await, Ok(50_000_000 - first), "{name}");
    });
}

#[test]
fn statuses_and_paths_arrive() {
    for_each_protocol_over(&clean(), async |protocol, track| {
        let (_server, connection) = track.connected(protocol).await;
        for (path, status) in
            [("/status?204", 204), ("/status?503", 503), ("/status?7", 500), ("/none", 404)]
        {
            let response = connection.exchange(get(path)).await.unwrap();
            assert_eq!(response.status, status, "{path}");
            assert_eq!(body::drain(response.body).await, Ok(0));
        }
        for path in ["", "rpc", "/a b", "/#", "/\u{e9}", &format!("/{}", "a".repeat(4_096))] {
            let refused = connection.exchange(get(path)).await.map(drop);
            assert!(refused.is_err_and(|error| !error.is_retryable()), "{path}");
        }
        assert!(ping(&*connection).await.unwrap() > Time::ZERO);
    });
}

/// The server of every protocol listens on all addresses of a family, and answers from the one that was asked.
#[test]
fn a_server_answers_from_the_address_that_was_asked() {
    let ips = |all: &[&str]| -> Vec<IpAddr> { all.iter().map(|ip| ip.parse().unwrap()).collect() };
    for_each_protocol(|protocol| {
        for asked in [ips(&["10.0.0.2", "10.0.0.3"]), ips(&["fd00::2", "fd00::3"])] {
            let seed = Seed::of_run(1, 0);
            let mut builder = NetworkBuilder::default();
            let client = End::new(builder.host("client"), ips(&["10.0.0.1", "fd00::1"]));
            let server = End::new(builder.host("server"), asked.clone());
            builder.connect(client, server, Duplex::new(&clean(), &clean(), &seed));
            simulate_on(builder.build().unwrap(), seed, |track| async move {
                let all = if asked[0].is_ipv4() { "0.0.0.0:443" } else { "[::]:443" };
                let (config, host) = (ServerConfig::default(), track.server.clone());
                let service = Rc::new(service);
                let server =
                    protocol.serve((host, all.parse().unwrap()), &config, service).unwrap();
                for address in asked {
                    let dialer = track.dialer(protocol, &server, ClientConfig::default());
                    let connection = dialer.connect(SocketAddr::new(address, 443)).await.unwrap();
                    ping(&*connection).await.unwrap();
                }
            });
        }
    });
}

/// Libraries end connections with many small frames or many exchanges that were given up. Both come from an
/// honest client: where many exchanges share a small window, and where a user leaves a page.
#[test]
fn many_exchanges_at_once_are_no_attack() {
    for_each_protocol(|protocol| {
        if !protocol.capabilities().multiplexed {
            return;
        }
        simulate(&clean(), |track| async move {
            let transport = TransportParameters { window: 65_535, ..Default::default() };
            let (_server, connection) = track.connected_over(protocol, transport).await;
            let connection = &*connection;
            join_all((0..300).map(|_| fetch(connection, 16_300))).await;
            join_all((0..300).map(|seed| upload(connection, 16_300, seed))).await;
            join_all((0..2_000).map(|_| fetch(connection, 100))).await;
            for time in [RTT * 3 / 2, Duration::ZERO].repeat(8) {
                let asked = (0..200).map(|_| connection.exchange(get("/zeros?16300")));
                drop(select(join_all(asked), pin!(sleep(time))).await);
            }
            sleep(RTT * 20).await;
            ping(connection).await.unwrap();
        });
    });
}
