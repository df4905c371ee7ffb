//! What each single lost packet costs, against a second program: arithmetic from the formulas of the standards,
//! which knows no engine.
//!
//! The link has 20 ms each way and no rate, so a round trip takes exactly 40 ms. Six messages are sent one after
//! the other. QUIC sends no path-MTU probes, which would otherwise show losses sooner.

use std::collections::BTreeMap;

use trackbed_lab::drops::{self, Ground, Question};
use trackbed_measure::drops::{DropVerdict, DropsCell, Pattern};
use trackbed_net::models::Fault;
use trackbed_scenario::{self as scenario, Override, Source};
use trackbed_substrate::Cancel;

const RTT: f64 = 40.0;
const MESSAGES: usize = 6;

fn search(settings: &str, pairs: bool) -> DropsCell {
    let text = format!(
        "name = \"a\"\nruns = 1\n[link]\ndelay = \"20 ms\"\n[workload]\nkind = \"messages\"\ncount = {MESSAGES}\n"
    );
    let overrides: Vec<Override> =
        settings.split_whitespace().map(|text| text.parse().unwrap()).collect();
    let source = Source::Text { name: "a.toml".to_owned(), text };
    let mut plan = scenario::load(&source, &overrides).unwrap_or_else(|why| panic!("{why}"));
    let question = Question {
        fault: Fault::Loss,
        pairs,
        packets: 200,
        run: 0,
        only: None,
        jobs: 2,
        cancel: Cancel::default(),
    };
    drops::search((&mut plan, 0), Ground::Virtual, &question, &|_, _| ()).unwrap()
}

/// What the loss of a packet costs that nothing else shows: the whole timer.
type Costs = BTreeMap<String, f64>;

/// RFC 6298 section 2 and RFC 9002 section 5.3, for `samples` of 40 ms: they vary by half at first, and each
/// further one takes a quarter off.
fn variation(samples: usize) -> f64 {
    RTT / 2.0 * 0.75_f64.powi(samples as i32 - 1)
}

/// RFC 6298 section 2.1: one second before the first sample. Then as Linux computes it: the margin above the
/// round-trip time is at least 200 ms.
fn tcp(names: [&str; 4]) -> Costs {
    let [syn, syn_ack, request, answer] = names;
    let mut costs = Costs::from([(syn.to_owned(), 1e3), (syn_ack.to_owned(), 1e3)]);
    for message in 1..=MESSAGES {
        let margin = f64::max(4.0 * variation(message), 200.0);
        costs.insert(format!("{request} {message}"), RTT + margin);
        costs.insert(format!("{answer} {message}"), RTT + margin);
    }
    costs
}

/// RFC 9002 section 6.2. Before the first sample, 333 ms vary by half. In the handshake, peers acknowledge at
/// once; later, up to 25 ms late.
fn quic() -> Costs {
    let timeout = |samples, delay| RTT + f64::max(4.0 * variation(samples), 1.0) + delay;
    let mut costs = Costs::from([
        ("client Initial 1".to_owned(), 999.0),
        ("server Initial+Handshake 1".to_owned(), 999.0),
        ("client Initial+Handshake 1".to_owned(), timeout(1, 0.0)),
    ]);
    for message in 1..=MESSAGES {
        // When its timer is set last, the client has a sample of the handshake and one of each message before. The
        // server has two of the handshake, one of the connection identifiers that it offers, and one of the end of
        // the handshake, which is acknowledged along with the first answer if that is not lost.
        costs.insert(format!("client 1-RTT {message}"), timeout(message, 25.0));
        costs.insert(format!("server 1-RTT {message}"), timeout(usize::max(message + 2, 4), 25.0));
    }
    costs
}

/// RFC 9147 section 5.8.2, RFC 6347 section 4.2.4.1: each flight of the handshake has a second. CoAP draws its
/// timeout from two to three seconds (RFC 7252 section 4.8), which is compared apart.
fn dtls(flights: &[&str]) -> Costs {
    flights.iter().map(|flight| ((*flight).to_owned(), 1e3)).collect()
}

