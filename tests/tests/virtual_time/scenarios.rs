//! Every built-in scenario runs, and reports what its users rely on.

use trackbed_analysis::paper::{self, Verdict};
use trackbed_measure::results::Document;
use trackbed_scenario::{self as scenario, Home, Source};
use trackbed_tests::{cell, document, document_of, plan, run};

#[test]
fn every_built_in_scenario_runs_shortened() {
    for built_in in scenario::built_in() {
        let mut overrides = vec!["runs=1"];
        if scenario::load(&Source::named(built_in.name), &[]).unwrap().home == Home::Emulated {
            // `crates/trackbed/tests/emulated` runs it.
            continue;
        }
        if built_in.name == "bulk" {
            overrides.push("workload.size=1MB");
        }
        if built_in.text.contains("quick.") {
            overrides.push("quick=true");
        }
        // Its rides are more than four fifths of all; with all seconds only where the build is optimised.
        if built_in.name == "train" && cfg!(debug_assertions) {
            overrides.extend(["workload.duration=8s", "radio.duration=10s"]);
        }
        let document = document(built_in.name, &overrides);
        let promised = PROMISED.iter().find(|(name, ..)| *name == built_in.name);
        for cell in &document.cells {
            assert_eq!(cell.failed, 0, "{}: {:?}", built_in.name, cell.failures);
            assert!(!cell.metrics.is_empty());
            if let Some((name, _, factors, metrics)) = promised {
                assert!(cell.factors.keys().eq(*factors), "{name}: {:?}", cell.factors);
                for metric in *metrics {
                    assert!(cell.metrics.contains_key(*metric), "{name}: {metric}");
                }
            }
            if built_in.name == "web" {
                assert!(!cell.metrics.contains_key("completion_ms"));
                assert_eq!(cell.metrics["object_done_ms"].samples, 8);
            }
        }
        if let Some((name, cells, ..)) = promised {
            assert_eq!(document.cells.len(), *cells, "{name}");
        }
    }
}

/// The cells, factors and metrics that users of a scenario rely on.
const PROMISED: [(&str, usize, &[&str], &[&str]); 3] = [
    ("vru", 11, &["protocol", "tls", "handshake"], &["completion_ms", "rtt_ms", "throughput_mbps"]),
    (
        "web",
        21,
        &["protocol", "loss"],
        &["plt_ms", "ttfb_ms", "first_paint_ms", "objects_count", "object_done_ms"],
    ),
    (
        "bulk",
        10,
        &["protocol", "congestion"],
        &["completion_ms", "throughput_mbps", "retransmission_percent"],
    ),
];

#[test]
fn v2x_keeps_up_where_cores_suffice_and_is_the_same_every_time() {
    let overrides = ["runs=1", "quick=false", "workload.duration=2s", "workload.warm-up=1s"];
    let document = document("v2x", &overrides);
    assert_eq!(document.cells.len(), 52);
    let of = |part: &str, board: &str, metric: &str| {
        cell(&document, &[("part", part), ("board", board)]).metrics[metric].mean
    };
    for board in ["trackbed-xeon-ifma", "trackbed-xeon-openssl", "etri-odroid-xu4"] {
        assert_eq!(of("crossing", board, "late_verdict_ratio"), 0.0, "{board}");
    }
    assert!(of("crossing", "etri-udoo-quad", "late_verdict_ratio") > 0.9);
    assert!(document.checks.iter().all(|check| check.pass));
    let again = self::document("v2x", &overrides);
    let metrics = |document: &Document| {
        document.cells.iter().map(|cell| cell.metrics.clone()).collect::<Vec<_>>()
    };
    assert_eq!(metrics(&document), metrics(&again));
}

#[test]
fn a_paper_s_claims_are_compared_with_measured_runs() {
    let plan = plan("vru", &["runs=8"]);
    let runs = run(&plan, 2);
    let document = document_of(&plan, &runs);
    let hold = |name: &str| paper::hold(name, &plan, &document, &runs, false).unwrap();
    let held = hold("vru").unwrap();
    let tried: Vec<_> =
        held.statements.iter().filter(|s| s.verdict != Verdict::NotTestable).collect();
    assert!(tried.iter().all(|statement| statement.ours.is_some()));
    assert_eq!(held.checks().len(), tried.len());
    // Ten transfers a connection, each of which took at least one round trip.
    let points = held.charts[0].curves.iter().map(|curve| curve.points.len());
    assert!(points.clone().all(|points| points == 10), "{:?}", points.collect::<Vec<_>>());
    assert!(hold("nothing").is_none());
}

/// The satellite and interoperability testers' common figure: 10 MB at 10 Mbit/s, 15 ms each way,
/// a queue of 25 packets gives about 9.56 Mbit/s.
#[test]
fn quic_goodput_is_that_of_the_interoperability_tests() {
    let settings = "runs=1 protocol=quic congestion=cubic,reno link.rate=10mbit link.delay=15ms link.loss=0 \
                    link.queue=25packets";
    let document = document("bulk", &settings.split(' ').collect::<Vec<_>>());
    for cell in &document.cells {
        let mbps = cell.metrics["throughput_mbps"].mean;
        assert!((mbps / 9.56 - 1.0).abs() < 0.03, "{:?}: {mbps} Mbit/s", cell.factors);
    }
}

/// A stack takes the whole upload at once, and sends it for five times as long as it may stand still. Over a dead link it
/// is given up, at the latest after twice that time.
#[test]
fn an_upload_is_in_progress_as_long_as_its_peer_answers() {
    let settings = "runs=1 protocol=tcp,quic,http3,sctp workload.direction=upload workload.size=300kB \
                    link.rate=256kbit/s link.loss=0 workload.timeout=2s";
    let settings: Vec<&str> = settings.split(' ').collect();
    assert!(document("bulk", &settings).cells.iter().all(|cell| cell.failed == 0));
    let dead = document("bulk", &[&settings[..], &["link.outage=1s:60s"]].concat());
    for failures in dead.cells.iter().map(|cell| &cell.failures) {
        let at = failures[0].reason.strip_prefix("at ").unwrap().split(' ').next();
        assert!((3.0..=5.5).contains(&at.unwrap().parse::<f64>().unwrap()), "{failures:?}");
    }
}
