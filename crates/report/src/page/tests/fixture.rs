//! Results, and the page about them.

use std::time::Duration;

use serde_json::{Value, json};
use trackbed_measure::results::{Document, Outcome, RunResult};
use trackbed_measure::timeline::{Chart, Curve, Map, Place, Span, Timeline};
use trackbed_measure::waterfall::Bar;

use super::{Builder, Limit, Origin, Watched};

fn summary(mean: f64, n: u32) -> Value {
    json!({ "mean": mean, "ci95": [mean * 0.9, mean * 1.2], "p50": mean * 0.8, "p50_ci95": [mean * 0.7, mean * 0.9], "p95": mean * 2.0,
            "p99": mean * 3.0, "min": mean * 0.5, "max": mean * 4.0, "n": n, "samples": n * 10 })
}

/// `protocols` times `loads`; all metrics grow with the load.
pub fn document(protocols: &[&str], loads: u32, runs: u32) -> Document {
    let mut cells = Vec::new();
    let mut differences = Vec::new();
    for (number, protocol) in protocols.iter().enumerate() {
        for load in 0..loads {
            let mean = f64::from(load + 1) * (number + 1) as f64;
            let metrics =
                json!({ "rtt_ms": summary(mean, runs), "fps": summary(60.0 - mean, runs) });
            cells.push(json!({ "factors": { "protocol": protocol, "rate_hz": load },
                               "metrics": metrics, "failed": 0, "failures": [] }));
            if number > 0 {
                let cell = cells.len() as u32 - 1;
                differences.push(json!({
                    "metric": "rtt_ms", "cell": cell, "against": load, "mean": mean / 2.0,
                    "ci95": [mean / 3.0, mean], "percent": 50.0, "n": runs, "verdict": "higher",
                }));
            }
        }
    }
    let value = json!({
        "trackbed": "0.1.0", "scenario": "edge", "substrate": "virtual", "seed": 7, "runs": runs,
        "plan": "abc", "cells": cells, "differences": differences,
        "checks": [{ "name": "round trips", "pass": false, "detail": "4 in place of 3" }],
    });
    serde_json::from_value(value).unwrap()
}

pub fn run(cell: u32, run: u32, samples: usize) -> RunResult {
    let value = |index: usize| f64::from(run * 31 % 97) + 1.0 / (index + 1) as f64;
    let values: Vec<f64> = (0..samples).map(value).collect();
    let samples = [("rtt_ms".to_owned(), values), ("fps".to_owned(), vec![f64::from(run)])];
    RunResult::new(cell, run, Outcome::Samples(samples.into()))
}

pub fn filled(document: &Document, samples: usize) -> Builder<'_> {
    let origin = Origin { command: "trackbed run edge".to_owned(), ..Origin::default() };
    let mut builder = Builder::new(document, origin);
    for cell in 0..document.cells.len() as u32 {
        let runs: Vec<RunResult> = (0..document.runs).map(|k| run(cell, k, samples)).collect();
        builder.cell(cell, &runs).unwrap();
    }
    builder
}

/// A recorded run: two panels with a gap and a handover, a curve of negative values along the track, a map, and
/// a page whose objects did not all come.
fn watched() -> Watched {
    let curve = |chart, name: &str, value: fn(f64) -> f64| Curve {
        chart,
        name: name.to_owned(),
        points: (0..500).map(|at| f64::from(at) / 10.0).map(|x| (x, value(x))).collect(),
    };
    let bar = |object: u32| {
        let at = |ms: u64| Duration::from_millis(ms + 10 * u64::from(object));
        Bar {
            phone: 0,
            object,
            path: format!("/{object}.css"),
            kind: "css".to_owned(),
            bytes: 1_000,
            connection: Some(0),
            requests: 1,
            found: at(0),
            requested: Some(at(20)),
            begun: Some(at(60)),
            done: (object > 0).then(|| at(90)),
            ready: (object > 1).then(|| at(95)),
        }
    };
    let place = |name: &str, east_km, north_km| Place { name: name.to_owned(), east_km, north_km };
    let line = (0..500).map(|at| (f64::from(at) / 10.0, (f64::from(at) / 90.0).sin()));
    let timeline = Timeline {
        curves: vec![
            curve(Chart::Throughput, "A", |x| if x == 1.0 { f64::NAN } else { 20.0 + x.sin() }),
            curve(Chart::RoundTrips, "A", |x| 90.0 + x),
            curve(Chart::Power, "A", |x| -60.0 - x),
        ],
        spans: vec![Span { name: "handover".to_owned(), from: 20.0, until: 21.5 }],
        places: Vec::new(),
        map: Some(Map {
            lines: vec![("track".to_owned(), line.collect())],
            places: vec![(
                "base stations".to_owned(),
                vec![place("A1", 5.0, 1.0), place("A2", 30.0, -1.0)],
            )],
        }),
    };
    Watched { cell: 0, run: 0, timeline, bars: (0..3).map(bar).collect() }
}

/// A page with a figure of every kind.
pub fn complete(document: &Document) -> Builder<'_> {
    let mut builder = filled(document, 10);
    builder.limit(Limit { metric: "rtt_ms".to_owned(), value: 10.0, label: "deadline".to_owned() });
    builder.run(&watched()).unwrap();
    builder
}
