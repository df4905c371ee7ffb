//! Boxes, distribution functions, lines and bars.

use std::collections::BTreeMap;

use trackbed_analysis::Names;
use trackbed_measure::lists::grouped;
use trackbed_measure::metrics;
use trackbed_measure::results::{CellResult, Document, MIN_RUNS, MetricSummary};
use trackbed_stats::Sample;

use super::{FigureError, Group, Subject};
use crate::page::distribution::Distribution;
use crate::page::{factors, words};
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// Rows or curves of a panel; more become several panels.
const ROWS_MAX: usize = 24;
const CURVES_MAX: usize = 6;

/// From this many samples on, their outer twentieths are known.
const TAILS_FROM: usize = 20;

const ROWS: Look = Look { colour: 0, dash: 0 };

pub(super) fn boxes(subject: &Subject<'_>, samples: &BTreeMap<u32, Vec<f64>>) -> (Plot, String) {
    let sample = |cell: &u32| Sample::new(samples.get(cell)?).ok();
    let has_tails = samples.values().all(|values| values.len() >= TAILS_FROM);
    let plot = rows(subject, Scale::Data, |number, _, _, y| {
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
    let plot = rows(subject, Scale::Linear, |_, cell, _, y| {
        let Some(summary) = cell.metrics.get(subject.metric) else { return Vec::new() };
        let (value, interval) = value(subject.metric, summary);
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

/// The value that ranks each cell with its interval, and quantiles of all its samples.
pub(crate) fn dots(subject: &Subject<'_>) -> Plot {
    let colour = subject.colours();
    let look = |cell: &CellResult, marker: usize| Look::marked(colour(cell), marker);
    let plot = rows(subject, Scale::Data, |number, cell, name, y| {
        let Some(summary) = cell.metrics.get(subject.metric) else { return Vec::new() };
        let (value, interval) = value(subject.metric, summary);
        let quantiles = [Some(summary.p50), summary.known_p95(), summary.known_p99()];
        let dot = |(marker, x): (usize, Option<f64>)| {
            Some(Mark::Dot(look(cell, marker), [x?, y], Fill::White))
        };
        let mut marks: Vec<Mark> = (1..).zip(quantiles).filter_map(dot).collect();
        marks.extend(interval.map(|[low, high]| Mark::Whisker(look(cell, 0), [low, y], [high, y])));
        marks.push(Mark::Dot(look(cell, 0), [value, y], Fill::Full));
        let [low, high] = interval.unwrap_or([f64::NAN; 2]);
        let [p50, p95, p99] = quantiles.map(|known| known.unwrap_or(f64::NAN));
        let counts = [summary.n, cell.failed, number].map(f64::from);
        let more = [&[low, high, p50, p95, p99][..], &counts].concat();
        marks.push(Mark::Value(name.to_owned(), [value, y], more));
        marks
    });
    let [statistic, _] = statistic(subject);
    let key = |marker, fill, text| Key::dot(Look::marked(0, marker), fill, text);
    let keys = vec![
        key(0, Fill::Full, statistic),
        Key::interval(ROWS, false, "95 % confidence interval"),
        key(1, Fill::White, "p50"),
        key(2, Fill::White, "p95"),
        key(3, Fill::White, "p99"),
    ];
    let columns = vec!["low", "high", "p50", "p95", "p99", "n", "failed", "cell"];
    Plot { keys, columns, ..plot }
}

pub(crate) fn ecdf(
    subject: &Subject<'_>,
    distribution: impl Fn(u32) -> Option<Distribution>,
) -> (Plot, String) {
    let mut curves = Curves::default();
    let panels = subject.groups(&[], CURVES_MAX).into_iter().map(|group| {
        let mut marks = Vec::new();
        for (number, cell) in &group.cells {
            let Some(found) = distribution(*number) else { continue };
            let (look, name) = curves.look(cell.name(&group.series), || group.name(cell));
            let (mut line, mut share) = (Vec::new(), 0.0);
            for (value, up_to) in found.values.iter().zip(&found.shares) {
                line.extend([[*value, share * 100.0], [*value, up_to * 100.0]]);
                share = *up_to;
                marks.push(Mark::Value(name.to_owned(), [*value, share * 100.0], Vec::new()));
            }
            // A few markers, which tell the curves apart in print.
            for share in [0.1, 0.3, 0.5, 0.7, 0.9] {
                let at = found.shares.partition_point(|up_to| *up_to < share);
                marks.push(Mark::Dot(look, [found.values[at], share * 100.0], Fill::Full));
            }
            marks.insert(0, Mark::Line(look, line));
        }
        let x = Axis::new(words::axis(subject.metric), Scale::Data);
        let y = Axis::new("Samples (%)", Scale::Ends(0.0, 100.0));
        Panel { title: group.title, x, y, marks }
    });
    let panels = panels.collect();
    let marks = "Empirical distribution functions: the share of all samples of all runs up to each value. \
                 Markers only tell the curves apart.";
    (curves.plot(panels, true), marks.to_owned())
}

pub(super) fn line(subject: &Subject<'_>) -> Result<(Plot, String), FigureError> {
    let factor = subject.numeric_factors(2).into_iter().next().ok_or(FigureError::NoFactor)?;
    let value = |summary: &MetricSummary| value(subject.metric, summary);
    let place = |cell: &CellResult| factors::number(cell, &factor).map(|(x, _)| x);
    let mut plot = lines(subject, &Along::factor(subject, &factor, &place), &[("", &value)]);
    let [statistic, interval] = statistic(subject);
    let (has_intervals, note) = intervals(&plot, interval);
    let key = || Key::interval(Look::INK, true, "95 % confidence interval");
    plot.keys.extend(has_intervals.then(key));
    let marks = format!("Markers: {statistic}; lines between them are interpolated. {note}");
    Ok((plot, marks))
}

/// What is on the x axis of lines.
pub(crate) struct Along<'a> {
    pub name: String,
    /// The factors that it stands for, which tell no lines apart.
    pub factors: Vec<String>,
    pub place: &'a dyn Fn(&CellResult) -> Option<f64>,
}

impl<'a> Along<'a> {
    /// A factor whose values are numbers.
    pub fn factor(
        subject: &Subject<'_>,
        factor: &str,
        place: &'a dyn Fn(&CellResult) -> Option<f64>,
    ) -> Along<'a> {
        let name = factors::axis_name(&subject.results(), factor, &subject.document.factor(factor));
        Along { name, factors: vec![factor.to_owned()], place }
    }
}

/// A value of a cell, and its interval if it has one.
pub(crate) type Statistic<'a> = &'a dyn Fn(&MetricSummary) -> (f64, Option<[f64; 2]>);

/// Lines through the cells, one for each of these named statistics.
pub(crate) fn lines(
    subject: &Subject<'_>,
    along: &Along<'_>,
    statistics: &[(&str, Statistic<'_>)],
) -> Plot {
    let mut curves = Curves::default();
    let groups = subject.groups(&along.factors, (CURVES_MAX / statistics.len()).max(1));
    let panels = groups.into_iter().map(|group| {
        let (mut lines, mut whiskers, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        let series = group.cells.iter().map(|(_, cell)| (cell.name(&group.series), *cell));
        for (key, cells) in grouped(series) {
            // The cells beside one of them may have failed: then another one tells its name.
            let mut names = cells.iter().map(|it| name_beside(subject.document, &group, it, along));
            let name = names.find(|name| !name.is_empty());
            for (statistic, of) in statistics {
                let parts = name.as_deref().into_iter().chain([*statistic]);
                let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
                let whole = if parts.is_empty() { "all runs".to_owned() } else { parts.join(", ") };
                let (look, name) = curves.look(format!("{key} {statistic}"), || whole);
                let points = cells.iter().filter_map(|cell| {
                    let summary = cell.metrics.get(subject.metric)?;
                    Some(((along.place)(cell)?, summary.n, of(summary)))
                });
                let mut points: Vec<_> = points.collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                lines
                    .push(Mark::Line(look, points.iter().map(|(x, _, (y, _))| [*x, *y]).collect()));
                for (x, n, (y, interval)) in points {
                    let whisker = |[low, high]: [f64; 2]| Mark::Whisker(look, [x, low], [x, high]);
                    whiskers.extend(interval.map(whisker));
                    marks.push(Mark::Dot(look, [x, y], Fill::Full));
                    let [low, high] = interval.unwrap_or([f64::NAN; 2]);
                    marks.push(Mark::Value(name.to_owned(), [x, y], vec![low, high, f64::from(n)]));
                }
            }
        }
        let y = Axis::new(words::axis(subject.metric), Scale::Zero);
        let marks = lines.into_iter().chain(whiskers).chain(marks).collect();
        Panel { title: group.title, x: Axis::new(along.name.clone(), Scale::Data), y, marks }
    });
    let panels = panels.collect();
    Plot { columns: vec!["low", "high", "n"], ..curves.plot(panels, true) }
}

/// A cell's name among those at the same place on the x axis; empty if it is alone there.
fn name_beside(
    document: &Document,
    group: &Group<'_>,
    cell: &CellResult,
    along: &Along<'_>,
) -> String {
    let all: Vec<&CellResult> = group.cells.iter().map(|(_, cell)| *cell).collect();
    let place = cell.name(&along.factors);
    let beside: Vec<&CellResult> =
        all.iter().copied().filter(|other| other.name(&along.factors) == place).collect();
    Names::new(document, &beside, &all).cell(cell, &beside)
}

/// Panels with a named row for each cell.
fn rows(
    subject: &Subject<'_>,
    scale: Scale,
    marks: impl Fn(u32, &CellResult, &str, f64) -> Vec<Mark>,
) -> Plot {
    let panels = subject.groups(&[], ROWS_MAX).into_iter().map(|group| {
        let names: Vec<String> = group.cells.iter().map(|(_, cell)| group.name(cell)).collect();
        let of_row = |(row, (number, cell)): (usize, &(u32, &CellResult))| {
            marks(*number, cell, &names[row], row as f64)
        };
        let marks = group.cells.iter().enumerate().flat_map(of_row).collect();
        let x = Axis::new(words::axis(subject.metric), scale.clone());
        let y = Axis::new("", Scale::Names(names));
        Panel { title: group.title, x, y, marks }
    });
    Plot { panels: panels.collect(), is_shared: true, ..Plot::default() }
}

/// The value of a cell that is shown and ranks cells, and its interval if it has a width.
fn value(metric: &str, summary: &MetricSummary) -> (f64, Option<[f64; 2]>) {
    let (value, interval) = match metrics::compared(metric) {
        Some(compared) => (compared.center(summary), compared.interval(summary)),
        None => (summary.mean, (summary.n >= MIN_RUNS).then_some(summary.ci95)),
    };
    (value, interval.filter(|[low, high]| low < high))
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
pub(crate) struct Curves(Vec<(String, String)>);

impl Curves {
    /// The look of a curve and its name.
    pub fn look(&mut self, key: String, name: impl FnOnce() -> String) -> (Look, &str) {
        let number = self.0.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            self.0.push((key, name()));
            self.0.len() - 1
        });
        (Look::series(number), &self.0[number].1)
    }

    /// A plot with these curves in its legend, with their markers or without.
    pub fn plot(&self, panels: Vec<Panel>, is_marked: bool) -> Plot {
        let key = |(number, (_, name)): (usize, &(_, String))| {
            Key::curve(Look::series(number), is_marked, name)
        };
        let keys = self.0.iter().enumerate().map(key).collect();
        Plot {
            keys,
            panels,
            is_shared: true,
            aspect: 0.62,
            panel_width_min: 15.0,
            ..Plot::default()
        }
    }
}
