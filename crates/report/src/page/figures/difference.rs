//! How far cells lie from the best one, pair by pair of runs.

use trackbed_measure::results::{Difference, Verdict};

use crate::differences::{Group, groups};
use crate::page::figure::{Along, Axis, Chooser, Figure, Mark, Scale, Series, Shape, View};
use crate::page::material::{Material, axis, label};
use crate::page::words;

/// With more rows, each group is a choice.
const ROWS_MAX: usize = 24;

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let metrics: Vec<&str> = material.metrics.clone();
    let with: Vec<&str> = metrics
        .into_iter()
        .filter(|metric| material.section.differences(metric).next().is_some())
        .collect();
    let rows = |metric: &&str| material.section.differences(metric).count();
    let apart = with.iter().map(rows).max().unwrap_or(0) > ROWS_MAX;
    let against = |group: &Group<'_>| {
        let cell = material.section.document.cells.get(group.against as usize);
        cell.map_or_else(String::new, |cell| label(cell, &material.factors))
    };
    let mut options: Vec<String> = Vec::new();
    let mut views = Vec::new();
    for (place, metric) in with.iter().enumerate() {
        let all = groups(material.section, metric);
        if !apart {
            let differences = all.iter().flat_map(|group| group.differences.iter().copied());
            views.push(view(material, metric, vec![place], differences.collect()));
            continue;
        }
        for group in &all {
            let name = against(group);
            let option = options.iter().position(|option| *option == name).unwrap_or_else(|| {
                options.push(name);
                options.len() - 1
            });
            views.push(view(material, metric, vec![place, option], group.differences.clone()));
        }
    }
    if views.is_empty() {
        return Vec::new();
    }
    let metric = Chooser {
        name: "metric".to_owned(),
        options: with.iter().map(|name| words::metric(name)).collect(),
    };
    let mut choosers = vec![metric];
    if apart {
        choosers.push(Chooser { name: "against".to_owned(), options });
    }
    vec![Figure {
        id: material.id("difference"),
        place: material.place(),
        shape: Shape::Dots,
        title: "Differences from the best, run by run".to_owned(),
        note: "Each cell minus the best one under the same conditions, over pairs of runs that met \
               the same misfortunes, with the 95 % interval of the mean. An interval that touches zero \
               says nothing about which is better."
            .to_owned(),
        choosers,
        views,
    }]
}

fn view(
    material: &Material<'_>,
    metric: &str,
    choice: Vec<usize>,
    differences: Vec<&Difference>,
) -> View {
    let mut series: Vec<Series> = Vec::new();
    let document = material.section.document;
    for difference in &differences {
        let Some(cell) = document.cells.get(difference.cell as usize) else { continue };
        let name = cell.factor_text(material.looks.first().unwrap_or_default());
        let place = series.iter().position(|one| one.name == name).unwrap_or_else(|| {
            series.push(Series { dash: 0, ..material.series(name, cell) });
            series.len() - 1
        });
        let one = &mut series[place];
        one.labels.push(label(cell, &material.factors));
        one.x.push(difference.mean);
        let [low, high] = difference.ci95;
        let (low, high) = if difference.n > 1 { (low, high) } else { (f64::NAN, f64::NAN) };
        one.add("low", low);
        one.add("high", high);
        one.add("n", f64::from(difference.n));
        one.add("cell", f64::from(difference.cell));
        one.add("against", f64::from(difference.against));
    }
    let undecided = differences.iter().filter(|d| d.verdict == Verdict::Undecided).count();
    let pairs = differences.iter().map(|difference| difference.n);
    let (least, most) = (pairs.clone().min().unwrap_or(0), pairs.max().unwrap_or(0));
    let pairs = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let measured = axis(metric, []);
    View {
        choice,
        x: Axis { name: format!("difference of {}", measured.name), scale: Scale::Linear, ..measured },
        y: vec![Axis::categories("cell")],
        series,
        marks: vec![Mark { axis: Along::X, from: 0.0, until: None, label: "the best".to_owned() }],
        caption: format!("n = {pairs} pairs of runs each; {undecided} of {} undecided.", differences.len()),
    }
}
