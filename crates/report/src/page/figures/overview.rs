//! Every cell's median or mean with its interval, and tail quantiles.

use trackbed_measure::metrics;
use trackbed_measure::results::CellResult;

use crate::page::factors::Split;
use crate::page::figure::{Along, Axis, Figure, Series, Shape, View};
use crate::page::material::{Material, axis, label};

/// More rows than this are split into choices.
const ROWS_MAX: usize = 36;

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let split = Split::new(&material.results(), &material.factors, ROWS_MAX);
    let groups = material.chosen(&split);
    let mut views = Vec::new();
    for (place, metric) in material.metrics.iter().enumerate() {
        for (choice, cells) in &groups {
            let series = rows(material, metric, cells, &split.series);
            if series.is_empty() {
                continue;
            }
            let shown = ["low", "high", "p50", "p95", "p99"];
            let values = series.iter().flat_map(|one| {
                one.x.iter().chain(shown.iter().flat_map(|name| &one.more[name])).copied()
            });
            views.push(View {
                choice: [vec![place], choice.clone()].concat(),
                x: axis(metric, values.collect::<Vec<_>>()),
                y: vec![Axis::categories("cell")],
                series,
                marks: material.limits(metric, Along::X),
                caption: Material::caption(cells, metric),
            });
        }
    }
    vec![Figure {
        id: material.id("overview"),
        place: material.first_place(),
        shape: Shape::Dots,
        title: "Cells compared".to_owned(),
        note: "The dot is the median for times by which cells are compared, else the mean over runs; the bar \
               is its 95 % confidence interval. p50, p95 and p99 are quantiles over all samples: 50 %, 95 % \
               and 99 % of the samples are at or below them. p95 needs 20 samples, p99 368."
            .to_owned(),
        choosers: material.choosers(&material.metrics, &split),
        views,
    }]
}

/// A series per colour, with a row for each of its cells.
fn rows(
    material: &Material<'_>,
    metric: &str,
    cells: &[(u32, &CellResult)],
    names: &[String],
) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (index, cell) in cells {
        let Some(summary) = cell.metrics.get(metric) else { continue };
        let one = material.look(&mut series, cell);
        one.labels.push(label(cell, names));
        let compared = metrics::compared(metric);
        let value = compared.map_or(summary.mean, |compared| compared.center(summary));
        let ends = match compared {
            Some(compared) => compared.interval(summary).unwrap_or([f64::NAN; 2]),
            None => summary.ci95,
        };
        one.x.push(value);
        one.interval(summary.n, ends, ["low", "high"]);
        let more = [
            ("p50", summary.p50),
            ("p95", summary.known_p95().unwrap_or(f64::NAN)),
            ("p99", summary.known_p99().unwrap_or(f64::NAN)),
            ("n", f64::from(summary.n)),
            ("failed", f64::from(cell.failed)),
            ("cell", f64::from(*index)),
        ];
        more.into_iter().for_each(|(name, value)| one.add(name, value));
    }
    series
}
