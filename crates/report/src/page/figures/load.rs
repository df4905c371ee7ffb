//! Latency against load: how long verdicts take as more signatures are asked for.

use super::{Material, grouped, id, panel};
use crate::page::figure::{Axis, Figure, Kind, Mark, Panel, Series};

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let names: Vec<String> =
        material.varying().into_iter().filter(|name| name != "rate_hz").collect();
    let points = material.cells().filter_map(|(index, cell)| {
        let load = cell.metrics.get("signature_rate_hz")?;
        let verdict = cell.metrics.get("verdict_ms")?;
        let quantiles = [("median", verdict.p50), ("p95", verdict.p95), ("p99", verdict.p99)];
        let name = material.name(index, cell, &names);
        Some(quantiles.map(|(quantile, value)| {
            (format!("{name}, {quantile}"), super::point(load.mean, value))
        }))
    });
    let lines = grouped(points.flatten()).into_iter().map(|(name, mut points)| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name, points }
    });
    // A line needs two points: without a sweep of the load there is none.
    let lines: Vec<Series> = lines.filter(|series| series.points.len() > 1).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let deadline = material.cells().find_map(|(_, cell)| super::number(cell, "deadline_ms"));
    let marks: Vec<Mark> = deadline
        .map(|at| Mark { name: "deadline".to_owned(), vertical: false, at, until: None })
        .into_iter()
        .collect();
    let panels = panel(String::new(), lines).into_iter();
    vec![Figure {
        id: id(material.section, &["latency-against-load"]),
        title: "Time until a verdict, against load".to_owned(),
        note:
            "Median, 95th and 99th percentile over the signatures that were verified each second."
                .to_owned(),
        kind: Kind::Line,
        x: Axis::plain("load", "signatures/s"),
        y: Axis { log: true, ..Axis::of_metric("verdict_ms") },
        panels: panels.map(|panel| Panel { marks: marks.clone(), ..panel }).collect(),
    }]
}
