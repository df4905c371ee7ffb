//! How the quantiles of a latency diverge along a numeric factor, such as load.

use trackbed_measure::metrics::COMPARED;
use trackbed_measure::results::{CellResult, MetricSummary};

use super::sweep::{Statistic, VALUES_MIN};
use crate::page::factors::{self, Split};
use crate::page::figure::{Along, Figure, Series, Shape, View};
use crate::page::material::{Material, axis};

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let is_latency = |name: &str| {
        let limited = material.limits.iter().any(|limit| limit.metric == name);
        limited || COMPARED.iter().any(|one| one.name == name && one.less_is_better)
    };
    let mut metrics = material.metrics.clone();
    metrics.retain(|name| is_latency(name));
    let numeric = material.numeric_factors(VALUES_MIN).into_iter().enumerate();
    numeric.map(|(number, name)| figure(material, number, name, &metrics)).collect()
}

fn figure(material: &Material<'_>, number: usize, factor: &str, metrics: &[&str]) -> Figure {
    let chosen = material.factors.iter().filter(|name| *name != factor).cloned().collect();
    let split = Split { chosen, series: Vec::new() };
    let x = material.factor_axis(factor);
    let mut views = Vec::new();
    for (place, metric) in metrics.iter().enumerate() {
        for (choice, cells) in material.chosen(&split) {
            let series = quantiles(factor, metric, &cells);
            if series[0].x.len() < VALUES_MIN {
                continue;
            }
            let values: Vec<f64> = series.iter().flat_map(|one| one.y.clone()).collect();
            views.push(View {
                choice: [vec![place], choice].concat(),
                x: x.clone(),
                y: vec![axis(metric, values)],
                series,
                marks: material.limits(metric, Along::Y),
                caption: Material::caption(&cells, metric),
            });
        }
    }
    Figure {
        id: format!("{}-{number}", material.id("tails")),
        place: material.place(),
        shape: Shape::Bands,
        title: format!("Tails by {}", x.name),
        note: format!(
            "Median and tail quantiles of one configuration as {} changes. A dashed line marks the \
             deadline, if there is one.",
            x.name
        ),
        choosers: material.choosers(metrics, &split),
        views,
    }
}

fn quantiles(factor: &str, metric: &str, cells: &[(u32, &CellResult)]) -> Vec<Series> {
    let of: [(&str, Statistic); 3] = [("p50", |s| s.p50), ("p95", |s| s.p95), ("p99", |s| s.p99)];
    let mut points: Vec<(f64, &MetricSummary)> = cells
        .iter()
        .filter_map(|(_, cell)| Some((factors::number(cell, factor)?.0, cell.metrics.get(metric)?)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let series = of.into_iter().enumerate().map(|(number, (name, of))| {
        let (colour, dash) = (number, number);
        let mut one = Series { name: name.to_owned(), colour, dash, ..Series::default() };
        for (x, summary) in &points {
            one.x.push(*x);
            one.y.push(of(summary));
            one.add("n", f64::from(summary.n));
        }
        one
    });
    series.collect()
}
