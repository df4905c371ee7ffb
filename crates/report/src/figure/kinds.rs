//! Boxes, distribution functions, lines and bars.

use std::collections::BTreeMap;

use trackbed_analysis::Names;
use trackbed_measure::lists::grouped;
use trackbed_measure::metrics;
use trackbed_measure::results::{CellResult, Document, MIN_RUNS};
use trackbed_stats::Sample;

use super::{FigureError, Group, Subject, capital};
use crate::page::distribution::Distribution;
use crate::page::factors;
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// Rows or curves of a panel; more become several panels.
const ROWS_MAX: usize = 24;
const CURVES_MAX: usize = 6;

/// Points of a distribution function.
const POINTS_MAX: usize = 300;

/// From this many samples on, their outer twentieths are known.
const TAILS_FROM: usize = 20;

const ROWS: Look = Look { colour: 0, dash: 0 };

pub(super) fn boxes(subject: &Subject<'_>, samples: &BTreeMap<u32, Vec<f64>>) -> (Plot, String) {
    let sample = |cell: &u32| Sample::new(samples.get(cell)?).ok();
    let has_tails = samples.values().all(|values| values.len() >= TAILS_FROM);
    let plot = rows(subject, Scale::Data, |number, _, y| {
        let Some(sample) = sample(&number) else { return Vec::new() };
        let at = |share| sample.quantile(share).unwrap_or(f64::NAN);
        let [low, high] = match has_tails {
            true => [0.05, 0.95].map(at),
            false => [sample.min(), sample.max()],
        };
        vec![
            Mark::Line(ROWS, vec![[low, y], [high, y]]),
            Mark::Whisker(ROWS, [low, y], [high, y]),
            Mark::Area(ROWS, [at(0.25), y - 0.3], [at(0.75), y + 0.3], Fill::Light),
            Mark::Line(ROWS, [-0.3, 0.3].map(|up| [at(0.5), y + up]).to_vec()),
        ]
    });
    let tails = if has_tails { "5th to 95th percentile" } else { "smallest to largest sample" };
    let median = Mark::Line(ROWS, vec![[0.5, 0.0], [0.5, 1.0]]);
    let keys = vec![
        Key { marks: vec![median], text: "median".to_owned() },
        Key::area(ROWS, Fill::Light, "25th to 75th percentile"),
        Key::interval(ROWS, false, tails),
    ];
    let marks = format!(
        "Line: median; box: 25th to 75th percentile; whiskers: {tails}; over all samples of all runs."
    );
    (Plot { keys, ..plot }, marks)
}

pub(super) fn bars(subject: &Subject<'_>) -> (Plot, String) {
    let plot = rows(subject, Scale::Linear, |_, cell, y| {
        let Some((value, interval)) = value(subject, cell) else { return Vec::new() };
        let bar = Mark::Area(ROWS, [0.0, y - 0.3], [value, y + 0.3], Fill::Light);
        let interval = interval.map(|[low, high]| Mark::Whisker(Look::INK, [low, y], [high, y]));
        [bar].into_iter().chain(interval).collect()
    });
    let [statistic, interval] = statistic(subject);
    let mut keys = vec![Key::area(ROWS, Fill::Light, statistic)];
    let (has_intervals, note) = intervals(&plot, interval);
    keys.extend(has_intervals.then(|| Key::interval(Look::INK, false, "95 % confidence interval")));
    (Plot { keys, ..plot }, format!("Bars: {statistic}. {note}"))
}

pub(super) fn ecdf(subject: &Subject<'_>, samples: &BTreeMap<u32, Vec<f64>>) -> (Plot, String) {
    let mut curves = Curves::default();
    let panels = subject.groups(None, CURVES_MAX).into_iter().map(|group| {
        let mut marks = Vec::new();
        for (number, cell) in &group.cells {
            let values = samples.get(number).cloned().unwrap_or_default();
            let Some(found) = Distribution::of(values, POINTS_MAX) else { continue };
            let look = curves.look(cell.name(&group.series), || group.name(cell));
            let (mut line, mut share) = (Vec::new(), 0.0);
            for (value, up_to) in found.values.iter().zip(&found.shares) {
                line.extend([[*value, share * 100.0], [*value, up_to * 100.0]]);
                share = *up_to;
            }
            // A few markers, which tell the curves apart in print.
            for share in [0.1, 0.3, 0.5, 0.7, 0.9] {
                let at = found.shares.partition_point(|up_to| *up_to < share);
                marks.push(Mark::Dot(look, [found.values[at], share * 100.0], Fill::Full));
            }
            marks.insert(0, Mark::Line(look, line));
        }
        let x = Axis::new(subject.axis_name(), Scale::Data);
        let y = Axis::new("Samples (%)", Scale::Ends(0.0, 100.0));
        Panel { title: group.title, x, y, marks }
    });
    let panels = panels.collect();
    let marks = "Empirical distribution functions: the share of all samples of all runs up to each value. \
                 Markers only tell the curves apart.";
    (curves.plot(panels, true), marks.to_owned())
}

