//! A metric along a numeric factor: means with interval bands, and quantiles.

use trackbed_measure::results::{CellResult, MetricSummary};

use crate::page::factors::{self, Split};
use crate::page::figure::{Along, Chooser, Figure, Series, Shape, View};
use crate::page::material::{Material, axis, label, series as series_of};

/// Two values make no curve.
pub(super) const VALUES_MIN: usize = 3;

/// Lines in one view; more are split into choices.
const LINES_MAX: usize = 8;

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let results = material.results();
    let numeric = material.factors.iter();
    let numeric = numeric.filter(|name| factors::is_numeric(&results, name, VALUES_MIN));
    numeric.enumerate().filter_map(|(number, name)| figure(material, number, name)).collect()
}

fn figure(material: &Material<'_>, number: usize, factor: &str) -> Option<Figure> {
    let results = material.results();
    let others: Vec<String> =
        material.factors.iter().filter(|name| *name != factor).cloned().collect();
    let split = Split::new(&results, &others, LINES_MAX);
    let groups = material.chosen(&split);
    let metrics = material.metrics_with(|_, _| true);
    let x = factors::axis(&results, factor);
    let mut views = Vec::new();
    for (place, metric) in metrics.iter().enumerate() {
        for (statistic, (_, of)) in STATISTICS.iter().enumerate() {
            for (choice, cells) in &groups {
                let series = lines(material, factor, metric, *of, cells, &split.series);
                if series.iter().all(|one| one.x.len() < VALUES_MIN) {
                    continue;
                }
                let values: Vec<f64> = series.iter().flat_map(|one| one.y.clone()).collect();
                views.push(View {
                    choice: [vec![place, statistic], choice.clone()].concat(),
                    x: x.clone(),
                    y: vec![axis(metric, values)],
                    series,
                    marks: material.limits(metric, Along::Y),
                    caption: material.caption(cells, metric),
                });
            }
        }
    }
    let mut choosers = material.choosers(&metrics, &split);
    let options = STATISTICS.iter().map(|(name, _)| (*name).to_owned()).collect();
    choosers.insert(1, Chooser { name: "statistic".to_owned(), options, help: Vec::new() });
    (!views.is_empty()).then(|| Figure {
        id: format!("{}-{number}", material.id("sweep")),
        place: material.place(),
        shape: Shape::Bands,
        title: format!("Results by {}", x.name),
        note: format!(
            "How results change with {}. Bands are 95 % confidence intervals of means; quantiles are over \
             all samples. Only the dots were measured; the lines between them are interpolated.",
            x.name
        ),
        choosers,
        views,
    })
}

/// The statistic of a metric that is drawn, and how to get it from the summary.
pub(super) type Statistic = fn(&MetricSummary) -> f64;

const STATISTICS: [(&str, Statistic); 4] = [
    ("mean", |summary| summary.mean),
    ("p50", |summary| summary.p50),
    ("p95", |summary| summary.p95),
    ("p99", |summary| summary.p99),
];

fn lines(
    material: &Material<'_>,
    factor: &str,
    metric: &str,
    of: Statistic,
    cells: &[(u32, &CellResult)],
    names: &[String],
) -> Vec<Series> {
    let looks = material.looks(names);
    let mut series: Vec<(Series, Vec<(f64, &MetricSummary)>)> = Vec::new();
    for (_, cell) in cells {
        let Some((x, _)) = factors::number(cell, factor) else { continue };
        let Some(summary) = cell.metrics.get(metric) else { continue };
        let name = label(cell, names);
        match series.iter_mut().find(|(one, _)| one.name == name) {
            Some((_, points)) => points.push((x, summary)),
            None => series.push((series_of(name, cell, &looks), vec![(x, summary)])),
        }
    }
    let filled = series.into_iter().map(|(mut one, mut points)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (x, summary) in points {
            one.x.push(x);
            one.y.push(of(summary));
            if of(summary) == summary.mean && summary.n > 1 {
                one.add("low", summary.ci95[0]);
                one.add("high", summary.ci95[1]);
            }
            one.add("n", f64::from(summary.n));
        }
        one
    });
    filled.collect()
}
