use serde_json::json;

use super::*;
use crate::plot::{Fill, Look, Mark, Scale};

/// Two protocols at three rates of loss; of the last cell no run went through.
fn document() -> Document {
    let summary = |mean: f64| {
        json!({ "mean": mean, "ci95": [mean - 2.0, mean + 2.0], "p50": mean, "p50_ci95": [mean - 1.0, mean + 1.0],
                "p95": mean, "p99": mean, "min": mean, "max": mean, "n": 10, "samples": 40 })
    };
    let mut cells = Vec::new();
    for (number, protocol) in ["quic", "http2"].into_iter().enumerate() {
        for loss in 0..3 {
            let mean = 100.0 * (number + 1) as f64 + f64::from(loss);
            let factors = json!({ "protocol": protocol, "loss": f64::from(loss) / 100.0 });
            let metrics = json!({ "completion_ms": summary(mean), "fps": summary(mean) });
            cells.push(
                json!({ "factors": factors, "metrics": metrics, "failed": 0, "failures": [] }),
            );
        }
    }
    cells[5]["metrics"] = json!({});
    cells[5]["failed"] = json!(10);
    let value = json!({ "trackbed": "0.2.0", "scenario": "pipes", "substrate": "virtual", "seed": 1, "runs": 10,
                        "plan": "abc", "cells": cells, "differences": [], "checks": [] });
    serde_json::from_value(value).unwrap()
}

fn drawn(metric: Option<&str>, kind: Kind) -> Figure {
    let document = document();
    let samples = (0..5).map(|cell| (cell, (1..=100).map(f64::from).collect())).collect();
    Subject::new(&document, metric).unwrap().draw(kind, &samples).unwrap()
}

fn texts(figure: &Figure) -> Vec<&str> {
    figure.plot.keys.iter().map(|key| key.text.as_str()).collect()
}

#[test]
fn a_box_has_the_quartiles_of_all_samples() {
    let figure = drawn(None, Kind::Box);
    let [panel] = &figure.plot.panels[..] else { panic!("{figure:?}") };
    let Scale::Names(names) = &panel.y.scale else { panic!("{panel:?}") };
    assert_eq!(names.len(), 5, "a cell without values has no row");
    assert_eq!((&*names[1], &*names[3]), ("QUIC, loss 1 %", "HTTP/2, loss 0 %"));
    // Of 1 to 100: a quarter is at or below 25 or 26, by whichever definition.
    let Mark::Area(_, low, high, Fill::Light) = &panel.marks[2] else { panic!("{panel:?}") };
    assert!(
        (25.0..=26.0).contains(&low[0]) && (75.0..=76.0).contains(&high[0]),
        "{low:?} {high:?}"
    );
    assert_eq!(texts(&figure), ["median", "25th to 75th percentile", "5th to 95th percentile"]);
    assert!(
        figure.caption.starts_with("Completion time (ms) in the scenario pipes. "),
        "{}",
        figure.caption
    );
    let failed = "n = 10 runs per cell; 10 failed and are not included, and with them 1 cell.";
    assert!(figure.caption.contains(failed), "{}", figure.caption);
}

#[test]
fn a_line_goes_along_the_number_with_the_interval_that_the_table_has() {
    let figure = drawn(Some("completion"), Kind::Line);
    let [panel] = &figure.plot.panels[..] else { panic!("{figure:?}") };
    let quic = Look::series(0);
    let points = vec![[0.0, 100.0], [0.01, 101.0], [0.02, 102.0]];
    assert!(panel.marks.contains(&Mark::Line(quic, points)), "{panel:?}");
    assert!(
        panel.marks.contains(&Mark::Whisker(quic, [0.01, 100.0], [0.01, 102.0])),
        "the median's"
    );
    assert_eq!(texts(&figure), ["QUIC", "HTTP/2", "95 % confidence interval"]);
    let figure = drawn(Some("fps"), Kind::Line);
    let mean = Mark::Whisker(quic, [0.01, 99.0], [0.01, 103.0]);
    assert!(figure.plot.panels[0].marks.contains(&mean), "of a rate the mean's");
    assert!(figure.caption.contains("(Student's t over runs"), "{}", figure.caption);
}

#[test]
fn a_distribution_function_passes_its_quantiles() {
    let figure = drawn(None, Kind::Ecdf);
    let half = Mark::Dot(Look::series(0), [50.0, 50.0], Fill::Full);
    assert!(figure.plot.panels[0].marks.contains(&half));
    assert_eq!(figure.plot.keys.len(), 5);
}

/// Thirty cells are too many curves: each rate of loss has a panel, and a protocol the same look in all.
#[test]
fn many_curves_become_small_multiples() {
    let mut document = document();
    let cell = document.cells[0].clone();
    document.cells = (0..30)
        .map(|number| {
            let mut cell = cell.clone();
            cell.factors["protocol"] = json!(["tcp", "quic", "sctp"][number % 3]);
            cell.factors["loss"] = json!(number / 3);
            cell
        })
        .collect();
    let samples = (0..30).map(|cell| (cell, vec![1.0, 2.0])).collect();
    let figure = Subject::new(&document, None).unwrap().draw(Kind::Ecdf, &samples).unwrap();
    assert_eq!((figure.plot.panels.len(), texts(&figure)), (10, vec!["TCP", "QUIC", "SCTP"]));
    assert_eq!(figure.plot.panels[2].title, "loss 200 %");
}

/// A course is that of its chart, with the spans behind it.
#[test]
fn a_timeline_has_its_chart_and_spans() {
    use trackbed_measure::timeline::{Chart, Curve, Span, Timeline};
    let curve = |chart, name: &str| Curve {
        chart,
        name: name.to_owned(),
        points: vec![(0.0, 1.0), (2.0, 8.0)],
    };
    let span = Span { name: "handover, path 0".to_owned(), from: 0.5, until: 1.0 };
    let timeline = Timeline {
        curves: vec![curve(Chart::Throughput, "down"), curve(Chart::RoundTrips, "message")],
        spans: vec![span],
        ..Timeline::default()
    };
    let document = document();
    let subject = Subject::new(&document, None).unwrap();
    assert_eq!(Course::new(Some("rtt")), Course::new(Some("rtt_ms")));
    let figure = Course::new(None)
        .unwrap()
        .draw(&subject, &[CourseRun { cell: 1, run: 7, timeline }])
        .unwrap();
    let [panel] = &figure.plot.panels[..] else { panic!("{figure:?}") };
    let band = Mark::Area(Look::INK, [0.5, 0.0], [1.0, 8.28], Fill::Light);
    let line = Mark::Line(Look::series(0), vec![[0.0, 1.0], [2.0, 8.0]]);
    assert_eq!((&panel.marks[0], panel.marks.last()), (&band, Some(&line)));
    assert_eq!((&*panel.title, &*panel.y.name), ("QUIC, loss 1 %, run 7", "Throughput (Mbit/s)"));
    assert_eq!(texts(&figure), ["down", "handover"]);
}