/// RFC 9260 sections 5.1 and 6.3.1: each timer lasts a second at least. Data that went along with a COOKIE ECHO
/// waits for the COOKIE ACK besides.
fn sctp() -> Costs {
    let mut costs = dtls(&["client INIT 1", "server INIT ACK 1"]);
    costs.insert("client COOKIE ECHO+I-DATA 1".to_owned(), 1e3 + RTT);
    costs
}

/// Each packet costs what the formulas say, to the millisecond; those that they do not name cost nothing, or
/// are among `others`. Packets of QUIC are counted here if they cost anything, since only those carry messages.
fn check(settings: &str, expected: &Costs, others: &[&str]) {
    let found = search(settings, false);
    let mut missing = expected.clone();
    let mut counts = BTreeMap::new();
    for pattern in &found.patterns {
        let later = pattern.later_ms.unwrap();
        assert_eq!(pattern.verdict, DropVerdict::InTime, "{settings}: {pattern:?}");
        let words = match pattern.words().rsplit_once(' ') {
            Some((name, _)) if name.ends_with("1-RTT") && later > 1.0 => {
                let count = counts.entry(name.to_owned()).or_insert(0);
                *count += 1;
                format!("{name} {count}")
            }
            _ if pattern.words().contains(" 1-RTT ") => String::new(),
            _ => pattern.words(),
        };
        match missing.remove(&words) {
            Some(cost) => {
                assert!((later - cost).abs() < 1.0, "{settings}: {words}: {later}, not {cost}");
            }
            None if others.iter().any(|other| words.starts_with(other)) => {}
            None => assert!(later.abs() < 1.0, "{settings}: {words} costs {later} ms"),
        }
    }
    let known: Vec<String> = found.patterns.iter().map(Pattern::words).collect();
    assert!(missing.is_empty(), "{settings}: {missing:?} of {known:?}");
}

#[test]
fn each_lost_packet_costs_what_the_formulas_say() {
    let plain = ["client SYN 1", "server SYN-ACK 1", "client data", "server data"];
    check("protocol=tcp", &tcp(plain), &[]);
    let opening = ["client SYN MP_CAPABLE 1", "server SYN-ACK MP_CAPABLE 1"];
    check("protocol=mptcp", &tcp([opening[0], opening[1], "client data", "server data"]), &[]);
    for protocol in ["quic", "http3"] {
        check(&format!("protocol={protocol} packet-size=1200B"), &quic(), &[]);
    }
    let server = "server ServerHello+encrypted handshake 1";
    let new = ["client ClientHello 1", server, "client encrypted handshake 1"];
    check("protocol=coap+dtls", &dtls(&new), &["client DTLS data", "server DTLS data"]);
    let old = [
        "client ClientHello 1",
        "server HelloVerifyRequest 1",
        "client ClientHello 2",
        "server ServerHello+Certificate+ServerKeyExchange+ServerHelloDone 1",
        "client ClientKeyExchange+ChangeCipherSpec+Finished 1",
        "server ChangeCipherSpec+Finished 1",
    ];
    check("protocol=coap+dtls tls=1.2", &dtls(&old), &["client DTLS data", "server DTLS data"]);
    let data = ["client I-DATA", "server I-DATA", "server SACK", "client SACK"];
    check("protocol=sctp", &sctp(), &data);
    // The first flights of TLS over TCP.
    for protocol in ["tcp+tls", "http1", "http2", "mqtt"] {
        let first = "server ServerHello+ChangeCipherSpec+TLS data 1";
        let mut costs = dtls(&["client SYN 1", "server SYN-ACK 1"]);
        costs.extend(["client ClientHello 1", first].map(|name| (name.to_owned(), RTT + 200.0)));
        check(&format!("protocol={protocol} tls=1.3"), &costs, &["client", "server"]);
    }
}

