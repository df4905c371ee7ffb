//! The effects of presets on the wire.

use trackbed_measure::results::MetricSummary;
use trackbed_tests::document;

/// A metric of one download over QUIC and Reno, on a link without loss and with a round trip of
/// 100 ms.
fn download(metric: &str, settings: &[&str]) -> MetricSummary {
    let fixed = ["protocol=quic", "congestion=reno", "link.loss=0", "link.delay=50ms", "runs=1"];
    document("bulk", &[&fixed[..], settings].concat()).cells[0].metrics[metric].clone()
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
    // Ten packets, then twenty.
    let slow = took(within, "initial-window=10");
    assert!((300.0..385.0).contains(&slow), "{slow} ms");
}

/// 50 Mbit/s and 100 ms are 416 packets, and 2,000 more fit the queue. A rise of the delay shows when
/// the round has ended in which it began, and the next one has brought nine ACK frames. By then three
/// round trips may have passed since a window of 707 packets filled the link, and each of them adds the
/// 416 that the link lets through: slow start ends below 1,955. Without, it goes on beyond 2,416.
#[test]
fn hybrid_slow_start_ends_before_a_deep_queue_overflows() {
    let again = |hystart: &str| {
        let settings =
            ["link.rate=50 Mbit/s", "link.queue=2000 packets", "workload.size=12 MB", hystart];
        download("retransmission_percent", &settings).max
    };
    let (with, without) = (again("hystart=true"), again("hystart=false"));
    assert!(with < 0.1 && without > 1.0, "{with} % and {without} %");
    // HyStart++ lets the window grow by a quarter a round from there on, for five rounds.
    let gentle = again("hystart=rfc9406");
    assert!(gentle < without / 3.0, "{gentle} % of {without} %");
}

/// Delays that vary without a queue are a rise to hybrid slow start, which ends at once. HyStart++ goes back to
/// slow start when the delay falls again (RFC 9406 section 4.2).
#[test]
fn jitter_ends_no_slow_start_by_rfc_9406() {
    let took = |hystart: &str| {
        let delay = "link.delay={ uniform = { least = \"10 ms\", most = \"16 ms\" } }";
        let settings = [delay, "link.rate=500 Mbit/s", "link.queue=8 MB", hystart];
        download("completion_ms", &settings).mean
    };
    let [without, hybrid, gentle] =
        ["false", "true", "rfc9406"].map(|how| took(&format!("hystart={how}")));
    assert!(hybrid > 1.5 * without, "{hybrid} and {without} ms");
    assert!(gentle < 1.2 * without, "{gentle} and {without} ms");
}

/// Segments of 548 bytes carry 536 and a timestamp, in packets of 588; the link is never idle except
/// for the set-up, the request's way and the answer's: two round trips of 2 ms.
#[test]
fn segments_have_the_size_that_is_asked_for() {
    let settings = ["protocol=tcp", "congestion=cubic", "link.loss=0", "link.rate=10 Mbit/s"];
    let more =
        ["link.delay=1ms", "link.queue=1000 packets", "workload.size=1MB", "mss=548B", "runs=1"];
    let document = document("bulk", &[&settings[..], &more].concat());
    let took = document.cells[0].metrics["completion_ms"].mean;
    let expected = 1e6 / 536.0 * 588.0 * 8.0 / 10e6 * 1e3 + 4.0;
    assert!((took - expected).abs() < 2.0, "{took} ms, arithmetic {expected}");
}
