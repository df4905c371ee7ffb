//! Timelines of single runs.

use trackbed_measure::timeline::{Chart, Curve, Span, Timeline};

use super::of_run;
use crate::page::figure::{Along, Axis, Figure, Mark, Series, Shape, View};
use crate::page::palette::SERIES;
use crate::page::thin;

/// Buckets of a line whose extremes are kept: about one for every second pixel.
pub(super) const BUCKETS: usize = 400;

/// Panels that share an axis.
struct Layout {
    /// What the figure shows.
    title: &'static str,
    note: &'static str,
    x: (&'static str, &'static str),
    panels: &'static [(Chart, &'static str, &'static str)],
    /// Events along that axis.
    marks: fn(&Timeline) -> &[Span],
}

const LAYOUTS: [Layout; 3] = [
    Layout {
        title: "over time",
        note: "Throughput is measured at the far end of the link, including headers. A round-trip time \
               runs from a message's scheduled send time to its reply. Shaded: handovers, rebuffering.",
        x: ("time", "s"),
        panels: &[
            (Chart::Throughput, "throughput", "Mbit/s"),
            (Chart::RoundTrips, "round-trip time", "ms"),
            (Chart::Processor, "processor time", "% of a core"),
        ],
        marks: |timeline| &timeline.spans,
    },
    Layout {
        title: "transport state",
        note: "Congestion window and smoothed round-trip time of each side's first connection (per path \
               if it has several), as the transport (QUIC or TCP) reports them.",
        x: ("time since the connection began", "s"),
        panels: &[
            (Chart::CongestionWindow, "congestion window", "B"),
            (Chart::SmoothedRtt, "smoothed round-trip time", "ms"),
        ],
        marks: |_| &[],
    },
    Layout {
        title: "along the track",
        note: "Power that the train receives from its serving base station. Shaded: handovers.",
        x: ("position", "m"),
        panels: &[(Chart::Power, "RSRP", "dBm")],
        marks: |timeline| &timeline.places,
    },
];

/// The timelines of a run under `name`; none without curves.
pub(in crate::page) fn figures(name: &str, timeline: &Timeline) -> impl Iterator<Item = Figure> {
    LAYOUTS.iter().filter_map(move |layout| figure(layout, name, timeline))
}

fn figure(layout: &Layout, name: &str, timeline: &Timeline) -> Option<Figure> {
    let (mut panels, mut series) = (Vec::new(), Vec::new());
    // Curves of the same name have the same colour in all panels.
    let mut names: Vec<&str> = Vec::new();
    for (chart, quantity, unit) in layout.panels {
        let curves = || timeline.curves.iter().filter(|curve| curve.chart == *chart);
        for Curve { name, points, .. } in curves() {
            let known = names.iter().position(|other| other == name);
            let colour = known.unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            let (x, y) = thin::line(points, BUCKETS);
            series.push(Series {
                name: name.clone(),
                colour: colour % SERIES,
                dash: colour / SERIES,
                panel: panels.len(),
                x,
                y,
                ..Series::default()
            });
        }
        panels.extend(curves().next().map(|_| Axis::linear(*quantity, *unit)));
    }
    let marks = (layout.marks)(timeline).iter().map(|span| Mark {
        axis: Along::X,
        from: span.from,
        until: Some(span.until),
        label: span.name.clone(),
    });
    (!panels.is_empty()).then(|| {
        let view = View {
            choice: Vec::new(),
            x: Axis::linear(layout.x.0, layout.x.1),
            y: panels,
            series,
            marks: marks.collect(),
            caption: "One run (n = 1): an example, not an average.".to_owned(),
        };
        of_run("timeline", Shape::Panels, format!("{name}: {}", layout.title), layout.note, view)
    })
}
