//! On a clean link, protocols take the round trips of their specifications, to the microsecond,
//! plus the transmission time of the bytes.

use trackbed_tests::{cell, document};

/// Round trips until ten messages are answered, counted by hand: TCP 1 (RFC 9293), TLS 1.2 two or,
/// resumed, one (RFC 5246 section 7.3), TLS 1.3 one or, with early data, none (RFC 8446 section 2),
/// QUIC 1 or 0 (RFC 9001 section 4), and one for each message.
const TEN_MESSAGES: [(&str, &str, &str, u32); 11] = [
    ("http2", "1.2", "new", 13),
    ("http2", "1.2", "resumed", 12),
    ("http2", "1.3", "new", 12),
    ("http2", "1.3", "resumed", 12),
    ("http2", "1.3", "early", 11),
    ("http3", "1.3", "new", 11),
    ("http3", "1.3", "resumed", 11),
    ("http3", "1.3", "early", 10),
    ("quic", "1.3", "new", 11),
    ("quic", "1.3", "resumed", 11),
    ("quic", "1.3", "early", 10),
];

const SECURE: [&str; 3] = ["protocol", "tls", "handshake"];

/// Runs `vru` without loss and compares every cell with `round_trips(cell's count above)`.
fn check(overrides: &[&str], rtt_ms: f64, messages: u32) {
    let mut all = vec!["link.loss=0", "runs=2"];
    all.extend(overrides);
    let document = document("vru", &all);
    assert_eq!(document.cells.len(), TEN_MESSAGES.len());
    for (protocol, tls, handshake, ten) in TEN_MESSAGES {
        let factors = [protocol, tls, handshake];
        let factors: Vec<_> = SECURE.into_iter().zip(factors).collect();
        let cell = cell(&document, &factors);
        let round_trips = ten - 10 + messages;
        assert_eq!(cell.expected_round_trips, Some(round_trips), "{factors:?}");
        let expected_ms = f64::from(round_trips) * rtt_ms;
        let completion = &cell.metrics["completion_ms"];
        let serialization_ms = cell.metrics["wire_bytes"].max * 8.0 / 50e6 * 1e3;
        assert!(
            completion.min >= expected_ms
                && completion.max <= expected_ms * 1.01 + serialization_ms,
            "{factors:?}: {completion:?}, expected {expected_ms} ms and at most \
             {serialization_ms} ms more"
        );
    }
    assert!(document.checks.iter().all(|check| check.pass), "{:#?}", document.checks);
    assert_eq!(document.checks.len(), TEN_MESSAGES.len());
}

#[test]
fn ten_messages_over_ten_milliseconds() {
    check(&["link.delay=5ms"], 10.0, 10);
}

#[test]
fn other_delays() {
    check(&["link.delay=50ms"], 100.0, 10);
    check(&["link.delay=300us"], 0.6, 10);
}

#[test]
fn the_same_over_either_version_of_ip() {
    check(&["link.delay=5ms", "ip=6"], 10.0, 10);
    // 20 bytes more in front of every packet (RFC 8200 section 3, RFC 791 section 3.1).
    let overrides = ["link.loss=0", "runs=1", "ip=4,6", "protocol=quic", "handshake=new"];
    let document = document("vru", &overrides);
    let wire_bytes = |ip: &str| cell(&document, &[("ip", ip)]).metrics["wire_bytes"].mean;
    let more = wire_bytes("6") - wire_bytes("4");
    assert!(more > 0.0 && more % 20.0 == 0.0, "{more} bytes more");
}

#[test]
fn other_counts_and_sizes() {
    check(&["link.delay=20ms", "workload.count=3"], 40.0, 3);
    check(&["link.delay=20ms", "workload.count=25", "workload.size=1200B"], 40.0, 25);
    check(&["link.delay=20ms", "workload.count=1", "workload.size=64B"], 40.0, 1);
}

#[test]
fn a_connection_for_each_message_costs_its_set_up_each_time() {
    let document = document("vru", &["link.loss=0", "runs=1", "workload.connection=each"]);
    for (protocol, tls, handshake, ten) in TEN_MESSAGES {
        let factors: Vec<_> = SECURE.into_iter().zip([protocol, tls, handshake]).collect();
        let cell = cell(&document, &factors);
        let each = ten - 10 + 1;
        assert_eq!(cell.expected_round_trips, Some(10 * each), "{factors:?}");
    }
    assert!(document.checks.iter().all(|check| check.pass), "{:#?}", document.checks);
}

#[test]
fn bare_tcp_takes_one_round_trip_more_than_there_are_messages() {
    let protocols = "protocol=tcp,tcp+tls,http1";
    let document =
        document("vru", &["link.loss=0", "runs=1", protocols, "tls=1.3", "handshake=new"]);
    assert_eq!(cell(&document, &[("protocol", "http1")]).expected_round_trips, Some(12));
    assert_eq!(cell(&document, &[("protocol", "tcp")]).expected_round_trips, Some(11));
    assert_eq!(cell(&document, &[("protocol", "tcp+tls")]).expected_round_trips, Some(12));
    assert!(document.checks.iter().all(|check| check.pass), "{:#?}", document.checks);
}

/// SCTP: one for INIT and INIT ACK, the request goes along with the COOKIE ECHO (RFC 9260 section
/// 5.1); DTLS 1.3 one more (RFC 9147 section 5).
#[test]
fn sctp_takes_one_round_trip_more_than_there_are_messages_and_two_inside_dtls() {
    let protocols = "protocol=sctp,sctp+dtls";
    let document = document("vru", &["link.loss=0", "runs=1", protocols, "handshake=new"]);
    assert_eq!(cell(&document, &[("protocol", "sctp")]).expected_round_trips, Some(11));
    assert_eq!(cell(&document, &[("protocol", "sctp+dtls")]).expected_round_trips, Some(12));
    assert!(document.checks.iter().all(|check| check.pass), "{:#?}", document.checks);
}
