//! Handshakes of TLS with today's key exchanges and certificates, against bytes counted by hand.

use trackbed_protocols::{Chain, KeyKind, OwnCertificate};

use crate::round_trips::measure;
use crate::support::*;
use Handshake::{New, Resumed};
use KeyExchange::{P256, P256MlKem768, X25519, X25519MlKem768};
use KeyKind::{Ed25519, MlDsa44, MlDsa65};

/// TLS 1.3 with one cipher.
fn offer(groups: &[KeyExchange], chain: &Chain) -> TlsParameters {
    let (key_exchanges, chain) = (groups.to_vec(), chain.clone());
    let only = TlsParameters::only(TlsVersion::Tls13, CipherSuite::Aes128Gcm);
    TlsParameters { key_exchanges, chain, ..only }
}

fn round_trips(time: Duration) -> u32 {
    (time.as_secs_f64() / RTT.as_secs_f64()).round() as u32
}

/// RFC 8446: a share of the group that the server takes costs its length, and a share of another
/// one a round trip, a HelloRetryRequest and the hello again.
#[test]
fn a_group_costs_its_shares_and_another_first_group_a_round_trip() {
    let ends = |client, server| [client, server].map(|groups| offer(groups, &Chain::default()));
    let [base, _] = measure("tcp+tls", ends(&[X25519], &[X25519]), New).unwrap();
    for (client, server, [up, down]) in [
        (&[P256][..], &[P256][..], [65 - 32, 65 - 32]),
        (&[X25519MlKem768], &[X25519MlKem768], [1_216 - 32, 1_120 - 32]),
        (&[P256MlKem768], &[P256MlKem768], [1_249 - 32, 1_153 - 32]),
        // The first share is taken if it can be. The hello lists one group more, in two bytes.
        (&[X25519, P256], &[P256, X25519], [2, 0]),
        (&[X25519, P256], &[P256], [HELLO + 2 + 2 + 65 - 32, RETRY + 65 - 32]),
        (
            &[P256, X25519MlKem768],
            &[X25519MlKem768],
            [HELLO + 33 + 2 + 2 + 1_216 - 32, RETRY + 1_120 - 32],
        ),
    ] {
        let retries = u32::from(!server.contains(&client[0]));
        for (name, expected) in
            [("tcp+tls", 3), ("http1", 3), ("http2", 3), ("mqtt", 4), ("quic", 2), ("http3", 2)]
        {
            let case = format!("{name} {client:?} {server:?}");
            let [first, later] = measure(name, ends(client, server), Resumed).unwrap();
            assert_eq!(round_trips(first.first), expected + retries, "{case}");
            // The client has learned the server's group.
            assert_eq!(
                (round_trips(later.first), later.security.unwrap().resumed),
                (expected, true),
                "{case}"
            );
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

/// A public key and a signature of each kind (FIPS 204 table 2), and what they add up to.
#[test]
fn a_chain_is_verified_and_costs_its_keys_and_signatures() {
    let p256 = (65, 71);
    let of = |chain: &Chain, handshake| {
        let [first, later] =
            measure("tcp+tls", [(); 2].map(|()| offer(&[X25519], chain)), handshake).unwrap();
        assert_eq!(
            (round_trips(first.first), round_trips(later.first)),
            (3, 3),
            "{first:?} {later:?}"
        );
        assert!(handshake == New || (later.sent < first.sent && later.received < first.received));
        [first.sent, first.received]
    };
    let base = of(&Chain::default(), New);
    for (kinds, sizes) in [
        (&[KeyKind::P256][..], &[p256][..]),
        (&[Ed25519, KeyKind::P256], &[(32, 64), p256]),
        (&[KeyKind::P256, MlDsa65], &[p256, (1_952, 3_309)]),
        (&[MlDsa44], &[(1_312, 2_420)]),
    ] {
        // Each certificate has its key and its issuer's signature; the handshake has one more. Names,
        // dates and lengths take about 240 bytes in a certificate, and 267 in a default one.
        let signatures = sizes[1..].iter().chain(sizes.last()).map(|(_, by)| by).sum::<u64>();
        let keys = sizes.iter().map(|(key, _)| key + 240).sum::<u64>();
        let own = keys + signatures + sizes[0].1;
        let mut chain = Chain { kinds: kinds.to_vec(), ..Chain::default() };
        let [_, plain] = of(&chain, New);
        let expected = base[1] - 65 - 71 - 71 - 267 + own;
        assert!(plain.abs_diff(expected) < 60, "{kinds:?}: {plain} {expected}");
        chain.compressed = true;
        // Keys and signatures are as good as random.
        assert!((plain - 300..plain + 20).contains(&of(&chain, New)[1]), "{kinds:?}");
        chain.compressed = false;
        chain.client_auth = true;
        let [up, down] = of(&chain, Resumed);
        assert!((up - base[0]).abs_diff(own) < 60 * kinds.len() as u64, "{kinds:?}: {up} {own}");
        assert!((20..100).contains(&(down - plain)), "{kinds:?}: {down} {plain}");
    }
}

/// RFC 6347 and RFC 9147: the certificate of a client, and its proof, are in a flight that is there anyway. A client
/// without the setting has one by no authority.
#[test]
fn a_server_of_dtls_demands_a_certificate_and_verifies_it() {
    let ends = |version, auth: [bool; 2]| {
        auth.map(|client_auth| TlsParameters {
            chain: Chain { client_auth, ..Chain::default() },
            ..TlsParameters::only(version, CipherSuite::Aes128Gcm)
        })
    };
    let dtls = [("coap+dtls", TlsVersion::Tls12), ("coap+dtls", TlsVersion::Tls13)];
    for (name, version) in dtls.into_iter().chain([("sctp+dtls", TlsVersion::Tls13)]) {
        let of = |auth| measure(name, ends(version, auth), New);
        let ([plain, _], [mutual, _]) = (of([false; 2]).unwrap(), of([true; 2]).unwrap());
        assert_eq!(round_trips(mutual.first), round_trips(plain.first), "{name} {version:?}");
        let refused = of([false, true]).unwrap_err();
        assert!(refused.contains("closed"), "{name} {refused}");
    }
}

/// RFC 9000 section 8.1: until a client has proved its address, a server sends three times what it
/// has received. A hello of one datagram allows 3,600 bytes, one with ML-KEM 7,200.
#[test]
fn a_flight_beyond_the_amplification_limit_waits_a_round_trip() {
    for (group, kind, staple, waits) in [
        (X25519, KeyKind::P256, 0, 0),
        // 2 x 376 + 71, 1,300 and 650 bytes; 2,000 and 1,000, and with ML-KEM the share's 1,088.
        (X25519, KeyKind::P256, 1_300, 0),
        (X25519, KeyKind::P256, 2_000, 1),
        (X25519MlKem768, KeyKind::P256, 2_000, 0),
        // 2 x (1,312 + 2,420 + 240) + 2,420 bytes.
        (X25519MlKem768, MlDsa44, 0, 1),
    ] {
        let chain = Chain { kinds: vec![kind; 2], staple, sct: staple / 2, ..Chain::default() };
        let ends = [(); 2].map(|()| offer(&[group], &chain));
        let [first, _] = measure("quic", ends, New).unwrap();
        assert_eq!(
            (round_trips(first.first), round_trips(first.waited)),
            (2 + waits, waits),
            "{group} {kind} {first:?}"
        );
    }
}

/// A certificate for `name`, good in `year` and the one before, and its key, as PEM.
fn made(name: &str, year: i32) -> [String; 2] {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut parameters = rcgen::CertificateParams::new([name.to_owned()]).unwrap();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
    parameters.not_before = rcgen::date_time_ymd(year - 1, 1, 1);
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
        (own.clone() + &key.replace("PRIVATE", "ENCRYPTED PRIVATE"), "without a password: append"),
        (own.clone() + &of_foreign, "its private key is not that of its first certificate"),
        (own.repeat(200) + &key, "B, TLS ends take 65000 B: shorten it"),
    ] {
        let error = OwnCertificate::from_pem(&pem).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    let with = |pem: [&String; 3]| {
        let own = OwnCertificate::from_pem(&pem.map(String::as_str).concat()).unwrap();
        let chain = Chain { certificate: Some(Arc::new(own)), ..Chain::default() };
        [(); 2].map(|()| offer(&[X25519], &chain))
    };
    let (none, default) = (String::new(), Chain::default());
    for name in ["http2", "quic"] {
        measure(name, with([&own, &key, &none]), Resumed).unwrap();
        let apart = |groups: [_; 2]| groups.map(|group| offer(&[group], &default));
        for (ends, part) in [
            (apart([X25519, X25519MlKem768]), "(handshake_failure: compare key-exchange"),
            // A hello of two packets.
            (apart([X25519MlKem768, X25519]), "(handshake_failure: compare key-exchange"),
            (with([&expired, &of_expired, &none]), "(certificate: renew it;"),
            (with([&own, &foreign, &key]), "(certificate: end its file with"),
        ] {
            let error = measure(name, ends, New).unwrap_err();
            assert!(error.contains(part), "{name}: {error}");
        }
    }
}
