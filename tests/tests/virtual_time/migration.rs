//! The cost of losing a connection or an address in the middle of a transfer: on a clean link, the
//! round trips of the specifications.

use trackbed_measure::results::Document;
use trackbed_tests::{cell, document};

/// A link that hardly takes time for the bytes themselves, and an RTT of 100 ms.
const CLEAN: &str = "link.loss=0; link.rate=1 Gbit/s; link.delay=50ms; link.queue=10000 packets; \
                     workload.size=400kB; runs=1; protocol=tcp,tcp+tls,http1,http2,quic,http3";

const RTT_MS: f64 = 100.0;

/// What all bytes of a transfer take, headers and handshakes included, and more.
const SERIALISATION_MS: f64 = 5.0;

fn run(settings: &[&str]) -> Document {
    let settings: Vec<&str> = CLEAN.split("; ").chain(settings.iter().copied()).collect();
    document("migration", &settings)
}

fn measured(document: &Document, protocol: &str, handshake: &str, metric: &str) -> (f64, f64) {
    let cell = cell(document, &[("protocol", protocol), ("handshake", handshake)]);
    assert_eq!(cell.failed, 0, "{protocol} {handshake}");
    let summary = &cell.metrics[metric];
    (summary.min, summary.max)
}

fn check(document: &Document, expected: &[(&str, &str, f64)]) {
    for &(protocol, handshake, round_trips) in expected {
        let (min, max) = measured(document, protocol, handshake, "reconnect_ms");
        let least = round_trips * RTT_MS;
        assert!(
            min >= least && max <= least + SERIALISATION_MS,
            "{protocol} {handshake}: {min} to {max} ms, not {least}"
        );
    }
}

/// Round trips until a request may be sent over the next connection: TCP 1 (RFC 9293 section 3.5),
/// TLS 1.3 one more, with early data none (RFC 8446 section 2), QUIC 1 for everything, with 0-RTT
/// none (RFC 9001 section 4).
const RECONNECT: [(&str, &str, f64); 13] = [
    ("tcp", "new", 1.0),
    ("tcp+tls", "new", 2.0),
    ("tcp+tls", "resumed", 2.0),
    ("http1", "early", 1.0),
    ("http2", "new", 2.0),
    ("http2", "resumed", 2.0),
    ("http2", "early", 1.0),
    ("quic", "new", 1.0),
    ("quic", "resumed", 1.0),
    ("quic", "early", 0.0),
    ("http3", "new", 1.0),
    ("http3", "resumed", 1.0),
    ("http3", "early", 0.0),
];

#[test]
fn a_forced_reconnection_takes_the_round_trips_of_its_handshake() {
    let document = run(&["workload.moves=0", "workload.reconnections=1"]);
    check(&document, &RECONNECT);
    // The request and its answer are one round trip more. Over TCP, a TLS record cannot be read
    // before all of it has arrived: 16 KiB may not fit the initial window.
    for (protocol, handshake, round_trips) in RECONNECT {
        let answered = (round_trips + 1.0) * RTT_MS;
        let records = ["tcp+tls", "http1", "http2"].contains(&protocol);
        let most = answered + if records { RTT_MS } else { 0.0 } + SERIALISATION_MS;
        let (min, max) = measured(&document, protocol, handshake, "interruption_ms");
        assert!(min >= answered && max <= most, "{protocol} {handshake}: {min} to {max}");
    }
}

/// Without TCP's connections there is nothing to migrate: a move costs what a reconnection costs.
#[test]
fn a_move_costs_tcp_a_reconnection() {
    let over_tcp: Vec<_> = RECONNECT
        .into_iter()
        .filter(|(protocol, ..)| !["quic", "http3"].contains(protocol))
        .collect();
    check(&run(&["workload.moves=1"]), &over_tcp);
}

