//! How many round trips pass until the first response is complete, and until each one after it.
//! The counts follow from RFC 9293 (TCP: 1), RFC 8446 and RFC 5246 (TLS 1.3: 1, with early data
//! 0; TLS 1.2: 2, abbreviated 1), RFC 9001 (QUIC: 1, with early data 0) and the exchange itself: 1.

use crate::support::*;

/// The link takes no time to send a packet, but QUIC's pacer does: a nanosecond for each byte.
const SERIALISATION: Duration = Duration::from_micros(2);

/// A connection, its first three requests, and what its ends counted.
#[derive(Debug)]
pub struct Measured {
    /// Until the response to the first request.
    pub first: Duration,
    next: [Duration; 2],
    pub security: Option<Security>,
    /// The client's bytes until then.
    pub sent: u64,
    pub received: u64,
    /// How long the server waited for the client's address.
    pub waited: Duration,
}

/// A dialer's first connection, and the one after it, between a client and a server.
pub fn measure(
    name: &str,
    [of_client, of_server]: [TlsParameters; 2],
    handshake: Handshake,
) -> Result<[Measured; 2], String> {
    let protocol = protocol(name);
    simulate(&clean(), |track| async move {
        let failed = |error: Error| error.to_string();
        let mut config = ServerConfig { tls: of_server, ..ServerConfig::default() };
        let ledger = Ledger::default();
        config.transport.ledger = Some(ledger.clone());
        let host = Arc::clone(&track.server);
        let server = protocol.serve((host, server_address()), &config, Rc::new(service));
        let server = server.map_err(failed)?;
        let config = ClientConfig { tls: of_client, handshake, ..ClientConfig::default() };
        let dialer = track.dialer(protocol, &server, config);
        let mut measured = Vec::new();
        for _ in 0..2 {
            let start = now();
            let connection = dialer.connect(server_address()).await.map_err(failed)?;
            let first = ping(&*connection).await.map_err(failed)?;
            let stats = connection.transport();
            let second = ping(&*connection).await.map_err(failed)?;
            let third = ping(&*connection).await.map_err(failed)?;
            // The tickets of TLS 1.3 arrive after the handshake.
            sleep(RTT).await;
            connection.close().await;
            let before = ledger.totals().address_validation;
            sleep(RTT).await;
            measured.push(Measured {
                first: first - start,
                next: [second - first, third - second],
                security: connection.security(),
                sent: stats.bytes_sent,
                received: stats.bytes_received,
                waited: ledger.totals().address_validation - before,
            });
        }
        Ok(measured.try_into().unwrap())
    })
}

fn check(name: &str, tls: Option<(TlsVersion, Handshake)>, round_trips: u32) {
    let (version, handshake) = tls.unwrap_or((TlsVersion::Tls13, Handshake::New));
    let cipher = CipherSuite::Aes128Gcm;
    let ends = [TlsParameters::only(version, cipher), TlsParameters::default()];
    let [_, measured] = measure(name, ends, handshake).unwrap();
    let case = format!("{name} {} {}", version.name(), handshake.name());
    let late = measured.first.checked_sub(RTT * round_trips);
    assert!(late.is_some_and(|late| late <= SERIALISATION), "{case}: {:?}", measured.first);
    assert_eq!(measured.next, [RTT, RTT], "{case}");
    let security = tls.map(|(version, handshake)| Security {
        version,
        cipher,
        resumed: handshake != Handshake::New,
        early_data: handshake == Handshake::Early,
    });
    assert_eq!(measured.security, security, "{case}");
}

#[test]
fn every_protocol_takes_the_round_trips_of_its_layers() {
    let table = include_str!("round-trips.txt").lines().filter(|line| !line.starts_with('#'));
    let table: Vec<(&str, &str)> = table.map(|line| line.split_once(": ").unwrap()).collect();
    let names: Vec<_> = registry().iter().map(|protocol| protocol.name()).collect();
    assert_eq!(table.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    for (name, cases) in table {
        for case in cases.split(", ") {
            let (tls, round_trips) = case.rsplit_once(' ').unwrap_or(("", case));
            let tls = tls.split_once(' ').map(|(version, how)| {
                (TlsVersion::from_name(version).unwrap(), Handshake::from_name(how).unwrap())
            });
            check(name, tls, round_trips.parse().unwrap());
        }
    }
}

#[test]
fn a_lost_first_packet_costs_the_first_timeout() {
    for (name, round_trips, timeout_ms) in [
        // RFC 9002 section 6.2: before there is a sample, the probe timeout is
        // 333 + 4 x 333 / 2 = 999 ms.
        ("quic", 2, 999),
        ("mpquic", 2, 999),
        ("http3", 2, 999),
        // RFC 6298 section 2.1.
        ("tcp", 2, 1_000),
        ("http2", 3, 1_000),
        // RFC 9260 section 16: RTO.Initial.
        ("sctp", 2, 1_000),
    ] {
        let up: LinkSpec = clean().with(Loss::new(Listed::new([1])));
        let took = simulate_over([&up, &clean()], |track| async move {
            let (_server, connection) = track.connected(protocol(name)).await;
            ping(&*connection).await.unwrap()
        });
        let expected = RTT * round_trips + Duration::from_millis(timeout_ms);
        assert_eq!(took - Time::ZERO, expected, "{name}");
    }
}
