//! Handshakes of TLS with today's key exchanges, against a computation of their bytes by hand.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use trackbed_connection::{CipherSuite, Handshake, KeyExchange, TlsVersion};
use trackbed_protocols::{
    Chain, ClientConfig, KeyKind, Ledger, OwnCertificate, ServerConfig, TlsParameters,
};
use trackbed_substrate::{now, sleep};

use crate::support::{RTT, clean, ping, protocol, server_address, service, simulate};
use KeyExchange::{P256, P256MlKem768, X25519, X25519MlKem768};

/// A dialer's connection until the response to its first request.
#[derive(Debug)]
struct Shaken {
    round_trips: u32,
    sent: u64,
    received: u64,
    resumed: bool,
    /// What the server waited for the client's address.
    waited: Duration,
}

/// TLS 1.3 with one cipher.
fn offer(key_exchanges: &[KeyExchange]) -> TlsParameters {
    let key_exchanges = key_exchanges.to_vec();
    TlsParameters {
        key_exchanges,
        ..TlsParameters::only(TlsVersion::Tls13, CipherSuite::Aes128Gcm)
    }
}

/// The first connection, and the one after it.
fn shake(
    name: &str,
    ends: [TlsParameters; 2],
    handshake: Handshake,
) -> Result<[Shaken; 2], String> {
    let [client, server] = ends;
    simulate(&clean(), |track| async move {
        let mut config = ServerConfig { tls: server, ..ServerConfig::default() };
        let ledger = Ledger::default();
        config.transport.ledger = Some(ledger.clone());
        let server = track.serve_with(protocol(name), &config, Rc::new(service));
        let config = ClientConfig { tls: client, handshake, ..ClientConfig::default() };
        let dialer = track.dialer(protocol(name), &server, config);
        let mut shaken = Vec::new();
        for _ in 0..2 {
            let start = now();
            let connection = dialer.connect(server_address()).await.map_err(|e| e.to_string())?;
            let took = ping(&*connection).await.map_err(|e| e.to_string())? - start;
            let stats = connection.transport();
            // The tickets of TLS 1.3 arrive after the handshake.
            sleep(RTT).await;
            connection.close().await;
            let before = ledger.totals().address_validation;
            sleep(RTT).await;
            shaken.push(Shaken {
                round_trips: (took.as_secs_f64() / RTT.as_secs_f64()).round() as u32,
                sent: stats.bytes_sent,
                received: stats.bytes_received,
                resumed: connection.security().unwrap().resumed,
                waited: ledger.totals().address_validation - before,
            });
        }
        Ok(shaken.try_into().unwrap())
    })
}

/// RFC 8446: a share of the group that the server takes costs its length, and a share of another
/// one a round trip, a HelloRetryRequest and the hello again.
#[test]
fn a_group_costs_its_shares_and_another_first_group_a_round_trip() {
    let [base, _] = shake("tcp+tls", [offer(&[X25519]), offer(&[X25519])], Handshake::New).unwrap();
    for (client, server, [up, down]) in [
        (&[P256][..], &[P256][..], [65 - 32, 65 - 32]),
        (&[X25519MlKem768], &[X25519MlKem768], [1_216 - 32, 1_120 - 32]),
        (&[P256MlKem768], &[P256MlKem768], [1_249 - 32, 1_153 - 32]),
        // The first share is taken if it can be. The hello lists one group more, in two bytes.
        (&[X25519, P256], &[P256, X25519], [2, 0]),
        (&[X25519, P256], &[P256], [HELLO + 2 + 2 + 65 - 32, RETRY + 65 - 32]),
        (
            &[X25519, X25519MlKem768],
            &[X25519MlKem768],
            [HELLO + 2 + 2 + 1_216 - 32, RETRY + 1_120 - 32],
        ),
    ] {
        let case = format!("{client:?} {server:?}");
        let retries = u32::from(!server.contains(&client[0]));
        for (name, round_trips) in
            [("tcp+tls", 3), ("http1", 3), ("http2", 3), ("mqtt", 4), ("quic", 2), ("http3", 2)]
        {
            let ends = [offer(client), offer(server)];
            let [first, later] = shake(name, ends, Handshake::Resumed).unwrap();
            assert_eq!(first.round_trips, round_trips + retries, "{name} {case}");
            // The client has learned the server's group.
            assert_eq!((later.round_trips, later.resumed), (round_trips, true), "{name} {case}");
            if name == "tcp+tls" {
                assert_eq!(first.sent - base.sent, up, "{case}");
                // A signature of ECDSA has 70 to 72 bytes in DER.
                assert!(first.received.abs_diff(base.received + down) <= 2, "{case} {first:?}");
            }
        }
    }
}

