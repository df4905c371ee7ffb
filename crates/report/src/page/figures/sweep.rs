//! A metric along a numeric factor: means with interval bands, and quantiles.

use trackbed_measure::lists::grouped;
use trackbed_measure::results::{CellResult, MetricSummary};

use crate::page::factors::{self, Split};
use crate::page::figure::{Along, Axis, Chooser, Figure, Series, Shape, View};
use crate::page::material::{Material, axis, label, series};

/// Two values make no curve.
pub(super) const VALUES_MIN: usize = 3;

/// Lines in one view; more are split into choices.
const LINES_MAX: usize = 8;

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let numeric = material.numeric_factors(VALUES_MIN).into_iter().enumerate();
    numeric.map(|(number, name)| figure(material, number, name)).collect()
}

fn figure(material: &Material<'_>, number: usize, factor: &str) -> Figure {
    let x = material.factor_axis(factor);
    let lines = Lines {
        others: material.factors.iter().filter(|name| *name != factor).cloned().collect(),
        metrics: &material.metrics,
        statistics: &STATISTICS,
        place: &|cell| factors::number(cell, factor).map(|(x, _)| x),
        axis: &|_| x.clone(),
    };
    Figure {
        id: format!("{}-{number}", material.id("sweep")),
        title: format!("Results by {}", x.name),
        note: format!(
            "How results change with {}. Bands are 95 % confidence intervals of means; quantiles are over \
             all samples. Only the dots were measured; the lines between them are interpolated.",
            x.name
        ),
        ..lines.figure(material)
    }
}

/// The statistic of a metric that is drawn, and how to get it from the summary.
pub(super) type Statistic = fn(&MetricSummary) -> f64;

const STATISTICS: [(&str, Statistic); 4] = [
    ("mean", |summary| summary.mean),
    ("p50", |summary| summary.p50),
    ("p95", |summary| summary.p95),
    ("p99", |summary| summary.p99),
];

/// Lines through cells, in a view for each metric, statistic and choice.
pub(super) struct Lines<'a> {
    /// The factors whose values are lines or choices.
    pub others: Vec<String>,
    pub metrics: &'a [&'static str],
    pub statistics: &'a [(&'static str, Statistic)],
    /// Where a cell is on the x axis.
    pub place: &'a dyn Fn(&CellResult) -> Option<f64>,
    /// The x axis of a view.
    pub axis: &'a dyn Fn(&[Series]) -> Axis,
}

impl Lines<'_> {
    /// The figure, still without id and texts.
    pub fn figure(&self, material: &Material<'_>) -> Figure {
        let split = Split::new(&material.results(), &self.others, LINES_MAX);
        let groups = material.chosen(&split);
        let mut views = Vec::new();
        for (place, metric) in self.metrics.iter().enumerate() {
            for (number, statistic) in self.statistics.iter().enumerate() {
                for (choice, cells) in &groups {
                    let series = self.lines(material, (metric, *statistic), cells, &split.series);
                    if series.iter().all(|one| one.x.len() < VALUES_MIN) {
                        continue;
                    }
                    let values: Vec<f64> = series.iter().flat_map(|one| one.y.clone()).collect();
                    views.push(View {
                        choice: [vec![place, number], choice.clone()].concat(),
                        x: (self.axis)(&series),
                        y: vec![axis(metric, values)],
                        series,
                        marks: material.limits(metric, Along::Y),
                        caption: Material::caption(cells, metric),
                    });
                }
            }
        }
        let mut choosers = material.choosers(self.metrics, &split);
        let options = self.statistics.iter().map(|(name, _)| (*name).to_owned()).collect();
        choosers.insert(1, Chooser { name: "statistic".to_owned(), options, help: Vec::new() });
        Figure {
            id: String::new(),
            place: material.place(),
            shape: Shape::Bands,
            title: String::new(),
            note: String::new(),
            choosers,
            views,
        }
    }

    fn lines(
        &self,
        material: &Material<'_>,
        (metric, (statistic, of)): (&str, (&str, Statistic)),
        cells: &[(u32, &CellResult)],
        names: &[String],
    ) -> Vec<Series> {
        let looks = material.looks(names);
        let points = cells.iter().filter_map(|(_, cell)| {
            let point = (*cell, (self.place)(cell)?, cell.metrics.get(metric)?);
            Some((label(cell, names), point))
        });
        let lines = grouped(points).into_iter().map(|(name, mut points)| {
            let mut line = series(name, points[0].0, &looks);
            points.sort_by(|a, b| a.1.total_cmp(&b.1));
            for (_, x, summary) in points {
                line.x.push(x);
                line.y.push(of(summary));
                if statistic == "mean" {
                    line.interval(summary.n, summary.ci95, ["low", "high"]);
                }
                line.add("n", f64::from(summary.n));
            }
            line
        });
        lines.collect()
    }
}
