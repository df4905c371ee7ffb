//! What is printed of small documents, to the letter.

use serde_json::{Value, json};

use trackbed_measure::results::Answer;

use super::*;

fn summary(median: f64, ci95: [f64; 2], n: u32) -> Value {
    json!({ "mean": 1e6, "ci95": [0, 2e6], "p50": median, "p50_ci95": ci95, "p95": ci95[1],
            "p99": ci95[1], "min": ci95[0], "max": ci95[1], "n": n, "samples": 5 * n })
}

fn cell(factors: Value, median: f64, ci95: [f64; 2]) -> Value {
    json!({ "factors": factors, "metrics": { "completion_ms": summary(median, ci95, 8) },
            "failed": 0, "failures": [] })
}

fn difference(cell: u32, against: u32, value: f64, ci95: [f64; 2], verdict: &str) -> Value {
    let median = json!({ "value": value, "ci95": ci95, "percent": value, "verdict": verdict });
    json!({ "metric": "completion_ms", "cell": cell, "against": against, "mean": 1e6, "ci95": [0, 2e6],
            "percent": 1e6, "n": 8, "verdict": "undecided", "median": median })
}

fn document(cells: Vec<Value>, differences: Vec<Value>) -> Document {
    let value = json!({
        "trackbed": "0.1.0", "scenario": "vru", "substrate": "virtual", "seed": 1, "runs": 8,
        "plan": "abc", "cells": cells, "differences": differences, "checks": []
    });
    serde_json::from_value(value).unwrap()
}

fn answer(part: Option<&str>, text: &str) -> Answer {
    Answer { part: part.map(str::to_owned), text: text.to_owned(), metric: String::new() }
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
        of_width(80)
            .lines()
            .all(|line| line.chars().count() <= 80 || line.contains("paired by run"))
    );
}

#[test]
fn the_conclusion_comes_first_then_the_cells_then_how_they_differ() {
    let mut document = two_protocols();
    document.answer = vec![answer(None, "Fastest: QUIC.")];
    assert_eq!(render(&document, OPTIONS), include_str!("two-protocols.txt"));
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
    let mut document = document(cells, vec![difference(1, 0, 80.0, [80.0, 80.0], "higher")]);
    document.answer = vec![answer(Some("by delay"), "Fastest: 5 ms.")];
    let text = render(&document, OPTIONS);
    let (first, second) = text.split_once("== by size\n").expect("two sections");
    assert!(first.contains("== by delay\n\nFastest: 5 ms.\n\n"), "{text}");
    assert!(first.contains("delay_ms") && first.contains("+80"), "{text}");
    assert!(!first.contains("size_bytes") && !second.contains("delay_ms"), "{text}");
    assert!(second.contains("   2  quic      7"), "{text}");
    assert!(!second.contains("Difference"), "{text}");
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
