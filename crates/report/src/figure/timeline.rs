//! A quantity over the time of single runs, one below the other.

use trackbed_measure::lists::distinct;
use trackbed_measure::metrics;
use trackbed_measure::results::RunResult;
use trackbed_measure::timeline::{Chart, Timeline};

use super::kinds::Curves;
use super::{Figure, FigureError, Subject};
use crate::page::ranks::Ranks;
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// A quantity that is known over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course(&'static str, Chart);

const COURSES: [Course; 5] = [
    Course("throughput_mbps", Chart::Throughput),
    Course("rtt_ms", Chart::RoundTrips),
    Course("cpu_percent", Chart::Processor),
    Course("congestion_window_bytes", Chart::CongestionWindow),
    Course("smoothed_rtt_ms", Chart::SmoothedRtt),
];

impl Course {
    /// That called `metric`, with or without its unit; by default throughput.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(metric: Option<&str>) -> Result<Course, FigureError> {
        let metric = metric.unwrap_or(COURSES[0].0);
        let is = |Course(name, _): &Course| {
            *name == metric || name.rsplit_once('_').is_some_and(|(name, _)| name == metric)
        };
        COURSES.into_iter().find(is).ok_or_else(|| FigureError::NoCourse {
            metric: metric.to_owned(),
            known: COURSES.map(|Course(name, _)| name).join(", "),
        })
    }

    /// Draws it for `runs`. The subject must have all of their cells.
    ///
    /// # Errors
    /// If none of the runs has such values.
    pub fn draw(self, subject: &Subject<'_>, runs: &[CourseRun]) -> Result<Figure, FigureError> {
        let Course(metric, chart) = self;
        let subject = Subject { document: subject.document, metric, cells: subject.cells.clone() };
        let spans = || runs.iter().flat_map(|run| &run.timeline.spans);
        let kinds = distinct(spans().map(|span| kind(&span.name)));
        let look = |name: &str| match kinds.iter().position(|known| *known == kind(name)) {
            Some(number @ 1..) => Look::series(number),
            _ => Look::INK,
        };
        let mut curves = Curves::default();
        let mut panels = Vec::new();
        for group in subject.groups(None, usize::MAX) {
            for (number, cell) in &group.cells {
                let Some(run) = runs.iter().find(|run| run.cell == *number) else { continue };
                let of_chart = || run.timeline.curves.iter().filter(|curve| curve.chart == chart);
                let points = of_chart().flat_map(|curve| &curve.points);
                let most = points.map(|(_, y)| *y).fold(0.0, f64::max);
                let area = |span: &trackbed_measure::timeline::Span| {
                    Mark::Area(look(&span.name), [span.from, 0.0], [span.until, most], Fill::Light)
                };
                let mut marks: Vec<Mark> = run.timeline.spans.iter().map(area).collect();
                for curve in of_chart() {
                    let points = curve.points.iter().map(|(x, y)| [*x, *y]).collect();
                    marks.push(Mark::Line(
                        curves.look(curve.name.clone(), || curve.name.clone()),
                        points,
                    ));
                }
                panels.push(Panel {
                    title: format!("{}, run {}", group.name(cell), run.run),
                    x: Axis::new("Time (s)", Scale::Linear),
                    y: Axis::new(subject.axis_name(), Scale::Linear),
                    marks,
                });
            }
        }
        let mut plot = curves.plot(panels, false);
        if plot.keys.is_empty() {
            let known = "throughput_mbps".to_owned();
            return Err(FigureError::NoCourse { metric: metric.to_owned(), known });
        }
        let areas = kinds.iter().map(|kind| Key::area(look(kind), Fill::Light, kind));
        plot.keys.extend(areas);
        let marks = "One run of each cell, the median one by the metric that ranks cells: examples, no averages.";
        Ok(subject.figure(Plot { aspect: 0.2, panel_width_min: 26.0, ..plot }, marks))
    }
}

/// `handover` of `handover, path 1`.
fn kind(span: &str) -> &str {
    span.split(',').next().unwrap_or(span)
}

/// A run to draw.
#[derive(Clone, Debug)]
pub struct CourseRun {
    /// The number of its cell.
    pub cell: u32,
    /// Its number in the cell.
    pub run: u32,
    /// What happened when.
    pub timeline: Timeline,
}

/// The number of the median one of a cell's runs, by a metric that can rank cells.
pub fn middle_run(runs: &[RunResult], metric: &str) -> Option<u32> {
    let mut ranks = Ranks::default();
    ranks.add(0, metrics::compared(metric)?.name, &runs.iter().collect::<Vec<_>>());
    ranks.middle(0)
}
