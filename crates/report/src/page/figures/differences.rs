//! What cells differ by from the best one, run by run.

use super::overview::capitalized;
use super::{Material, id};
use crate::differences::groups;
use crate::page::figure::{Axis, Figure, Kind, Mark, Panel, Point, Series};

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let Some(metric) = material.section.headline() else { return Vec::new() };
    let names = material.varying();
    let document = material.section.document;
    let groups = groups(material.section, metric);
    let several = groups.len() > 1;
    let panels = groups.into_iter().filter_map(|group| {
        let best = document.cells.get(group.against as usize)?;
        let best = material.name(group.against, best, &names);
        let row = |difference: &&trackbed_measure::results::Difference| {
            let cell = document.cells.get(difference.cell as usize)?;
            Some(Point {
                x: difference.mean,
                interval: (difference.n > 1).then_some(difference.ci95),
                name: Some(material.name(difference.cell, cell, &names)),
                ..Point::default()
            })
        };
        Some(Panel {
            name: if several { format!("against {best}") } else { String::new() },
            series: vec![Series {
                name: format!("difference from {best}"),
                points: group.differences.iter().filter_map(row).collect(),
            }],
            marks: vec![Mark { name: best, vertical: true, at: 0.0, until: None }],
        })
    });
    let axis = Axis::of_metric(metric);
    vec![Figure {
        id: id(material.section, &["differences"]),
        title: "Differences from the best cell under the same conditions".to_owned(),
        note: "Run by run: run k of every cell met the same misfortunes. Point: mean difference. Line: \
               its 95 % interval; where it does not touch zero, the difference is no chance."
            .to_owned(),
        kind: Kind::Rows,
        x: Axis { label: format!("difference in {}", axis.label), ..axis },
        y: Axis::plain(&capitalized("cell"), ""),
        panels: panels.collect(),
    }]
}
