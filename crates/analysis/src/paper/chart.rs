//! A figure of a study, with our values on its axes.

use trackbed_archive::DirectoryError;
use trackbed_measure::lists::distinct;
use trackbed_measure::results::CellResult;

use super::estimate::{Ours, value};
use super::reference::{ReferenceFigure, SAMPLE, Selector};
use super::statement::{Chart, Curve, Point};
use super::verdict::Found;

pub(super) fn chart(
    figure: ReferenceFigure,
    cells: &[CellResult],
    ours: &Ours<'_>,
) -> Result<Chart, DirectoryError> {
    let cells: Vec<&CellResult> = cells.iter().filter(|cell| figure.cell.fits(cell)).collect();
    let mut names = distinct(cells.iter().map(|cell| cell.factor_text(&figure.curves)));
    names.retain(|name| !name.is_empty());
    let of_factor = names.into_iter().map(|name| {
        let on_it = Selector::of(&figure.curves, &name).with(&figure.cell);
        (name, on_it)
    });
    let listed = figure.curve.iter().map(|curve| (curve.name.clone(), curve.cell.clone()));
    let mut curves = Vec::new();
    for (name, on_it) in of_factor.chain(listed) {
        let points = match figure.x == SAMPLE {
            true => of_samples(&figure, &on_it, ours)?,
            false => of_cells(&figure, &on_it, &cells, ours)?,
        };
        let printed =
            |x: &str| figure.printed.iter().find(|p| p.curve == name && p.x == x).map(|p| p.value);
        let drawn = |value: f64| figure.bits.map_or(value, |bits| bits / value / 1e3);
        let point = |(x, found): (String, Option<Found>)| Point {
            study: printed(&x),
            x,
            ours: found.map(|found| drawn(found.value)),
            ci95: found.and_then(|found| found.ci95).map(|ends| {
                let [a, b] = ends.map(drawn);
                [a.min(b), a.max(b)]
            }),
        };
        curves.push(Curve { points: points.into_iter().map(point).collect(), name });
    }
    let ReferenceFigure { number, title, metric, x, against, bits, .. } = figure;
    let metric = match (against, bits) {
        (Some(_), _) => format!("{metric}, % more"),
        (None, Some(_)) => "throughput_mbps".to_owned(),
        (None, None) => metric,
    };
    Ok(Chart { number, title, x, metric, curves })
}

fn of_cells(
    figure: &ReferenceFigure,
    on_it: &Selector,
    cells: &[&CellResult],
    ours: &Ours<'_>,
) -> Result<Vec<(String, Option<Found>)>, DirectoryError> {
    let xs = cells.iter().filter(|cell| on_it.fits(cell)).map(|cell| cell.factor_text(&figure.x));
    let xs = distinct(xs.filter(|x| !x.is_empty()));
    let found = |x: String| {
        let place = Selector::of(&figure.x, &x);
        let cell = on_it.with(&place);
        let found = match &figure.against {
            Some(against) => ours.difference(&figure.metric, &cell, &against.with(&place))?,
            None => {
                let samples = ours.samples(&cell, &figure.metric)?;
                samples.and_then(|samples| value(&samples, figure.statistic.statistic()))
            }
        };
        Ok((x, found))
    };
    xs.into_iter().map(found).collect()
}

/// A point for each sample number: the statistic over the k-th samples of all runs.
fn of_samples(
    figure: &ReferenceFigure,
    on_it: &Selector,
    ours: &Ours<'_>,
) -> Result<Vec<(String, Option<Found>)>, DirectoryError> {
    let samples = ours.samples(on_it, &figure.metric)?.unwrap_or_default();
    let most = samples.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let of_place = |place: usize| {
        let at = |run: &Option<Vec<f64>>| Some(vec![*run.as_ref()?.get(place)?]);
        let found =
            value(&samples.iter().map(at).collect::<Vec<_>>(), figure.statistic.statistic());
        ((place + 1).to_string(), found)
    };
    Ok((0..most).map(of_place).collect())
}
