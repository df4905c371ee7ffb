//! Figures of how single runs went by, and of how their pages were loaded.

use trackbed_measure::timeline::{Chart, Curve, Span, Timeline};
use trackbed_measure::waterfall::Bar;

use super::figure::{Axis, Figure, Kind, Mark, Panel, Point, Series};

/// A run that was watched.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The part of the scenario that its cell belongs to; "" without parts.
    pub section: String,
    /// What cell and run are called.
    pub name: String,
    /// How it went by.
    pub timeline: Timeline,
    /// How its pages were loaded.
    pub bars: Vec<Bar>,
}

/// What a chart of runs is called, and its axes.
struct Layout {
    chart: Chart,
    id: &'static str,
    title: &'static str,
    note: &'static str,
    x: (&'static str, &'static str),
    y: (&'static str, &'static str),
}

const LAYOUTS: [Layout; 6] = [
    Layout {
        chart: Chart::Throughput,
        id: "run-throughput",
        title: "A typical run: throughput",
        note: "What arrived at the far end of the link, headers included. Shaded: handovers, rebuffering.",
        x: ("time", "s"),
        y: ("throughput", "Mbit/s"),
    },
    Layout {
        chart: Chart::RoundTrips,
        id: "run-round-trips",
        title: "A typical run: messages",
        note: "From the time at which a message was to be sent to its answer.",
        x: ("time", "s"),
        y: ("round-trip time", "ms"),
    },
    Layout {
        chart: Chart::CongestionWindow,
        id: "run-window",
        title: "A typical run: congestion window",
        note: "Of the first connection over QUIC, as its trace (qlog) has it.",
        x: ("time since the connection began", "s"),
        y: ("congestion window", "bytes"),
    },
    Layout {
        chart: Chart::SmoothedRtt,
        id: "run-smoothed-rtt",
        title: "A typical run: round-trip time as QUIC estimates it",
        note: "Of the first connection, as its trace (qlog) has it.",
        x: ("time since the connection began", "s"),
        y: ("smoothed round-trip time", "ms"),
    },
    Layout {
        chart: Chart::Processor,
        id: "run-processor",
        title: "A typical run: processor time",
        note: "Second by second.",
        x: ("time", "s"),
        y: ("processor time", "% of a core"),
    },
    Layout {
        chart: Chart::Power,
        id: "run-power",
        title: "Along the track: received power",
        note: "What the train receives from the station that serves it. Shaded: handovers.",
        x: ("place", "m"),
        y: ("RSRP", "dBm"),
    },
];

/// The figures of the runs of a section, a panel for each run.
pub(super) fn figures(section: &str, runs: &[Watched]) -> Vec<Figure> {
    let runs: Vec<&Watched> = runs.iter().filter(|run| run.section == section).collect();
    let prefix = super::figures::slug(section);
    let charts = LAYOUTS.iter().map(|layout| {
        let panel = |run: &&Watched| panel(layout.chart, run);
        Figure {
            id: format!("{prefix}{}", layout.id),
            title: layout.title.to_owned(),
            note: layout.note.to_owned(),
            kind: Kind::Line,
            x: Axis::plain(layout.x.0, layout.x.1),
            y: Axis::plain(layout.y.0, layout.y.1),
            panels: runs.iter().filter_map(panel).collect(),
        }
    });
    let waterfall = Figure {
        id: format!("{prefix}run-waterfall"),
        title: "A typical page: waterfall".to_owned(),
        note: "Each object from when it was known to its last byte: waiting for its turn, for its first \
               byte, and loading."
            .to_owned(),
        kind: Kind::Spans,
        x: Axis::plain("time", "ms"),
        y: Axis::plain("object", ""),
        panels: runs.iter().filter_map(|run| waterfall(run)).collect(),
    };
    charts.chain([waterfall]).filter(|figure| !figure.panels.is_empty()).collect()
}

fn panel(chart: Chart, run: &Watched) -> Option<Panel> {
    let timeline = &run.timeline;
    let series = |curve: &Curve| Series {
        name: curve.name.clone(),
        points: curve
            .points
            .iter()
            .map(|(x, y)| Point { x: *x, y: Some(*y), ..Point::default() })
            .collect(),
    };
    let curves = timeline.curves.iter().filter(|curve| curve.chart == chart);
    let series: Vec<Series> = curves.map(series).collect();
    let spans: &[Span] = match chart {
        Chart::Throughput | Chart::RoundTrips => &timeline.spans,
        Chart::Power => &timeline.places,
        Chart::CongestionWindow | Chart::SmoothedRtt | Chart::Processor => &[],
    };
    let mark = |span: &Span| Mark {
        name: span.name.clone(),
        vertical: true,
        at: span.from,
        until: Some(span.until),
    };
    let marks = spans.iter().map(mark).collect();
    (!series.is_empty()).then(|| Panel { name: run.name.clone(), series, marks })
}

fn waterfall(run: &Watched) -> Option<Panel> {
    let first = run.bars.iter().map(|bar| bar.phone).min()?;
    let bars = run.bars.iter().filter(|bar| bar.phone == first);
    let phases = ["waiting for its turn", "waiting for the first byte", "loading"];
    let mut series: Vec<Series> =
        phases.map(|name| Series { name: name.to_owned(), points: Vec::new() }).into();
    for bar in bars.take(OBJECTS_MAX) {
        let times = [Some(bar.found), bar.requested, bar.begun, bar.done];
        let ms = times.map(|time| time.map(|time| time.as_secs_f64() * 1e3));
        for (phase, ends) in series.iter_mut().zip(ms.windows(2)) {
            if let [Some(from), Some(until)] = ends {
                phase.points.push(Point {
                    x: *from,
                    interval: Some([*from, *until]),
                    name: Some(format!("{} {}", bar.object, bar.path)),
                    ..Point::default()
                });
            }
        }
    }
    Some(Panel { name: run.name.clone(), series, marks: Vec::new() })
}

/// More rows are no picture.
const OBJECTS_MAX: usize = 60;
