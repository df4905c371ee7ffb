//! On a clean link, a transfer takes the arithmetic of slow start and bandwidth.
//!
//! The set-up takes its round trips, the request half a one. Then a flight leaves in each round
//! trip, each twice as large as the one before (RFC 5681 section 3.1 with RFC 3465's counting of
//! bytes; RFC 9002 section 7.3.1), until a flight fills the path; from there on the link is never
//! idle. The last byte needs the way to the client.

use trackbed_tests::{cell, document};

/// The rate of every link here, in bit/s.
const RATE: f64 = 50e6;

/// A way to carry a transfer.
struct Carrier {
    protocol: &'static str,
    /// Round trips until the request may leave.
    set_up: f64,
    /// The first flight, in bytes: RFC 6928, RFC 9002 section 7.2.
    first_flight: f64,
    /// The data in a full packet and its size on the link, in bytes.
    payload: f64,
    wire: f64,
    /// The share of a round trip in which a flight is sent: 0 if it leaves at once, 1/1.25 if it is
    /// paced (RFC 9002 section 7.7).
    paced: f64,
}

/// TCP segments with timestamps; TLS records take 22 of 16,406 bytes more, HTTP/2 frames 9 of
/// 16,393. QUIC packets of 1,452 bytes, with 19 to 21 bytes of header, tag and frame header in
/// front.
const CARRIERS: [Carrier; 5] = [
    tcp("tcp", 1.0, 1.0),
    tcp("tcp+tls", 2.0, 16384.0 / 16406.0),
    tcp("http2", 2.0, 16384.0 / 16406.0 * 16384.0 / 16393.0),
    quic("quic"),
    quic("http3"),
];

const fn tcp(protocol: &'static str, set_up: f64, share: f64) -> Carrier {
    let first_flight = 10.0 * 1448.0;
    let (payload, wire) = (1448.0 * share, 1500.0);
    Carrier { protocol, set_up, first_flight, payload, wire, paced: 0.0 }
}

const fn quic(protocol: &'static str) -> Carrier {
    let (payload, wire) = (1452.0 - 41.0, 1480.0);
    Carrier { protocol, set_up: 1.0, first_flight: 12_000.0, payload, wire, paced: 0.8 }
}

impl Carrier {
    /// How long `size` bytes take with a round trip of `rtt_ms`, in ms.
    fn arithmetic(&self, size: f64, rtt_ms: f64) -> f64 {
        let packet_ms = self.wire * 8.0 / RATE * 1e3;
        let per_ms = self.payload / packet_ms;
        // The acknowledgment comes when the first packet has crossed the link.
        let round_ms = rtt_ms + packet_ms;
        let (mut at, mut left, mut flight) =
            ((self.set_up + 0.5) * rtt_ms, size, self.first_flight);
        while left > flight && flight / per_ms < round_ms {
            at += round_ms;
            left -= flight;
            flight *= 2.0;
        }
        at + left / per_ms + rtt_ms / 2.0
    }
}

fn check(size: u32, delay_ms: u32, tolerance: f64) {
    let settings = [
        "link.loss=0".to_owned(),
        "link.queue=20000 packets".to_owned(),
        format!("link.delay={delay_ms}ms"),
        format!("workload.size={size}B"),
        "protocol=tcp,tcp+tls,http2,quic,http3".to_owned(),
        "congestion=reno,cubic".to_owned(),
        // CUBIC would leave slow start as soon as the queue grows.
        "hystart=false".to_owned(),
        "send-buffer=64MB".to_owned(),
        "receive-buffer=64MB".to_owned(),
        "runs=1".to_owned(),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let document = document("bulk", &settings);
    let rtt_ms = f64::from(2 * delay_ms);
    for carrier in &CARRIERS {
        let expected = carrier.arithmetic(f64::from(size), rtt_ms);
        let (low, high) = (expected * (1.0 - tolerance), expected * (1.0 + tolerance));
        for congestion in ["reno", "cubic"] {
            let cell =
                cell(&document, &[("protocol", carrier.protocol), ("congestion", congestion)]);
            let took = cell.metrics["completion_ms"].mean;
            let name = format!("{} {congestion}, {size} B, {rtt_ms} ms", carrier.protocol);
            println!("{name}: {took:.1} ms, arithmetic {expected:.1}");
            assert!(
                (low..=high + carrier.paced * rtt_ms).contains(&took),
                "{name}: {took:.1} ms, arithmetic {expected:.1}"
            );
        }
    }
}

/// Slow start all the way: the link is never full. Sizes well away from the end of a flight, where
/// a session ticket in front of the data would cost a round trip.
#[test]
fn short_transfers() {
    check(70_000, 50, 0.02);
    check(300_000, 50, 0.02);
}

/// Slow start, then the link's rate.
#[test]
fn transfers_that_fill_the_link() {
    check(1_000_000, 20, 0.02);
    check(5_000_000, 20, 0.02);
    check(5_000_000, 50, 0.02);
}

/// So long that pacing, which takes less than a round trip, is within the tolerance.
#[test]
fn long_transfers_take_what_the_rate_asks_for() {
    check(40_000_000, 20, 0.01);
}
