//! Every cell in a row: the mean with its interval, and from where to where samples go.

use super::{Material, id};
use crate::page::figure::{Axis, Figure, Kind, Panel, Point, Series};

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let Some(metric) = material.section.headline() else { return Vec::new() };
    let names = material.varying();
    let row = |(index, cell): (u32, &trackbed_measure::results::CellResult)| {
        let summary = cell.metrics.get(metric)?;
        Some(Point {
            x: summary.mean,
            interval: Some(summary.ci95),
            range: Some([summary.min, summary.p95]),
            name: Some(material.name(index, cell, &names)),
            ..Point::default()
        })
    };
    let points: Vec<Point> = material.cells().filter_map(row).collect();
    let panel = |(part, points): (usize, &[Point])| Panel {
        name: match material.section.cells.len() > ROWS_MAX {
            true => format!("cells, part {}", part + 1),
            false => String::new(),
        },
        series: vec![Series { name: "mean".to_owned(), points: points.to_vec() }],
        marks: Vec::new(),
    };
    let spread = points.iter().filter_map(|point| point.range);
    let (low, high) = spread.fold((f64::INFINITY, 0.0_f64), |(low, high), range| {
        (low.min(range[0]), high.max(range[1]))
    });
    let axis = Axis::of_metric(metric);
    vec![Figure {
        id: id(material.section, &["overview"]),
        title: format!("{} of every cell", capitalized(&axis.label)),
        note: "Point: mean over the runs. Thick line: its 95 % interval. Thin line: from the smallest \
               sample to the 95th percentile."
            .to_owned(),
        kind: Kind::Rows,
        x: Axis { log: low > 0.0 && high > 50.0 * low, ..axis },
        y: Axis::plain("cell", ""),
        panels: points.chunks(ROWS_MAX).enumerate().map(panel).collect(),
    }]
}

pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// More do not fit a screen.
const ROWS_MAX: usize = 40;
