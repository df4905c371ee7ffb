//! Distribution functions: the share of samples up to each value.

use crate::page::distribution::Distribution;
use crate::page::factors::Split;
use crate::page::figure::{Along, Axis, Figure, Series, Shape, View};
use crate::page::material::{Material, axis, label, series};

/// Curves in one view; more are split into choices.
const CURVES_MAX: usize = 12;

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let split = Split::new(&material.results(), &material.factors, CURVES_MAX);
    let groups = material.chosen(&split);
    let has = |metric: &'static str| {
        material.cells.iter().any(|(cell, _)| distribution(material, *cell, metric).is_some())
    };
    let mut metrics = material.metrics.clone();
    metrics.retain(|metric| has(metric));
    let looks = material.looks(&split.series);
    let mut views = Vec::new();
    for (place, metric) in metrics.iter().enumerate() {
        for (choice, cells) in &groups {
            let curves: Vec<Series> = cells
                .iter()
                .filter_map(|(index, cell)| {
                    let found = distribution(material, *index, metric)?;
                    let mut one = series(label(cell, &split.series), cell, &looks);
                    one.x = found.values.clone();
                    one.y = found.shares.iter().map(|share| share * 100.0).collect();
                    Some(one)
                })
                .collect();
            if curves.is_empty() {
                continue;
            }
            let values: Vec<f64> = curves.iter().flat_map(|one| one.x.clone()).collect();
            let samples = cells.iter().filter_map(|(i, _)| distribution(material, *i, metric));
            let samples: usize = samples.map(|found| found.samples).sum();
            views.push(View {
                choice: [vec![place], choice.clone()].concat(),
                x: axis(metric, values),
                y: vec![Axis::linear("cumulative share of samples", "%")],
                series: curves,
                marks: material.limits(metric, Along::X),
                caption: format!("{} {samples} samples.", Material::caption(cells, metric)),
            });
        }
    }
    vec![Figure {
        id: material.id("distribution"),
        place: material.place(),
        shape: Shape::Steps,
        title: "Distributions".to_owned(),
        note: "Empirical distribution functions over all samples: the percentage of samples up to each \
               value. A curve further to the left has smaller values. If two curves cross, neither is \
               smaller everywhere."
            .to_owned(),
        choosers: material.choosers(&metrics, &split),
        views,
    }]
}

fn distribution<'a>(
    material: &Material<'a>,
    cell: u32,
    metric: &'static str,
) -> Option<&'a Distribution> {
    material.distributions.get(&(cell, metric))
}
