//! What is printed of small documents, to the letter.

use serde_json::{Value, json};

use super::*;

fn summary(mean: f64, ci95: [f64; 2], n: u32) -> Value {
    json!({ "mean": mean, "ci95": ci95, "p50": mean, "p95": ci95[1], "p99": ci95[1],
            "min": ci95[0], "max": ci95[1], "n": n, "samples": n })
}

fn cell(factors: Value, mean: f64, ci95: [f64; 2]) -> Value {
    json!({ "factors": factors, "metrics": { "completion_ms": summary(mean, ci95, 8) },
            "failed": 0, "failures": [] })
}

fn difference(cell: u32, against: u32, mean: f64, ci95: [f64; 2], verdict: &str) -> Value {
    json!({ "metric": "completion_ms", "cell": cell, "against": against, "mean": mean,
            "ci95": ci95, "percent": mean, "n": 8, "verdict": verdict })
}

fn document(cells: Vec<Value>, differences: Vec<Value>) -> Document {
    let value = json!({
        "trackbed": "0.1.0", "scenario": "vru", "substrate": "virtual", "seed": 1, "runs": 8,
        "plan": "abc", "cells": cells, "differences": differences, "checks": []
    });
    serde_json::from_value(value).unwrap()
}

const OPTIONS: Options<'static> =
    Options { replay: "trackbed replay out", verbose: false, width: None };

fn two_protocols() -> Document {
    let cells = vec![
        cell(json!({ "protocol": "quic" }), 100.0, [100.0, 100.0]),
        cell(json!({ "protocol": "http2" }), 131.25, [120.0, 150.0]),
    ];
    document(cells, vec![difference(1, 0, 31.25, [20.0, 50.0], "higher")])
}

/// On a terminal the spread is drawn if there is room, and other columns go before lines break.
#[test]
fn tables_fit_a_terminal() {
    let of_width = |width| render(&two_protocols(), Options { width: Some(width), ..OPTIONS });
    let wide = of_width(100);
    assert!(wide.contains("p95  min to p95 to max "), "{wide}");
    let line = wide.lines().find(|line| line.starts_with("   1  http2")).unwrap();
    // From 120 over 131.25 to 150, on a line of 24 from 100 to 150.
    assert!(line.contains("150.0           ──────┃━━━━━━━━  8"), "{wide}");
    assert!(!of_width(80).contains('┃'));
    assert!(
        of_width(80).lines().all(|line| line.chars().count() <= 80 || line.contains("against"))
    );
}

#[test]
fn the_conclusion_comes_first_then_the_cells_then_how_they_differ() {
    let expected = "\
vru: 2 cells, 8 runs each, virtual substrate, seed 1

fastest: quic, completion 100.0 ms; then http2, +31.2 ms [+20.0, +50.0]

                completion
cell  protocol          ms   95 % interval    p95  n  failed
   0  quic           100.0        constant  100.0  8       0
   1  http2          131.2  [120.0, 150.0]  150.0  8       0

completion_ms against cell 0, quic, run by run (same seed, same misfortunes):

                difference
cell  protocol          ms     95 % interval       %  n  verdict
   1  http2         +31.25  [+20.00, +50.00]  +31.25  8  slower
";
    assert_eq!(render(&two_protocols(), OPTIONS), expected);
}

#[test]
fn each_condition_has_its_conclusion() {
    let of = |protocol: &str, loss: f64, mean| {
        cell(json!({ "protocol": protocol, "loss": loss }), mean, [mean - 1.0, mean + 1.0])
    };
    let cells = vec![
        of("quic", 0.0, 10.0),
        of("quic", 0.01, 40.0),
        of("http2", 0.0, 20.0),
        of("http2", 0.01, 30.0),
        of("http3", 0.0, 11.0),
        of("http3", 0.01, 45.0),
    ];
    let differences = vec![
        difference(2, 0, 10.0, [8.0, 12.0], "higher"),
        difference(4, 0, 1.0, [-1.0, 3.0], "undecided"),
        difference(1, 3, 10.0, [8.0, 12.0], "higher"),
        difference(5, 3, 15.0, [9.0, 12.0], "higher"),
    ];
    let text = render(&document(cells, differences), OPTIONS);
    let conclusion: Vec<&str> = text.lines().filter(|line| line.starts_with("fastest")).collect();
    assert_eq!(
        conclusion,
        [
            "fastest at loss 0.0: quic, completion 10.00 ms [9.00, 11.00]; not told from it: \
             http3, +1.00 ms [-1.00, +3.00]; slowest http2, +10.0 ms [+8.0, +12.0]",
            "fastest at loss 0.01: http2, completion 30.00 ms [29.00, 31.00]; then quic, +10.0 ms \
             [+8.0, +12.0]; slowest http3, +15.0 ms [+9.0, +12.0]",
        ]
    );
    assert!(text.contains("against the best cell under the same conditions"));
    assert!(text.contains("   1  quic      0.01        3"), "{text}");
}

