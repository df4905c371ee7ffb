//! Flights of QUIC's handshake that are lost, against the timeouts of RFC 9002, and packets that are only late.

use trackbed_scenario::{self as scenario, Override, Source};
use trackbed_tests::run;

/// Round trip of the link, and the time that packets take on it besides, in milliseconds.
const RTT: f64 = 40.0;
const WIRE: f64 = 1.2;

/// The time to the answer of a message, in milliseconds, where the link loses these packets of one direction.
fn exchange(protocol: &str, (direction, packets): (&str, &[u32])) -> f64 {
    let text = format!(
        "name = \"a\"\nruns = 1\nprotocol = \"{protocol}\"\n[link]\ndelay = \"20 ms\"\nrate = \"50 Mbit/s\"\n\
         [workload]\nkind = \"messages\"\ncount = 1\n"
    );
    let loss = format!("link.{direction}.loss={{ list = {{ packets = {packets:?} }} }}");
    let overrides: Vec<Override> = match packets {
        [] => Vec::new(),
        _ => vec![loss.parse().expect("a setting")],
    };
    let plan =
        scenario::load(&Source::Text { name: "a.toml".to_owned(), text }, &overrides).unwrap();
    run(&plan, 1)[0].outcome.samples().expect("it is answered")["completion_ms"][0]
}

/// Section 6.2.2: without a sample, a round trip of 333 ms is assumed, which varies by half.
const FIRST_PTO: f64 = 333.0 + 4.0 * 333.0 / 2.0;
/// Section 5.3: the first sample varies by half. Data may be acknowledged 25 ms late, the handshake may not.
const HANDSHAKE_PTO: f64 = RTT + 4.0 * RTT / 2.0;

/// With keys of several spaces, what is lost in each is repeated at one timeout (6.2.4), and the backoff ends
/// with the keys (6.2.2).
#[test]
fn a_lost_flight_of_the_handshake_costs_one_timeout() {
    for protocol in ["quic", "http3"] {
        for (lost, expected) in [
            (("up", &[][..]), 2.0 * RTT),
            // The first flight of the client, and of the server, who has a timeout of his own.
            (("up", &[1]), FIRST_PTO + 2.0 * RTT),
            (("down", &[1]), FIRST_PTO + 2.0 * RTT),
            // The client's second flight: acknowledgement, end of the handshake, request.
            (("up", &[2]), RTT + HANDSHAKE_PTO + RTT),
            // Two timeouts in a row: the second lasts twice as long.
            (("up", &[1, 2, 3]), 3.0 * FIRST_PTO + 2.0 * RTT),
        ] {
            let completion = exchange(protocol, lost);
            let late = completion - expected;
            assert!((0.0..4.0 * WIRE).contains(&late), "{protocol} {lost:?}: {completion} ms");
        }
    }
}

/// A quarter of the packets overtaken by 400 others: the fixed threshold takes them for lost, the adaptive one
/// learns, as RACK over TCP does.
#[test]
fn reordering_is_no_loss_to_a_threshold_that_adapts() {
    let completion = |protocol: &str, threshold: u32| {
        let text = format!(
            "name = \"a\"\nruns = 1\nprotocol = \"{protocol}\"\ncongestion = \"cubic\"\nwindow = \"16 MiB\"\n\
             reordering-threshold = {threshold}\n[link]\ndelay = \"5 ms\"\nrate = \"1 Gbit/s\"\nqueue = \"4 MB\"\n\
             reordering = {{ reordering = {{ reordering = \"25 %\", hold = \"5 ms\" }} }}\n\
             [workload]\nkind = \"bulk\"\nsize = \"10 MB\"\n"
        );
        let plan = scenario::load(&Source::Text { name: "a.toml".to_owned(), text }, &[]).unwrap();
        run(&plan, 1)[0].outcome.samples().unwrap()["completion_ms"][0]
    };
    let [fixed, adaptive] = [3, 0].map(|threshold| completion("quic", threshold));
    assert!(adaptive < fixed / 5.0, "{fixed} and {adaptive} ms");
    // Ten round trips for 10 MB from ten packets on, the time on the wire, and what learning costs.
    assert!(adaptive < 500.0, "{adaptive} ms");
}