pub(super) fn line(subject: &Subject<'_>) -> Result<(Plot, String), FigureError> {
    let factor = subject.numeric_factors().into_iter().next().ok_or(FigureError::NoFactor)?;
    let x_axis = factors::axis(&subject.results(), &factor, &subject.document.factor(&factor));
    let x_name = match x_axis.unit.as_str() {
        "number" => capital(&x_axis.name),
        unit => capital(&format!("{} ({unit})", x_axis.name)),
    };
    let place = |cell: &CellResult| factors::number(cell, &factor).map(|(x, _)| x);
    let mut curves = Curves::default();
    let panels = subject.groups(Some(&factor), CURVES_MAX).into_iter().map(|group| {
        let mut marks = Vec::new();
        let series = group.cells.iter().map(|(_, cell)| (cell.name(&group.series), *cell));
        for (key, cells) in grouped(series) {
            // The cells beside one of them may have failed: then another one tells its name.
            let mut names =
                cells.iter().map(|cell| name_beside(subject.document, &group, cell, place));
            let name =
                || names.find(|name| !name.is_empty()).unwrap_or_else(|| "all runs".to_owned());
            let look = curves.look(key, name);
            let mut line = Vec::new();
            for cell in cells {
                let (Some(x), Some((y, interval))) = (place(cell), value(subject, cell)) else {
                    continue;
                };
                line.push([x, y]);
                marks.extend(interval.map(|[low, high]| Mark::Whisker(look, [x, low], [x, high])));
                marks.push(Mark::Dot(look, [x, y], Fill::Full));
            }
            line.sort_by(|a, b| a[0].total_cmp(&b[0]));
            marks.insert(0, Mark::Line(look, line));
        }
        let y = Axis::new(subject.axis_name(), Scale::Zero);
        Panel { title: group.title, x: Axis::new(x_name.clone(), Scale::Data), y, marks }
    });
    let panels = panels.collect();
    let mut plot = curves.plot(panels, true);
    let [statistic, interval] = statistic(subject);
    let (has_intervals, note) = intervals(&plot, interval);
    let key = || Key::interval(Look::INK, true, "95 % confidence interval");
    plot.keys.extend(has_intervals.then(key));
    let marks = format!("Markers: {statistic}; lines between them are interpolated. {note}");
    Ok((plot, marks))
}

/// A cell's name among those at the same place on the x axis; empty if it is alone there.
fn name_beside(
    document: &Document,
    group: &Group<'_>,
    cell: &CellResult,
    place: impl Fn(&CellResult) -> Option<f64>,
) -> String {
    let all: Vec<&CellResult> = group.cells.iter().map(|(_, cell)| *cell).collect();
    let beside: Vec<&CellResult> =
        all.iter().copied().filter(|other| place(other) == place(cell)).collect();
    Names::new(document, &beside, &all).cell(cell, &beside)
}

/// Panels with a named row for each cell.
fn rows(
    subject: &Subject<'_>,
    scale: Scale,
    marks: impl Fn(u32, &CellResult, f64) -> Vec<Mark>,
) -> Plot {
    let panels = subject.groups(None, ROWS_MAX).into_iter().map(|group| {
        let of_row =
            |(row, (number, cell)): (usize, &(u32, &CellResult))| marks(*number, cell, row as f64);
        let marks = group.cells.iter().enumerate().flat_map(of_row).collect();
        let names = group.cells.iter().map(|(_, cell)| group.name(cell)).collect();
        let x = Axis::new(subject.axis_name(), scale.clone());
        let y = Axis::new("", Scale::Names(names));
        Panel { title: group.title, x, y, marks }
    });
    Plot { panels: panels.collect(), ..Plot::default() }
}

/// The value of a cell that is shown and ranks cells, and its interval if it has a width.
fn value(subject: &Subject<'_>, cell: &CellResult) -> Option<(f64, Option<[f64; 2]>)> {
    let summary = cell.metrics.get(subject.metric)?;
    let (value, interval) = match metrics::compared(subject.metric) {
        Some(compared) => (compared.center(summary), compared.interval(summary)),
        None => (summary.mean, (summary.n >= MIN_RUNS).then_some(summary.ci95)),
    };
    Some((value, interval.filter(|[low, high]| low < high)))
}

/// What [`value`] gives, and what its interval is.
fn statistic(subject: &Subject<'_>) -> [&'static str; 2] {
    match metrics::compared(subject.metric).is_some_and(metrics::Compared::by_median) {
        true => ["median over all samples", "of the median (order statistics)"],
        false => ["mean over runs", "of the mean (Student's t over runs, corrected for skewness)"],
    }
}

/// Whether intervals are drawn, and the sentence about them.
fn intervals(plot: &Plot, of: &str) -> (bool, String) {
    let mut marks = plot.panels.iter().flat_map(|panel| &panel.marks);
    match marks.any(|mark| matches!(mark, Mark::Whisker(..))) {
        true => (true, format!("Whiskers: 95 % confidence intervals {of}.")),
        false => (
            false,
            format!("No intervals: all values are equal, or there are fewer than {MIN_RUNS} runs."),
        ),
    }
}

/// Curves by the factors that tell them apart, each with the same look and name in all panels.
#[derive(Default)]
pub(super) struct Curves(Vec<(String, String)>);

impl Curves {
    pub fn look(&mut self, key: String, name: impl FnOnce() -> String) -> Look {
        let known = self.0.iter().position(|(other, _)| *other == key);
        Look::series(known.unwrap_or_else(|| {
            self.0.push((key, name()));
            self.0.len() - 1
        }))
    }

    /// A plot with these curves in its legend, with their markers or without.
    pub fn plot(&self, panels: Vec<Panel>, is_marked: bool) -> Plot {
        let key = |(number, (_, name)): (usize, &(_, String))| {
            Key::curve(Look::series(number), is_marked, name)
        };
        let keys = self.0.iter().enumerate().map(key).collect();
        Plot { keys, panels, is_shared: true, aspect: 0.62, panel_width_min: 15.0 }
    }
}
