//! Verdict latency against the number of signatures per second.

use super::sweep::{Lines, Statistic};
use crate::page::figure::{Figure, Series};
use crate::page::material::{Material, axis};

/// What was verified each second, whichever factor was varied: vehicles, crossings, forgeries.
const LOAD: &str = "signature_rate_hz";
const LATENCY: &str = "verdict_ms";

const STATISTICS: [(&str, Statistic); 3] = [
    ("p50", |summary| summary.p50),
    ("p95", |summary| summary.p95),
    ("p99", |summary| summary.p99),
];

/// Factors that determine how many signatures there are to verify.
const LOADS: [&str; 5] = ["crossings", "vehicles", "rate_hz", "forged", "flood"];

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    // Factors that change the load are on the x axis, so the cells of a line differ in nothing
    // else.
    let is_load = |name: &String| LOADS.contains(&name.as_str());
    let lines = Lines {
        others: material.factors.iter().filter(|name| !is_load(name)).cloned().collect(),
        metrics: &[LATENCY],
        statistics: &STATISTICS,
        place: &|cell| Some(cell.metrics.get(LOAD)?.mean),
        axis: &|series: &[Series]| axis(LOAD, series.iter().flat_map(|one| one.x.clone())),
    };
    vec![Figure {
        id: material.id("load"),
        title: "Verdict latency against load".to_owned(),
        note: "Quantiles over all signatures, against the number verified per second. Only the dots were \
               measured; the lines between them are interpolated."
            .to_owned(),
        ..lines.figure(material)
    }]
}