/// A queue of a second in front of the phone, full by the middle of the transfer. It belongs to the old
/// access point: at the new one, the connection begins on an empty link, and takes the round trips of
/// its handshake and of the request.
#[test]
fn the_queue_of_the_old_access_point_delays_nothing_at_the_new_one() {
    let full = "workload.moves=0; workload.reconnections=1; protocol=tcp,quic; handshake=new; congestion=reno; \
                hystart=false; link.rate=20 Mbit/s; link.queue=1600 packets; workload.size=20MB";
    let reconnect = |kind: &str| run(&full.split("; ").chain([kind]).collect::<Vec<_>>());
    let interruption = |document: &Document, protocol: &str| {
        let cell = cell(document, &[("protocol", protocol)]);
        assert_eq!(cell.failed, 0);
        cell.metrics["interruption_ms"].mean
    };
    let (same, new) = (
        reconnect("environment.reconnect=same-address"),
        reconnect("environment.reconnect=new-address"),
    );
    for protocol in ["tcp", "quic"] {
        let behind = interruption(&same, protocol);
        assert!(behind > 5.0 * RTT_MS, "{protocol}: {behind} ms");
        let took = interruption(&new, protocol);
        assert!(
            (2.0 * RTT_MS..2.0 * RTT_MS + SERIALISATION_MS).contains(&took),
            "{protocol}: {took} ms"
        );
    }
    let migrated = reconnect("environment.reconnect=migration");
    let count = |protocol, metric| measured(&migrated, protocol, "new", metric).0;
    assert_eq!((count("quic", "migration_count"), count("tcp", "migration_count")), (1.0, 0.0));
}

/// QUIC needs no handshake. What is lost with the old address is sent again when the server has the
/// first acknowledgment from the new one, and that it has at the earliest with the answer to its
/// challenge: the client's word half a round trip, the challenge one, the answer one and a half,
/// the data two. The engine takes another one, as its client sends its answer ahead of the
/// acknowledgment, and the server fills its window with other data in between.
#[test]
fn a_migration_takes_two_or_three_round_trips_and_no_handshake() {
    let quic = "protocol=quic,http3";
    let [one, three] = ["workload.moves=1", "workload.moves=3"].map(|moves| run(&[quic, moves]));
    for protocol in ["quic", "http3"] {
        for handshake in ["new", "early"] {
            let (min, max) = measured(&one, protocol, handshake, "interruption_ms");
            let most = 3.0 * RTT_MS + SERIALISATION_MS;
            assert!(min >= 2.0 * RTT_MS && max <= most, "{protocol} {handshake}: {min} to {max}");
            assert_eq!(measured(&three, protocol, handshake, "migration_count").0, 3.0);
            assert_eq!(measured(&three, protocol, handshake, "reconnection_count").0, 0.0);
        }
    }
}

/// The phone is not notified: its connection has to time out first, with QUIC too. TCP has no timeout
/// for a client that only waits, unless the key sets one: then the workload gives up after 60 s.
#[test]
fn a_phone_that_is_not_told_waits_for_its_timeouts() {
    let protocols = ["tcp+tls", "http2", "quic"];
    let only = format!("protocol={}", protocols.join(","));
    let untold = ["workload.moves=1", "workload.notice=false", &only];
    let document = run(&[&untold[..], &["idle-timeout=30s"]].concat());
    for protocol in protocols {
        let (min, max) = measured(&document, protocol, "new", "reconnect_ms");
        assert!(min >= 29_900.0 && max <= 31_500.0, "{protocol}: {min} to {max}");
    }
    for cell in run(&untold).cells {
        assert_eq!(cell.failed == 0, cell.factor_text("protocol") == "quic", "{:?}", cell.factors);
    }
}

/// Random losses, moves and reconnections in both directions over every protocol: whatever happens,
/// all bytes are there in the end, once (`failed` counts what is not intact).
#[test]
fn nothing_is_lost_whatever_happens() {
    for direction in ["download", "upload"] {
        let direction = format!("workload.direction={direction}");
        let settings = "link.loss=2%; link.queue=50 packets; protocol=tcp,tcp+tls,http1,http2,quic,http3; runs=5; \
                        workload.size=300kB; workload.moves=3; workload.reconnections=4; workload.phones=2";
        let settings: Vec<&str> = settings.split("; ").chain([direction.as_str()]).collect();
        let document = document("migration", &settings);
        for cell in &document.cells {
            assert_eq!(cell.failed, 0, "{:?}", cell.factors);
            assert_eq!(cell.metrics["throughput_mbps"].samples, 10, "{:?}", cell.factors);
        }
        assert_eq!(document.cells.len(), 16);
    }
}
