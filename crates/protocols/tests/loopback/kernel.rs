//! The protocols as they are, over the kernel's sockets on the loopback interface: with the
//! operating system's randomness and the time of day, nothing seeded.

use std::io;

use trackbed_protocols::{PathControl, Trust};
use trackbed_substrate::{Multipath, PathWish};

use crate::support::*;
use crate::traffic::{echo, get, service, upload};

/// Both sides on one machine, as two hosts.
struct Track {
    client: Arc<dyn Host>,
    server: Arc<dyn Host>,
    address: IpAddr,
}

/// Runs `main` for every protocol and every family that the machine has.
fn for_each_protocol<F: Future<Output = ()>>(main: impl Fn(&'static dyn Protocol, Track) -> F) {
    for address in loopback_addresses() {
        for protocol in registry() {
            eprintln!("{} over {address}", protocol.name());
            run(protocol.name(), |machine| {
                let host = |name| machine.host(name, [address]);
                main(*protocol, Track { client: host("client"), server: host("server"), address })
            });
        }
    }
}

fn loopback_addresses() -> Vec<IpAddr> {
    let v6 = IpAddr::V6(Ipv6Addr::LOCALHOST);
    let mut addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
    match UdpSocket::bind((v6, 0)) {
        Ok(_) => addresses.push(v6),
        Err(error) => eprintln!("SKIPPED for IPv6: this machine has no [::1] ({error})"),
    }
    addresses
}

impl Track {
    fn serve(&self, protocol: &dyn Protocol) -> ServerHandle {
        let listen = SocketAddr::new(self.address, 0);
        let config = ServerConfig { transport: transport(), ..ServerConfig::default() };
        protocol.serve((Arc::clone(&self.server), listen), &config, Rc::new(service)).unwrap()
    }

    fn dialer(
        &self,
        protocol: &dyn Protocol,
        server: &ServerHandle,
        config: ClientConfig,
    ) -> Rc<dyn Dialer> {
        let config = ClientConfig { trust: server.trust().cloned(), ..config };
        protocol.dialer(Arc::clone(&self.client), &config).unwrap()
    }
}

fn client_config() -> ClientConfig {
    ClientConfig { transport: transport(), ..ClientConfig::default() }
}

/// Sends `len` bytes both ways, and up alone, and checks them.
async fn check(connection: &dyn Connection, len: usize, seed: u64) {
    echo(connection, len, seed).await;
    upload(connection, len, seed).await;
}

#[test]
fn bodies_of_all_sizes_go_both_ways() {
    for_each_protocol(async |protocol, track| {
        let server = track.serve(protocol);
        let dialer = track.dialer(protocol, &server, client_config());
        let connection = dialer.connect(server.local_addr()).await.unwrap();
        for len in [0, 1, 1_000, 100_000, 5_000_000] {
            check(&*connection, len, len as u64).await;
        }
        assert_eq!(connection.exchange(get("/nowhere")).await.unwrap().status, 404);
        let stats = connection.transport();
        assert!(stats.bytes_sent > 10_000_000, "{stats:?}");
        assert!(stats.smoothed_rtt.is_some_and(|rtt| rtt < Duration::from_secs(10)));
        let has_window = protocol.capabilities().transport != Transport::Coap;
        assert!(stats.congestion_window > 0 || !has_window);
        connection.close().await;
    });
}

/// From two addresses of the loopback interface.
#[test]
fn quic_takes_several_paths_of_the_kernel() {
    // The server has a separate address: requests apply to every path with the address at an end.
    let [here, ends @ ..]: [IpAddr; 3] = [1, 2, 3].map(|it| Ipv4Addr::new(127, 0, 0, it).into());
    let protocol = find("mpquic").unwrap();
    run(protocol.name(), |machine| async move {
        let server = machine.host("server", [here]);
        let track = Track { client: machine.host("client", ends), server, address: here };
        let server = track.serve(protocol);
        let paths = PathControl::default();
        let mut config = ClientConfig { paths: paths.clone(), ..client_config() };
        let multipath = Multipath { addresses: vec![ends[1]], ..Multipath::default() };
        config.transport.tcp.multipath = Some(multipath);
        let dialer = track.dialer(protocol, &server, config);
        let connection = dialer.connect(server.local_addr()).await.unwrap();
        let received = |end| {
            let all = paths.paths().into_iter().filter(|path| path.local.ip() == end);
            all.map(|path| path.info.bytes_received).sum::<u64>()
        };
        // The second path may take the machine its time.
        while received(ends[1]) == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        for (backup, other) in [(0, 1), (1, 0)] {
            assert!(paths.set_path(ends[other], PathWish::Backup(false)));
            assert!(paths.set_path(ends[backup], PathWish::Backup(true)));
            let mut shares = Vec::new();
            // A path that a busy machine leaves silent for a probe timeout loses its turn, and the
            // backup carries what is left of that exchange: not of all of them.
            while shares.last().is_none_or(|share| *share > 0.05) {
                assert!(shares.len() < 20, "over path {backup}, a backup: {shares:?}");
                let before = ends.map(received);
                check(&*connection, 2_000_000, shares.len() as u64).await;
                let after = ends.map(received);
                let carried = [0, 1].map(|path| (after[path] - before[path]) as f64);
                shares.push(carried[backup] / (carried[0] + carried[1]));
            }
        }
        connection.close().await;
    });
}

#[test]
fn exchanges_run_side_by_side() {
    for_each_protocol(async |protocol, track| {
        let server = track.serve(protocol);
        let dialer = track.dialer(protocol, &server, client_config());
        let remote = server.local_addr();
        let (first, second) = (dialer.connect(remote).await, dialer.connect(remote).await);
        let connections = [first.unwrap(), second.unwrap()];
        let exchanges = (0..20).map(|n| check(&*connections[n % 2], 50_000 + n, n as u64));
        join_all(exchanges).await;
    });
}

#[test]
fn sessions_are_resumed_and_early_data_is_accepted() {
    for_each_protocol(async |protocol, track| {
        let capabilities = protocol.capabilities();
        let server = track.serve(protocol);
        for &version in capabilities.tls {
            for &handshake in capabilities.handshakes {
                let early = handshake == Handshake::Early;
                if early && version != TlsVersion::Tls13 {
                    continue;
                }
                let case = format!("{} {} {}", protocol.name(), version.name(), handshake.name());
                let tls = TlsParameters { versions: vec![version], ..TlsParameters::default() };
                let config = ClientConfig { tls, handshake, ..client_config() };
                let dialer = track.dialer(protocol, &server, config);
                let earlier = dialer.connect(server.local_addr()).await.unwrap();
                check(&*earlier, 100, 1).await;
                let security = earlier.security().unwrap();
                assert!(!security.resumed && !security.early_data, "{case}");
                // The tickets of TLS 1.3 arrive after the handshake.
                sleep(Duration::from_millis(20)).await;
                earlier.close().await;

                let connection = dialer.connect(server.local_addr()).await.unwrap();
                check(&*connection, 3_000, 2).await;
                let security = connection.security().unwrap();
                assert_eq!(security.version, version, "{case}");
                assert_eq!(security.resumed, handshake != Handshake::New, "{case}");
                assert_eq!(security.early_data, early, "{case}");
            }
        }
    });
}

#[test]
fn a_server_is_known_by_its_certificate_and_another_one_is_not_trusted() {
    for_each_protocol(async |protocol, track| {
        let servers = [track.serve(protocol), track.serve(protocol)];
        let Some(trust) = servers[0].trust() else { return };
        // Keys come from the operating system, so no two are the same.
        assert_ne!(Some(trust), servers[1].trust());
        // It may come from another process.
        let trust = Trust::from_der(trust.as_der().to_vec());
        let config = ClientConfig { trust: Some(trust), ..client_config() };
        let dialer = protocol.dialer(Arc::clone(&track.client), &config).unwrap();
        let connection = dialer.connect(servers[0].local_addr()).await.unwrap();
        check(&*connection, 10, 3).await;
        let refused = dialer.connect(servers[1].local_addr()).await.err().unwrap();
        assert!(!refused.is_retryable(), "{refused}");
    });
}

#[test]
fn a_client_knows_that_the_server_has_closed_while_nothing_was_sent() {
    for_each_protocol(async |protocol, track| {
        let server = track.serve(protocol);
        let dialer = track.dialer(protocol, &server, client_config());
        let connection = dialer.connect(server.local_addr()).await.unwrap();
        check(&*connection, 10, 3).await;
        assert!(connection.is_open());
        drop(server);
        sleep(Duration::from_millis(100)).await;
        // CoAP without DTLS has no connection that could end.
        assert_eq!(connection.is_open(), protocol.name() == "coap", "{}", protocol.name());
    });
}

#[test]
fn a_missing_server_is_an_error_with_its_address() {
    for_each_protocol(async |protocol, track| {
        let server = track.serve(protocol);
        let remote = server.local_addr();
        let dialer = track.dialer(protocol, &server, client_config());
        drop(server);
        sleep(Duration::from_millis(1)).await;
        if protocol.capabilities().transport != Transport::Tcp {
            // QUIC receives nothing, and closes the connection after the idle timeout.
            return;
        }
        let error = dialer.connect(remote).await.err().unwrap();
        assert!(error.is_retryable());
        assert!(error.to_string().contains(&remote.to_string()), "{error}");
    });
}

/// RFC 8446 section 6.2: nothing is sent after a fatal alert, whichever end has sent it.
#[test]
#[ignore = "thorough: real time"]
fn a_server_does_not_answer_a_fatal_alert() {
    for_each_protocol(async |protocol, track| {
        let server = track.serve(protocol);
        if protocol.capabilities().transport == Transport::Tcp && server.trust().is_some() {
            let mut stream = TcpStream::connect(server.local_addr()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            // unknown_ca
            stream.write_all(&[0x15, 3, 3, 0, 2, 2, 48]).unwrap();
            // Meanwhile the server reads it.
            let dialer = track.dialer(protocol, &server, client_config());
            check(&*dialer.connect(server.local_addr()).await.unwrap(), 5, 1).await;
            let said = stream.read(&mut [0; 100]).map_err(|why| why.kind());
            assert!(matches!(said, Ok(0) | Err(io::ErrorKind::ConnectionReset)), "{said:?}");
        }
    });
}