/// The loss of a request and that of its answer wait for the same timer, drawn from two to three seconds.
#[test]
fn coap_draws_its_timeout_from_the_range_of_its_standard() {
    for (settings, content) in [
        ("protocol=coap", ["client CON POST", "server ACK 2.04"]),
        ("protocol=coap+dtls tls=1.2", ["client DTLS data", "server DTLS data"]),
    ] {
        let found = search(settings, false);
        for message in 1..=MESSAGES {
            let [request, answer] =
                content.map(|content| later(&found, &format!("{content} {message}")));
            assert!((2e3..=3e3).contains(&request), "{settings}: {request}");
            assert!((request - answer).abs() < 1.0, "{settings}: {request} and {answer}");
        }
    }
}

/// Two losses of the same packet in a row: the second timer lasts twice as long (RFC 9147 section 5.8.2, RFC 9260
/// section 6.3.3). TCP begins with a tail loss probe, which doubles nothing (RFC 8985 section 7.3), and Linux repeats
/// a SYN each second. QUIC sends two packets at a timeout (RFC 9002 section 6.2.4), so the loss of one of them costs
/// no second timer.
#[test]
fn the_second_timer_in_a_row_is_that_of_the_standard() {
    for (settings, first, second, expected) in [
        ("protocol=tcp", "client SYN 1", "client SYN 2", 2e3),
        ("protocol=tcp", "client data 2", "client data 3", 2.0 * (RTT + 200.0)),
        ("protocol=quic packet-size=1200B", "client Initial 1", "client Initial 2", 999.0),
        ("protocol=coap+dtls tls=1.2", "client ClientHello 1", "client ClientHello 2", 3e3),
        ("protocol=sctp", "client INIT 1", "client INIT 2", 3e3),
    ] {
        let found = search(settings, true);
        let red = found.patterns.iter().find(|pattern| pattern.verdict.is_red());
        assert_eq!(red, None, "{settings}");
        let later = later(&found, &format!("{first}, then {second}"));
        assert!((later - expected).abs() < 1.0, "{settings} {second}: {later}, not {expected}");
    }
}

/// A ServerHello in two packets, in front of a chain that fills the window: whichever is lost, nothing waits for more
/// than the timers give.
#[test]
fn long_handshakes_wait_for_no_more_than_their_timers() {
    let settings = "protocol=quic chain=ml-dsa-87 key-exchange=X25519MLKEM768";
    let found = search(settings, false);
    let red = found.patterns.iter().find(|pattern| pattern.verdict.is_red());
    assert_eq!(red, None, "{settings}");
    // The client's timer lasts 120 ms after its only sample, and the server's as long.
    let half = later(&found, "server Initial 2");
    assert!(half < 3.0 * 120.0, "{half}");
}

fn pattern<'a>(found: &'a DropsCell, words: &str) -> &'a Pattern {
    let known = || found.patterns.iter().take(40).map(Pattern::words).collect::<Vec<_>>();
    let pattern = found.patterns.iter().find(|pattern| pattern.words() == words);
    pattern.unwrap_or_else(|| panic!("{words} of {:?}", known()))
}

fn later(found: &DropsCell, words: &str) -> f64 {
    pattern(found, words).later_ms.unwrap()
}

/// Faults that were put in: a retransmission timer that is five times too long, and a client that asks again before
/// the first timer ends.
#[test]
fn planted_faults_are_found() {
    let late = search("protocol=tcp rto-min=5s", false);
    assert_eq!(pattern(&late, "client SYN 1").verdict, DropVerdict::InTime);
    assert_eq!(pattern(&late, "client data 1").verdict, DropVerdict::Late);
    let hasty = search("protocol=coap idle-timeout=500ms", false);
    assert_eq!(pattern(&hasty, "client CON POST 1").verdict, DropVerdict::Early);
}