/// The record of a ClientHello of the base case (RFC 8446 section 4.1.2): heads of the record and
/// the message, version, random, session, one suite, compression.
const HELLO: u64 = 5 + 4 + 2 + 32 + 33 + 4 + 2 + EXTENSIONS;
/// Their length, then: server name, versions, groups, nine signature algorithms, share, PSK mode,
/// ALPN of `trackbed-frames/1`, status request, and for TLS 1.2 point formats and the extended
/// master secret.
const EXTENSIONS: u64 = 2 + 29 + 7 + 8 + 24 + 42 + 6 + (4 + 2 + 1 + 17) + 9 + 6 + 4;
/// The record of a HelloRetryRequest (RFC 8446 section 4.1.4): as a hello, with the chosen version
/// and group.
const RETRY: u64 = 5 + 4 + 2 + 32 + 33 + 2 + 1 + 2 + 6 + 6;

/// FIPS 204 table 2: a public key and a signature of ML-DSA; the others have 65 or 32 and 64 to 72.
#[test]
fn a_chain_is_verified_and_costs_its_keys_and_signatures() {
    use KeyKind::{Ed25519, MlDsa44, MlDsa65, MlDsa87, P256};
    let size = |kind| match kind {
        P256 => (65, 71),
        Ed25519 => (32, 64),
        MlDsa44 => (1_312, 2_420),
        MlDsa65 => (1_952, 3_309),
        MlDsa87 => (2_592, 4_627),
    };
    let of = |chain: Chain, handshake| {
        let tls = TlsParameters { chain, ..offer(&[X25519]) };
        shake("tcp+tls", [tls.clone(), tls], handshake).map(|[first, later]| {
            assert_eq!((first.round_trips, later.round_trips), (3, 3), "{first:?} {later:?}");
            let is_less = later.sent < first.sent && later.received < first.received;
            assert!(is_less || handshake == Handshake::New);
            [first.sent, first.received]
        })
    };
    let base = of(Chain::default(), Handshake::New).unwrap();
    for kinds in [&[P256][..], &[Ed25519, P256], &[MlDsa44], &[P256, MlDsa65], &[MlDsa44]] {
        let chain = Chain { kinds: kinds.to_vec(), ..Chain::default() };
        // Each certificate has its key and its issuer's signature; the handshake has one more.
        let issuers = kinds[1..].iter().chain(kinds.last());
        let certificates: u64 =
            kinds.iter().zip(issuers).map(|(own, by)| size(*own).0 + size(*by).1).sum();
        let own = certificates + size(kinds[0]).1;
        let [_, plain] = of(chain.clone(), Handshake::New).unwrap();
        // Names, dates and lengths take about 240 bytes in a certificate, and 267 in a default one.
        let fields = 240 * kinds.len() as u64;
        let expected = base[1] - 65 - 71 - 71 - 267 + own + fields;
        assert!(plain.abs_diff(expected) < 60, "{kinds:?}: {plain} {expected}");
        // A client's chain is as long, and the server asks for it.
        let mutual = Chain { client_auth: true, ..chain.clone() };
        let [up, down] = of(mutual, Handshake::Resumed).unwrap();
        assert!((up - base[0]).abs_diff(own + fields) < 60 * kinds.len() as u64, "{kinds:?}: {up}");
        assert!((20..100).contains(&(down - plain)), "{kinds:?}: {down} {plain}");
        let filled = Chain { staple: 500, sct: 240, ..chain.clone() };
        let [_, filled] = of(filled, Handshake::New).unwrap();
        assert!((filled - plain).abs_diff(740 + 30) < 20, "{kinds:?}: {filled} {plain}");
        let compressed = Chain { compressed: true, ..chain };
        let [_, compressed] = of(compressed, Handshake::New).unwrap();
        // Keys and signatures are as good as random.
        assert!((plain - fields..plain + 20).contains(&compressed), "{compressed} {plain}");
    }
}

