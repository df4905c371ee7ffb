//! A metric over a factor that is a number, with the intervals of the means as bands.

use std::collections::BTreeSet;

use trackbed_measure::results::CellResult;

use super::overview::capitalized;
use super::{Material, grouped, id, number, panel};
use crate::page::SHOWN_METRICS;
use crate::page::figure::{Axis, Figure, Kind, Panel, Point, Series};

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let varying = material.varying();
    let swept = varying.iter().filter(|factor| values(material, factor).len() > 1);
    let headline = material.section.headline();
    let metrics: Vec<&'static str> = headline
        .into_iter()
        .chain(SHOWN_METRICS.iter().copied().filter(|metric| Some(*metric) != headline))
        .filter(|metric| material.cells().any(|(_, cell)| cell.metrics.contains_key(*metric)))
        .take(METRICS_MAX)
        .collect();
    let pairs = swept.flat_map(|factor| metrics.iter().map(move |metric| (factor, *metric)));
    pairs.map(|(factor, metric)| figure(material, &varying, factor, metric)).collect()
}

/// The values that a factor has, as far as they are numbers.
fn values(material: &Material<'_>, factor: &str) -> BTreeSet<u64> {
    material.cells().filter_map(|(_, cell)| number(cell, factor)).map(f64::to_bits).collect()
}

fn figure(material: &Material<'_>, varying: &[String], factor: &str, metric: &str) -> Figure {
    let others: Vec<String> = varying.iter().filter(|name| *name != factor).cloned().collect();
    let is_number = |name: &String| values(material, name).len() > 1;
    // Other numbers are conditions, of which the reader chooses one.
    let (conditions, names): (Vec<String>, Vec<String>) = others.into_iter().partition(is_number);
    let point = |cell: &CellResult| {
        let summary = cell.metrics.get(metric)?;
        let interval = (summary.n > 1).then_some(summary.ci95);
        let (x, y) = (number(cell, factor)?, Some(summary.mean));
        Some(Point { x, y, interval, ..Point::default() })
    };
    let placed = material.cells().filter_map(|(index, cell)| {
        let condition = match conditions.is_empty() {
            true => String::new(),
            false => material.name(index, cell, &conditions),
        };
        let name = match names.is_empty() {
            true => Axis::of_metric(metric).label,
            false => material.name(index, cell, &names),
        };
        Some((condition, (name, point(cell)?)))
    });
    let panels: Vec<Panel> = grouped(placed)
        .into_iter()
        .flat_map(|(condition, points)| panel(condition, lines(points)))
        .collect();
    let xs: Vec<f64> = values(material, factor).into_iter().map(f64::from_bits).collect();
    let (axis, x) = (Axis::of_metric(metric), Axis::of_factor(factor));
    Figure {
        id: id(material.section, &[metric, "over", factor]),
        title: format!("{} over {}", capitalized(&axis.label), x.label),
        note: "Line: mean over the runs. Band: its 95 % interval.".to_owned(),
        kind: Kind::Line,
        x: Axis { log: is_geometric(&xs), ..x },
        y: axis,
        panels,
    }
}

/// The lines through points of one name.
fn lines(points: Vec<(String, Point)>) -> Vec<Series> {
    let line = |(name, mut points): (String, Vec<Point>)| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name, points }
    };
    grouped(points.into_iter()).into_iter().map(line).collect()
}

/// Whether values are spread by factors rather than by steps.
fn is_geometric(values: &[f64]) -> bool {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    values.len() > 3 && low > 0.0 && high >= 20.0 * low
}

const METRICS_MAX: usize = 3;