#[test]
fn too_few_runs_are_called_so() {
    let mut few = two_protocols();
    few.differences[0].n = 2;
    few.differences[0].verdict = trackbed_measure::results::Verdict::Undecided;
    let text = render(&few, OPTIONS);
    assert!(text.contains("\n2 runs are too few for a verdict; --runs 6 is the least\n"), "{text}");
}

#[test]
fn equal_cells_read_as_equal() {
    let cells = ["new", "resumed"];
    let cells = cells.map(|handshake| cell(json!({ "handshake": handshake }), 112.2, [112.2; 2]));
    let document = document(cells.to_vec(), vec![difference(1, 0, 0.0, [0.0; 2], "equal")]);
    let text = render(&document, OPTIONS);
    assert!(
        text.contains("new, completion 112.2 ms; not told from it: resumed, equal in every run")
    );
    assert!(text.contains("constant  0  8  equal"), "{text}");
}

#[test]
fn a_failing_run_comes_with_the_command_that_replays_it() {
    let mut document = two_protocols();
    let failures = json!([
        { "run": 3, "count": 2, "reason": "no connection" },
        { "run": 5, "count": 1, "reason": "stalled" },
    ]);
    document.cells[1].failed = 3;
    document.cells[1].failures = serde_json::from_value(failures).unwrap();
    let text = render(&document, OPTIONS);
    let expected = "\nfailed: 3 runs of cell 1, http2\n  2 x no connection\n    \
                    trackbed replay out 1 3\n  stalled\n    trackbed replay out 1 5\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn runs_in_real_time_are_counted_when_left_out_and_never_offered_for_replay() {
    let mut document = two_protocols();
    document.substrate = "emulated".to_owned();
    document.cells[0].invalid = 2;
    document.cells[1].failed = 1;
    let failures = json!([{ "run": 3, "count": 1, "reason": "no connection" }]);
    document.cells[1].failures = serde_json::from_value(failures).unwrap();
    let text = render(&document, OPTIONS);
    assert!(text.contains("did not keep up"), "{text}");
    assert!(text.contains("\n  2 runs of cell 0"), "{text}");
    assert!(text.contains("no connection") && !text.contains("trackbed replay"), "{text}");
}

#[test]
fn checks_that_fail_are_told_in_full_and_others_on_request() {
    let mut document = two_protocols();
    let checks = json!([
        { "name": "quic: 10 round trips", "pass": true, "detail": "measured 100 ms" },
        { "name": "http2: 12 round trips", "pass": false, "detail": "measured 131 ms" },
    ]);
    document.checks = serde_json::from_value(checks).unwrap();
    let text = render(&document, OPTIONS);
    let expected = "\nchecks against arithmetic: 1 of 2 hold (-v shows them)\n  \
                    FAILS  http2: 12 round trips: measured 131 ms\n";
    assert!(text.ends_with(expected), "{text}");
    let text = render(&document, Options { verbose: true, ..OPTIONS });
    assert!(text.contains("  holds  quic: 10 round trips: measured 100 ms\n"), "{text}");
}

#[test]
fn nothing_measured_is_no_reason_to_stumble() {
    let mut empty = two_protocols();
    empty.cells.iter_mut().for_each(|cell| cell.metrics.clear());
    empty.differences.clear();
    let text = render(&empty, Options { verbose: true, ..OPTIONS });
    assert!(text.contains("   1  http2     0       0\n"), "{text}");
    empty.cells.clear();
    render(&empty, OPTIONS);
}

#[test]
fn each_part_has_its_own_tables_with_its_own_factors() {
    let part = |name: &str, key: &str, value: u32, mean: f64| {
        cell(json!({ "part": name, "protocol": "quic", key: value }), mean, [mean, mean])
    };
    let cells = vec![
        part("by delay", "delay_ms", 5, 100.0),
        part("by delay", "delay_ms", 9, 180.0),
        part("by size", "size_bytes", 7, 50.0),
    ];
    let differences = vec![difference(1, 0, 80.0, [80.0, 80.0], "higher")];
    let text = render(&document(cells, differences), OPTIONS);
    let (first, second) = text.split_once("== by size\n").expect("two sections");
    assert!(first.contains("== by delay\n\nfastest: 5, completion 100.0 ms"), "{text}");
    assert!(first.contains("delay_ms") && first.contains("+80"), "{text}");
    assert!(!first.contains("size_bytes") && !second.contains("delay_ms"), "{text}");
    assert!(second.contains("   2  quic      7"), "{text}");
    assert!(!second.contains("against"), "{text}");
}

#[test]
fn what_a_model_says_is_marked_as_such() {
    let mut document = two_protocols();
    document.model = Some("frames are a model's".to_owned());
    let text = render(&document, OPTIONS);
    let mut lines = text.lines();
    assert!(lines.next().unwrap().ends_with("seed 1"));
    assert_eq!(lines.next(), Some("MODEL, no measurement: frames are a model's"));
    assert!(text.contains("\n== model of a device\n"), "{text}");
    assert!(!render(&two_protocols(), OPTIONS).contains("odel"));
}