/// RFC 9000 section 8.1: until a client has proved its address, a server sends three times what it
/// has received. A hello of one datagram allows 3,600 bytes, one with ML-KEM 7,200.
#[test]
fn a_flight_beyond_the_amplification_limit_waits_a_round_trip() {
    use KeyKind::{MlDsa44, P256};
    for (group, kinds, staple, waits) in [
        (X25519, &[P256, P256][..], 0, 0),
        // 2 x 376 + 71, 2,000 and 1,000 bytes, and with ML-KEM the share's 1,088.
        (X25519, &[P256, P256], 2_000, 1),
        (X25519MlKem768, &[P256, P256], 2_000, 0),
        // 2 x (1,312 + 2,420 + 240) + 2,420 bytes.
        (X25519MlKem768, &[MlDsa44, MlDsa44], 0, 1),
    ] {
        let chain = Chain { kinds: kinds.to_vec(), staple, sct: staple / 2, ..Chain::default() };
        let tls = TlsParameters { chain, ..offer(&[group]) };
        let [first, _] = shake("quic", [tls.clone(), tls], Handshake::New).unwrap();
        let waited = (first.waited.as_secs_f64() / RTT.as_secs_f64()).round() as u32;
        let case = format!("{group} {kinds:?} {first:?}");
        assert_eq!((first.round_trips, waited), (2 + waits, waits), "{case}");
    }
}

/// A certificate for `name` until the end of `year`, and its key, as PEM.
fn made(name: &str, year: i32) -> [String; 2] {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut parameters = rcgen::CertificateParams::new([name.to_owned()]).unwrap();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
    parameters.not_after = rcgen::date_time_ymd(year, 12, 31);
    let certificate = parameters.self_signed(&key).unwrap().der().to_vec();
    [("CERTIFICATE", certificate), ("PRIVATE KEY", key.serialize_der())]
        .map(|(label, der)| pem::encode(&pem::Pem::new(label, der)))
}

#[test]
fn what_cannot_be_agreed_on_names_the_setting() {
    let [own, key] = made("*.example.org", 2040);
    let [expired, of_expired] = made("example.org", 2025);
    let [foreign, of_foreign] = made("example.net", 2040);
    for (pem, part) in [
        (String::new(), "no certificate: put the server's first"),
        (own.replace("MI", "M!"), "its PEM is damaged"),
        (own.replace("MIIB", "MIID"), "not valid X.509"),
        (own.clone(), "no private key: append it"),
        (own.repeat(200) + &key, "B, TLS ends take 65000 B: shorten it"),
    ] {
        let error = OwnCertificate::from_pem(&pem).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    let with = |pem: String| {
        let certificate = Some(Arc::new(OwnCertificate::from_pem(&pem).unwrap()));
        let chain = Chain { certificate, ..Chain::default() };
        [(); 2].map(|()| TlsParameters { chain: chain.clone(), ..offer(&[X25519]) })
    };
    for name in ["http2", "quic"] {
        shake(name, with(format!("{own}{key}")), Handshake::Resumed).unwrap();
        for (ends, part) in [
            (
                [offer(&[X25519]), offer(&[X25519MlKem768])],
                "(handshake_failure: compare key-exchange",
            ),
            (with(format!("{expired}{of_expired}")), "(certificate: renew it;"),
            (
                with(format!("{own}{foreign}{key}")),
                "(certificate: its file needs the chain in order",
            ),
        ] {
            let error = shake(name, ends, Handshake::New).unwrap_err();
            assert!(error.contains(part), "{name}: {error}");
        }
    }
    let server = simulate(&clean(), |track| async move {
        let [_, tls] = with(format!("{own}{of_foreign}"));
        let config = ServerConfig { tls, ..ServerConfig::default() };
        let served =
            protocol("quic").serve(track.server, server_address(), &config, Rc::new(service));
        served.err().unwrap().to_string()
    });
    assert!(server.contains("its private key is not that of its first certificate"), "{server}");
}
