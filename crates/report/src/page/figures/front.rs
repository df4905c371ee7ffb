//! Two conflicting goals, and the cells that no other cell beats in both.

use trackbed_measure::metrics::COMPARED;

use crate::page::figure::{Figure, Series, Shape, View};
use crate::page::material::{Material, axis, label, series};
use crate::page::words;

/// Pairs of metrics that conflict: the horizontal and the vertical one.
const PAIRS: [[&str; 2]; 1] = [["rtt_ms", "fps"]];

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    PAIRS.iter().filter_map(|pair| figure(material, pair)).collect()
}

fn figure(material: &Material<'_>, [across, upwards]: &[&str; 2]) -> Option<Figure> {
    let points: Vec<_> = material
        .cells
        .iter()
        .filter_map(|(index, cell)| {
            let (x, y) = (cell.metrics.get(*across)?, cell.metrics.get(*upwards)?);
            Some((*index, *cell, x, y))
        })
        .collect();
    if points.len() < 2 {
        return None;
    }
    let costs: Vec<[f64; 2]> =
        points.iter().map(|(.., x, y)| [cost(across, x.mean), cost(upwards, y.mean)]).collect();
    let looks = material.looks(&material.factors);
    let mut all: Vec<Series> = Vec::new();
    for (place, (index, cell, x, y)) in points.iter().enumerate() {
        let name = label(cell, &material.factors);
        let mut one = series(name, cell, &looks);
        one.x.push(x.mean);
        one.y.push(y.mean);
        one.interval(x.n, x.ci95, ["xlow", "xhigh"]);
        one.interval(y.n, y.ci95, ["low", "high"]);
        one.add("front", f64::from(u8::from(is_unbeaten(&costs, place))));
        one.add("n", f64::from(y.n.min(x.n)));
        one.add("cell", f64::from(*index));
        all.push(one);
    }
    let cells: Vec<_> = points.iter().map(|(index, cell, ..)| (*index, *cell)).collect();
    let [(x_name, _), (y_name, _)] = [across, upwards].map(|name| words::name_and_unit(name));
    let view = View {
        choice: Vec::new(),
        x: axis(across, points.iter().map(|(.., x, _)| x.mean)),
        y: vec![axis(upwards, points.iter().map(|(.., y)| y.mean))],
        series: all,
        marks: Vec::new(),
        caption: Material::caption(&cells, upwards),
    };
    Some(Figure {
        id: format!("{}-{across}-{upwards}", material.id("front")),
        place: material.place(),
        shape: Shape::Scatter,
        title: format!("{y_name} against {x_name}"),
        note: "Each cell's means with their 95 % confidence intervals. The line joins the cells that no \
               other cell beats in both means (the Pareto front). Where intervals overlap, this order \
               is not significant."
            .to_owned(),
        choosers: Vec::new(),
        views: vec![view],
    })
}

/// The value to minimise: negated if more is better.
fn cost(metric: &str, mean: f64) -> f64 {
    let more = COMPARED.iter().any(|one| one.name == metric && !one.less_is_better);
    if more { -mean } else { mean }
}

/// Whether no other cell is as good in both and better in one.
fn is_unbeaten(costs: &[[f64; 2]], place: usize) -> bool {
    let [x, y] = costs[place];
    !costs.iter().any(|[a, b]| *a <= x && *b <= y && (*a < x || *b < y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_nothing_beats() {
        let costs = [[1.0, 5.0], [2.0, 4.0], [2.0, 5.0], [3.0, 4.0], [4.0, 1.0], [1.0, 5.0]];
        let front: Vec<usize> = (0..costs.len()).filter(|at| is_unbeaten(&costs, *at)).collect();
        assert_eq!(front, [0, 1, 4, 5], "equal cells do not beat each other");
        assert!(cost("fps", 20.0) < cost("fps", 10.0) && cost("rtt_ms", 1.0) < cost("rtt_ms", 2.0));
    }
}
