//! Verdict latency against the number of signatures per second.

use trackbed_measure::results::MetricSummary;

use super::sweep::{Statistic, VALUES_MIN};
use crate::page::factors::Split;
use crate::page::figure::{Along, Chooser, Figure, Series, Shape, View};
use crate::page::material::{Material, Numbered, axis, label, series as series_of};

/// What was verified each second, whichever factor was varied: vehicles, crossings, forgeries.
const LOAD: &str = "signature_rate_hz";
const LATENCY: &str = "verdict_ms";
/// Lines in one view.
const LINES_MAX: usize = 8;

const STATISTICS: [(&str, Statistic); 3] = [
    ("p50", |summary| summary.p50),
    ("p95", |summary| summary.p95),
    ("p99", |summary| summary.p99),
];

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let results = material.results();
    // Factors that change the load are on the x axis, so the cells of a line differ in nothing
    // else.
    let is_load = |name: &String| LOADS.contains(&name.as_str());
    let others: Vec<String> =
        material.factors.iter().filter(|name| !is_load(name)).cloned().collect();
    let split = Split::new(&results, &others, LINES_MAX);
    let groups = material.chosen(&split);
    let mut views = Vec::new();
    for (statistic, (_, of)) in STATISTICS.iter().enumerate() {
        for (choice, cells) in &groups {
            let series = lines(material, *of, cells, &split.series);
            if series.iter().all(|one| one.x.len() < VALUES_MIN) {
                continue;
            }
            let values = |of: fn(&Series) -> &Vec<f64>| -> Vec<f64> {
                series.iter().flat_map(|one| of(one).clone()).collect()
            };
            views.push(View {
                choice: [vec![0, statistic], choice.clone()].concat(),
                x: axis(LOAD, values(|one| &one.x)),
                y: vec![axis(LATENCY, values(|one| &one.y))],
                marks: material.limits(LATENCY, Along::Y),
                caption: material.caption(cells, LATENCY),
                series,
            });
        }
    }
    let mut choosers = material.choosers(&[LATENCY], &split);
    let options = STATISTICS.iter().map(|(name, _)| (*name).to_owned()).collect();
    choosers.insert(1, Chooser { name: "statistic".to_owned(), options, help: Vec::new() });
    let figure = Figure {
        id: material.id("load"),
        place: material.place(),
        shape: Shape::Bands,
        title: "Verdict latency against load".to_owned(),
        note: "Quantiles over all signatures, against the number verified per second. Only the dots were \
               measured; the lines between them are interpolated."
            .to_owned(),
        choosers,
        views,
    };
    if figure.views.is_empty() { Vec::new() } else { vec![figure] }
}

/// Factors that determine how many signatures there are to verify.
const LOADS: [&str; 5] = ["crossings", "vehicles", "rate_hz", "forged", "flood"];

fn lines(
    material: &Material<'_>,
    of: Statistic,
    cells: &Numbered<'_>,
    names: &[String],
) -> Vec<Series> {
    let looks = material.looks(names);
    let mut lines: Vec<(Series, Vec<(f64, &MetricSummary)>)> = Vec::new();
    for (_, cell) in cells {
        let [load, latency] = [LOAD, LATENCY].map(|name| cell.metrics.get(name));
        let (Some(load), Some(latency)) = (load, latency) else { continue };
        let name = label(cell, names);
        match lines.iter_mut().find(|(one, _)| one.name == name) {
            Some((_, points)) => points.push((load.mean, latency)),
            None => lines.push((series_of(name, cell, &looks), vec![(load.mean, latency)])),
        }
    }
    let drawn = lines.into_iter().map(|(mut series, mut points)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (load, latency) in points {
            series.x.push(load);
            series.y.push(of(latency));
            series.add("n", f64::from(latency.n));
        }
        series
    });
    drawn.collect()
}
