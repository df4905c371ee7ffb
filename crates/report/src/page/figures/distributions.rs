//! Whole distributions, not only means.

use super::overview::capitalized;
use super::{Material, grouped, id, panel};
use crate::page::SHOWN_METRICS;
use crate::page::figure::{Axis, Figure, Kind, Panel, Point, Series};

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    SHOWN_METRICS.iter().filter_map(|metric| figure(material, metric)).collect()
}

fn figure(material: &Material<'_>, metric: &'static str) -> Option<Figure> {
    let varying = material.varying();
    // Curves of one condition belong into one panel; conditions are what is a number.
    let is_number =
        |name: &String| material.cells().all(|(_, cell)| super::number(cell, name).is_some());
    let (conditions, choices): (Vec<String>, Vec<String>) =
        varying.into_iter().partition(is_number);
    let curves = material.cells().filter_map(|(index, cell)| {
        let steps = material.distributions.get(index as usize)?.get(metric)?;
        let condition = match conditions.is_empty() {
            true => String::new(),
            false => material.name(index, cell, &conditions),
        };
        let point = |(x, share): &(f64, f64)| super::point(*x, *share);
        let points: Vec<Point> = steps.iter().map(point).collect();
        let series = Series { name: material.name(index, cell, &choices), points };
        Some((condition, series))
    });
    let panels: Vec<Panel> =
        grouped(curves).into_iter().flat_map(|(name, series)| panel(name, series)).collect();
    // One value each is no distribution.
    let is_spread = |panel: &Panel| panel.series.iter().any(|series| series.points.len() > 1);
    if !panels.iter().any(is_spread) {
        return None;
    }
    let axis = Axis::of_metric(metric);
    let values = || panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let low = values().map(|point| point.x).fold(f64::INFINITY, f64::min);
    let high = values().map(|point| point.x).fold(0.0, f64::max);
    Some(Figure {
        id: id(material.section, &["distribution", metric]),
        title: format!("Distribution of {}", axis.label),
        note: format!(
            "Share of all samples up to each value: where a curve crosses 0.5 is the median, at 0.95 \
             the 95th percentile. {} further left is {}.",
            capitalized("a curve"),
            match trackbed_measure::metrics::less_is_better(metric) {
                Some(true) => "better",
                Some(false) => "worse",
                None => "lower",
            }
        ),
        kind: Kind::Steps,
        x: Axis { log: low > 0.0 && high > 50.0 * low, ..axis },
        y: Axis::plain("share of samples", ""),
        panels,
    })
}
