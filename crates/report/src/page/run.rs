//! The figures of a single run.

use trackbed_measure::timeline::{self, Chart, Curve, Span};
use trackbed_measure::waterfall::Bar;

use super::figure::Axis;
use super::trace::{Happening, Line, Map, Panel, Places, Timeline};

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The index of its cell in the document.
    pub cell: u32,
    /// Its number in the cell.
    pub run: u32,
    /// Its timeline.
    pub timeline: timeline::Timeline,
    /// Its page loads.
    pub bars: Vec<Bar>,
}

/// Panels that share an axis.
struct Layout {
    /// What the figure shows.
    title: &'static str,
    note: &'static str,
    x: (&'static str, &'static str),
    panels: &'static [(Chart, &'static str, &'static str)],
    /// Events along that axis.
    marks: fn(&timeline::Timeline) -> &[Span],
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
pub(super) fn timelines(name: &str, timeline: &timeline::Timeline) -> Vec<Timeline> {
    let laid_out = |layout: &Layout| {
        let panels = layout.panels.iter().filter_map(|(chart, quantity, unit)| {
            let curves = timeline.curves.iter().filter(|curve| curve.chart == *chart);
            let lines: Vec<Line> = curves.map(line).collect();
            (!lines.is_empty()).then(|| Panel { y: Axis::linear(*quantity, *unit), lines })
        });
        let panels: Vec<Panel> = panels.collect();
        let mark = |span: &Span| Happening {
            from: span.from,
            until: Some(span.until),
            label: span.name.clone(),
        };
        (!panels.is_empty()).then(|| Timeline {
            title: format!("{name}: {}", layout.title),
            note: layout.note.to_owned(),
            x: Axis::linear(layout.x.0, layout.x.1),
            panels,
            marks: (layout.marks)(timeline).iter().map(mark).collect(),
        })
    };
    LAYOUTS.iter().filter_map(laid_out).collect()
}

fn line(curve: &Curve) -> Line {
    let (x, y) = curve.points.iter().copied().unzip();
    Line { name: curve.name.clone(), x, y }
}

/// The map of a run under `name`, if its location is known.
pub(super) fn map(name: &str, timeline: &timeline::Timeline) -> Option<Map> {
    let timeline::Map { lines, places } = timeline.map.as_ref()?;
    let lines = lines.iter().map(|(name, points)| {
        let (x, y) = points.iter().copied().unzip();
        Line { name: name.clone(), x, y }
    });
    let places = places.iter().map(|(name, those)| {
        let (x, y) = those.iter().map(|place| (place.east_km, place.north_km)).unzip();
        let labels = those.iter().map(|place| place.name.clone()).collect();
        Places { name: name.clone(), labels, x, y }
    });
    Some(Map {
        title: format!("{name}: map"),
        note: "The track, the part travelled in this run, the base stations and the handovers."
            .to_owned(),
        x: Axis::linear("east of the track's beginning", "km"),
        y: Axis::linear("north of the track's beginning", "km"),
        lines: lines.collect(),
        places: places.collect(),
    })
}

/// The objects of the first phone that loaded a page.
pub(super) fn page_of(bars: &[Bar]) -> Vec<Bar> {
    let first = bars.iter().map(|bar| bar.phone).min();
    bars.iter().filter(|bar| Some(bar.phone) == first).cloned().collect()
}
