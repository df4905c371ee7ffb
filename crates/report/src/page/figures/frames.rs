//! Inference beside communication: frames a second against round-trip times, and which cells no other
//! one beats in both.

use super::{Material, id};
use crate::page::figure::{Axis, Figure, Kind, Panel, Point, Series};

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let names = material.varying();
    let point = |(index, cell): (u32, &trackbed_measure::results::CellResult)| {
        let (rtt, fps) = (cell.metrics.get("rtt_ms")?, cell.metrics.get("fps")?);
        Some(Point {
            x: rtt.mean,
            y: Some(fps.mean),
            name: Some(material.name(index, cell, &names)),
            ..Point::default()
        })
    };
    let points: Vec<Point> = material.cells().filter_map(point).collect();
    if points.len() < 2 {
        return Vec::new();
    }
    let beats = |one: &Point, other: &Point| {
        one.x <= other.x && one.y >= other.y && (one.x, one.y) != (other.x, other.y)
    };
    let is_unbeaten = |point: &&Point| !points.iter().any(|other| beats(other, point));
    let mut front: Vec<Point> = points.iter().filter(is_unbeaten).cloned().collect();
    front.sort_by(|a, b| a.x.total_cmp(&b.x));
    let beaten = points.iter().filter(|point| !is_unbeaten(point)).cloned().collect();
    let series = vec![
        Series { name: "unbeaten".to_owned(), points: front },
        Series { name: "others".to_owned(), points: beaten },
    ];
    vec![Figure {
        id: id(material.section, &["frames-against-round-trips"]),
        title: "Frames a second against round-trip time".to_owned(),
        note:
            "Up and left is better. No cell has both more frames and shorter round trips than an \
               unbeaten one (Pareto front)."
                .to_owned(),
        kind: Kind::Points,
        x: Axis::of_metric("rtt_ms"),
        y: Axis::plain("inference", "frames/s"),
        panels: vec![Panel { name: String::new(), series, marks: Vec::new() }],
    }]
}
