//! What presets change, on the wire.

use trackbed_measure::results::MetricSummary;
use trackbed_tests::document;

/// A metric of one download over QUIC and Reno, on a link without loss and with a round trip of
/// 100 ms.
fn download(metric: &str, settings: &[&str]) -> MetricSummary {
    let fixed = ["protocol=quic", "congestion=reno", "link.loss=0", "link.delay=50ms", "runs=1"];
    let document = document("bulk", &[&fixed[..], settings].concat());
    document.cells[0].metrics[metric].clone()
}

/// 32 packets of 1,252 bytes carry 38,700 bytes or so. What they carry is there after the set-up and
/// one round trip, and the time over which they are paced (1/1.25 of a round trip); what they do not
/// carry needs another round trip.
#[test]
fn the_first_flight_has_the_initial_window() {
    let took = |size: &str, window: &str| {
        let settings = ["link.rate=1 Gbit/s", "packet-size=1252B", window, size];
        download("completion_ms", &settings).mean
    };
    let [within, beyond] = ["workload.size=34kB", "workload.size=46kB"];
    let few = took(within, "initial-window=32");
    assert!((200.0..285.0).contains(&few), "{few} ms");
    let more = took(beyond, "initial-window=32");
    assert!((300.0..385.0).contains(&more), "{more} ms");
    // Ten packets, then twenty, then the rest.
    let slow = took(within, "initial-window=10");
    assert!((400.0..485.0).contains(&slow), "{slow} ms");
}

/// 50 Mbit/s and 100 ms are 416 packets, and 300 fit the queue. The window doubles from below 716 to
/// above it, unless slow start ends when 12.5 ms (an eighth of a round trip) wait in the queue.
#[test]
fn hybrid_slow_start_ends_before_the_queue_overflows() {
    let again = |hystart: &str| {
        let settings =
            ["link.rate=50 Mbit/s", "link.queue=300 packets", "workload.size=6 MB", hystart];
        download("retransmission_percent", &settings).max
    };
    assert_eq!(again("hystart=true"), 0.0);
    assert!(again("hystart=false") > 1.0);
}
