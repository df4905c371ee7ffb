//! Differences from the best cell, paired by run.

use trackbed_analysis::groups::Group;
use trackbed_measure::results::{CellResult, Verdict};

use crate::page::factors;
use crate::page::figure::{Along, Axis, Chooser, Figure, Mark, Series, Shape, View};
use crate::page::material::{Material, axis, label, metric_chooser};

/// With more rows, the reader chooses a condition.
const ROWS_MAX: usize = 24;

pub(super) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let mut metrics = material.metrics.clone();
    metrics.retain(|metric| material.section.differences(metric).next().is_some());
    let rows = metrics.iter().map(|metric| material.section.differences(metric).count());
    let apart = rows.max().unwrap_or(0) > ROWS_MAX;
    let mut options: Vec<String> = Vec::new();
    let mut views = Vec::new();
    for (place, metric) in metrics.iter().enumerate() {
        let all = material.section.groups(metric);
        if !apart {
            let names = &material.factors;
            views.extend(view(material, metric, vec![place], &all, names));
            continue;
        }
        for group in all {
            let (varying, fixed) = parted(material, &group);
            let against = material.section.document.cells.get(group.best as usize);
            let condition = against.map_or_else(String::new, |cell| label(cell, &fixed));
            let option = options.iter().position(|option| *option == condition);
            let option = option.unwrap_or_else(|| {
                options.push(condition);
                options.len() - 1
            });
            views.extend(view(material, metric, vec![place, option], &[group], &varying));
        }
    }
    let condition = Chooser { name: "condition".to_owned(), options, help: Vec::new() };
    let choosers = [metric_chooser(&metrics)].into_iter().chain(apart.then_some(condition));
    vec![Figure {
        id: material.id("difference"),
        place: material.place(),
        shape: Shape::Dots,
        title: "Differences from the best cell, paired by run".to_owned(),
        note: "Each cell minus the best one under the same conditions, over pairs of runs of the same \
               number, with the 95 % interval: of the median for times, else of the mean. The table says which \
               differences are significant, together with all others under the same conditions."
            .to_owned(),
        choosers: choosers.collect(),
        views,
    }]
}

/// The factors in which a group's cells differ, and those that form its condition.
fn parted(material: &Material<'_>, group: &Group<'_>) -> (Vec<String>, Vec<String>) {
    let cells = &material.section.document.cells;
    let members: Vec<&CellResult> = group
        .differences
        .iter()
        .map(|difference| difference.cell)
        .chain([group.best])
        .filter_map(|index| cells.get(index as usize))
        .collect();
    let names = material.factors.iter().cloned();
    names.partition(|name| factors::values(&members, name).len() > 1)
}

/// The differences of these groups in one view; `None` without differences.
fn view(
    material: &Material<'_>,
    metric: &str,
    choice: Vec<usize>,
    groups: &[Group<'_>],
    names: &[String],
) -> Option<View> {
    let differences = || groups.iter().flat_map(|group| group.differences.iter().copied());
    let cells = &material.section.document.cells;
    let mut series: Vec<Series> = Vec::new();
    for difference in differences() {
        let Some(cell) = cells.get(difference.cell as usize) else { continue };
        let one = material.look(&mut series, cell);
        one.labels.push(label(cell, names));
        let shown = difference.headline();
        one.x.push(shown.value);
        one.interval(difference.n, shown.ci95.unwrap_or([f64::NAN; 2]), ["low", "high"]);
        one.add("n", f64::from(difference.n));
        one.add("cell", f64::from(difference.cell));
        one.add("against", f64::from(difference.against));
    }
    let undecided =
        differences().filter(|one| one.headline().verdict == Verdict::Undecided).count();
    let (least, most) = (differences().map(|d| d.n).min()?, differences().map(|d| d.n).max()?);
    let pairs = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let best: Vec<String> = groups
        .iter()
        .filter_map(|group| Some(label(cells.get(group.best as usize)?, &material.factors)))
        .collect();
    let best = match best.as_slice() {
        [only] => format!("Best: {only}. "),
        _ => String::new(),
    };
    let measured = axis(metric, []);
    let x = Axis { name: format!("difference of {}", measured.name), ..measured };
    Some(View {
        choice,
        x: x.for_differences(series.iter().flat_map(|one| one.x.iter().copied())),
        y: vec![Axis::categories("cell")],
        series,
        marks: vec![Mark { axis: Along::X, from: 0.0, until: None, label: "best".to_owned() }],
        caption: format!(
            "{best}n = {pairs} pairs of runs each; {undecided} of {} differences are not significant.",
            differences().count()
        ),
    })
}
