//! A quantity over the time of single runs, one below the other.

use trackbed_measure::lists::distinct;
use trackbed_measure::metrics;
use trackbed_measure::results::RunResult;
use trackbed_measure::timeline::{Chart, Span, Timeline};

use super::kinds::Curves;
use super::{Figure, FigureError, Subject};
use crate::page::ranks::Ranks;
use crate::page::{thin, words};
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
        let subject = Subject { metric, ..subject.clone() };
        let bands = Bands::new(runs.iter().flat_map(|run| &run.timeline.spans));
        let mut curves = Curves::default();
        let mut panels = Vec::new();
        let x = Axis::new("Time (s)", Scale::Linear);
        for group in subject.groups(&[], usize::MAX) {
            for (number, cell) in &group.cells {
                let Some(run) = runs.iter().find(|run| run.cell == *number) else { continue };
                let shaded = (&bands, &run.timeline.spans[..]);
                let drawn = panel(chart, &run.timeline, shaded, &x, &mut curves);
                let title = format!("{}, run {}", group.name(cell), run.run);
                panels.extend(drawn.map(|panel| Panel { title, ..panel }));
            }
        }
        let mut plot = curves.plot(panels, false);
        if plot.keys.is_empty() {
            let known = "throughput_mbps".to_owned();
            return Err(FigureError::NoCourse { metric: metric.to_owned(), known });
        }
        plot.keys.extend(bands.keys());
        let marks = "One run of each cell, the median one by the metric that ranks cells: examples, no averages.";
        Ok(subject.figure(Plot { aspect: 0.2, panel_width_min: 26.0, ..plot }, marks))
    }
}

/// The curves of a chart over periods that are shaded; `None` if it has none.
pub(crate) fn panel(
    chart: Chart,
    timeline: &Timeline,
    (bands, spans): (&Bands, &[Span]),
    x: &Axis,
    curves: &mut Curves,
) -> Option<Panel> {
    let of_chart = || timeline.curves.iter().filter(|curve| curve.chart == chart);
    let [low, high] = ends(of_chart().flat_map(|curve| &curve.points).map(|(_, y)| *y))?;
    let room = (high - low).max(high.abs() * 1e-3).max(1e-9) * 0.04;
    let low = if low >= 0.0 && low < 0.35 * high { 0.0 } else { low - room };
    let mut marks: Vec<Mark> = bands.marks(spans, [low, high + room]).collect();
    for curve in of_chart() {
        let (look, name) = curves.look(curve.name.clone(), || curve.name.clone());
        add(look, name, &curve.points, &mut marks);
    }
    let metric = COURSES.iter().find(|it| it.1 == chart).map_or("RSRP_dbm", |it| it.0);
    let y = Axis::new(words::axis(metric), Scale::Ends(low, high + room));
    Some(Panel { title: String::new(), x: x.clone(), y, marks })
}

/// Adds a line with as many points as a figure has room for, and their values.
pub(crate) fn add(look: Look, name: &str, points: &[(f64, f64)], marks: &mut Vec<Mark>) {
    let (x, y) = thin::line(points, BUCKETS);
    let points: Vec<[f64; 2]> = x.into_iter().zip(y).map(|(x, y)| [x, y]).collect();
    let values = points.iter().filter(|point| point[1].is_finite());
    marks.extend(values.map(|point| Mark::Value(name.to_owned(), *point, Vec::new())));
    marks.push(Mark::Line(look, points));
}

/// Buckets of a line whose extremes are kept: about one for every third pixel.
const BUCKETS: usize = 250;

/// The least and the largest finite value, if there is one.
pub(crate) fn ends(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let finite = values.filter(|value| value.is_finite()).map(|value| [value, value]);
    finite.reduce(|[low, high], [value, _]| [low.min(value), high.max(value)])
}

/// Periods behind curves, by their kinds: `handover` of `handover, path 1`.
pub(crate) struct Bands(Vec<String>);

impl Bands {
    pub fn new<'a>(spans: impl IntoIterator<Item = &'a Span>) -> Bands {
        Bands(distinct(spans.into_iter().map(|span| Bands::kind(span).to_owned())))
    }

    fn kind(span: &Span) -> &str {
        span.name.split(',').next().unwrap_or(&span.name)
    }

    fn look(number: usize) -> Look {
        if number == 0 { Look::INK } else { Look::series(number) }
    }

    /// Between these ends of the y axis.
    pub fn marks(&self, spans: &[Span], [low, high]: [f64; 2]) -> impl Iterator<Item = Mark> {
        spans.iter().map(move |span| {
            let number = self.0.iter().position(|known| *known == Bands::kind(span));
            let look = Bands::look(number.unwrap_or(0));
            Mark::Area(look, [span.from, low], [span.until, high], Fill::Light)
        })
    }

    pub fn keys(&self) -> impl Iterator<Item = Key> {
        let key =
            |(number, kind): (usize, &String)| Key::area(Bands::look(number), Fill::Light, kind);
        self.0.iter().enumerate().map(key)
    }
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
