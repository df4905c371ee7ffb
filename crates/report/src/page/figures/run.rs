//! Figures of single runs: timelines, maps, page loads.

use std::time::Duration;

use trackbed_measure::timeline::{Chart, Map, Span, Timeline};
use trackbed_measure::waterfall::Bar;

use crate::figure::kinds::Curves;
use crate::figure::timeline::{self, Bands, ends};
use crate::page::figure::{Figure, WIDTHS};
use crate::plot::{Axis, Fill, Key, Look, Mark, Panel, Plot, Scale};

/// The element that contains them.
pub(crate) const RUNS: &str = "figures-runs";

/// Rows of one figure; further objects are only counted.
const ROWS_MAX: usize = 150;

/// The figures of the run called `name`, the first of them with this number.
pub(in crate::page) fn figures(
    name: &str,
    first: usize,
    timeline: &Timeline,
    bars: &[Bar],
) -> Vec<Figure> {
    let courses = LAYOUTS.iter().filter_map(|layout| course(layout, timeline));
    let drawn = courses.chain(timeline.map.as_ref().map(map)).chain(waterfall(bars));
    let named = (first..).zip(drawn).map(|(number, figure)| {
        let (id, title) = (format!("{}-{number}", figure.id), format!("{name}: {}", figure.title));
        Figure { id, title, ..figure }.drawn(&WIDTHS)
    });
    named.collect()
}

/// A figure with one view.
fn figure(id: &str, title: &str, note: &str, plot: Plot, caption: String) -> Figure {
    let mut figure = Figure::new(id.to_owned(), RUNS.to_owned(), title.to_owned(), note);
    figure.add(Vec::new(), plot, caption);
    figure
}

/// Panels that share an axis: what they show, and which events are shaded.
struct Layout {
    title: &'static str,
    note: &'static str,
    x: &'static str,
    charts: &'static [Chart],
    spans: fn(&Timeline) -> &[Span],
}

const LAYOUTS: [Layout; 3] = [
    Layout {
        title: "over time",
        note: "Throughput is measured at the far end of the link, including headers. A round-trip time \
               runs from a message's scheduled send time to its reply. Shaded: handovers, rebuffering.",
        x: "Time (s)",
        charts: &[Chart::Throughput, Chart::RoundTrips, Chart::Processor],
        spans: |timeline| &timeline.spans,
    },
    Layout {
        title: "transport state",
        note: "Congestion window and smoothed round-trip time of each side's first connection (per path \
               if it has several), as the transport (QUIC or TCP) reports them.",
        x: "Time since the connection began (s)",
        charts: &[Chart::CongestionWindow, Chart::SmoothedRtt],
        spans: |_| &[],
    },
    Layout {
        title: "along the track",
        note: "Power that the train receives from its serving base station. Shaded: handovers.",
        x: "Position (m)",
        charts: &[Chart::Power],
        spans: |timeline| &timeline.places,
    },
];

/// `None` without curves.
fn course(layout: &Layout, timeline: &Timeline) -> Option<Figure> {
    let spans = (layout.spans)(timeline);
    let (bands, mut curves) = (Bands::new(spans), Curves::default());
    let all = timeline.curves.iter().filter(|curve| layout.charts.contains(&curve.chart));
    let x = ends(all.flat_map(|curve| &curve.points).map(|(x, _)| *x))?;
    let x = Axis::new(layout.x, Scale::Ends(x[0], x[1]));
    let panel = |chart: &Chart| timeline::panel(*chart, timeline, (&bands, spans), &x, &mut curves);
    let panels = layout.charts.iter().filter_map(panel).collect();
    let mut plot =
        Plot { is_shared: false, aspect: 0.2, panel_width_min: 1e3, ..curves.plot(panels, false) };
    plot.keys.extend(bands.keys());
    let caption = "One run (n = 1): an example, not an average.".to_owned();
    Some(figure("timeline", layout.title, layout.note, plot, caption))
}

/// Tracks and places; both axes have the same scale.
fn map(map: &Map) -> Figure {
    let (mut keys, mut marks) = (Vec::new(), Vec::new());
    for (number, (name, points)) in map.lines.iter().enumerate() {
        let look = Look::series(number);
        timeline::add(look, name, points, &mut marks);
        keys.push(Key::curve(look, false, name));
    }
    for (number, (kind, places)) in (map.lines.len()..).zip(&map.places) {
        let look = Look::series(number);
        for place in places {
            let at = [place.east_km, place.north_km];
            marks.push(Mark::Dot(look, at, Fill::Full));
            marks.push(Mark::Value(format!("{} ({kind})", place.name), at, Vec::new()));
        }
        keys.push(Key::dot(look, Fill::Full, kind));
    }
    let places = marks.iter().filter_map(|mark| match mark {
        Mark::Value(_, at, _) => Some(*at),
        _ => None,
    });
    let places: Vec<[f64; 2]> = places.collect();
    let [x, y] = [0, 1].map(|axis| ends(places.iter().map(|at| at[axis])).unwrap_or([0.0, 1.0]));
    // A kilometre is as long in both directions.
    let width = 1.1 * (x[1] - x[0]).max((y[1] - y[0]) / MAP_ASPECT).max(1e-3);
    let axis = |name: &str, ends: [f64; 2], length: f64| {
        let middle = (ends[0] + ends[1]) / 2.0;
        Axis::new(name, Scale::Ends(middle - length / 2.0, middle + length / 2.0))
    };
    let x = axis("East of the track's beginning (km)", x, width);
    let y = axis("North (km)", y, width * MAP_ASPECT);
    let panels = vec![Panel { title: String::new(), x, y, marks }];
    let plot = Plot { keys, panels, aspect: MAP_ASPECT, panel_width_min: 1e3, ..Plot::default() };
    let note = "The track, the part travelled in this run, the base stations and the handovers.";
    figure("map", "map", note, plot, "Both axes have the same scale.".to_owned())
}

/// Height of a map as a share of its width, which fits every width of a page.
const MAP_ASPECT: f64 = 0.36;

/// The objects of the first phone that loaded a page; `None` without one.
fn waterfall(bars: &[Bar]) -> Option<Figure> {
    let first = bars.iter().map(|bar| bar.phone).min()?;
    let bars: Vec<&Bar> = bars.iter().filter(|bar| bar.phone == first).collect();
    let (mut names, mut marks) = (Vec::new(), Vec::new());
    for (row, bar) in (0..).map(f64::from).zip(bars.iter().take(ROWS_MAX)) {
        let Bar { object, path, connection, .. } = bar;
        let on = connection.map_or_else(String::new, |number| format!(" on connection {number}"));
        let times = [Some(bar.found), bar.requested, bar.begun, bar.done, bar.ready];
        let times =
            times.map(|time| time.map_or(f64::NAN, |time: Duration| time.as_nanos() as f64 / 1e6));
        for (phase, (_, colour)) in PHASES.iter().enumerate() {
            let [from, until] = [times[phase], times[phase + 1]];
            let corners = [[from, row - 0.3], [until, row + 0.3]];
            let area = || Mark::Area(Look::series(*colour), corners[0], corners[1], Fill::Full);
            marks.extend((from < until).then(area));
        }
        // Bars end at the last phase that the browser reached.
        let end = times.iter().copied().filter(|time| time.is_finite()).fold(0.0, f64::max);
        let name = format!("{object} {path}{on}");
        let more = [&times[..], &[bar.bytes as f64, f64::from(bar.requests)]].concat();
        marks.push(Mark::Value(name.clone(), [end, row], more));
        names.push(name);
    }
    let missing = bars.iter().filter(|bar| bar.done.is_none()).count();
    let mut caption = format!("{} objects of one page of one run (n = 1)", bars.len());
    caption.push_str(&if missing == 0 {
        ".".to_owned()
    } else {
        format!("; {missing} never arrived.")
    });
    if bars.len() > ROWS_MAX {
        caption.push_str(&format!(" Only the first {ROWS_MAX} are drawn."));
    }
    let keys =
        PHASES.map(|(name, colour)| Key::area(Look::series(colour), Fill::Full, name)).to_vec();
    let x = Axis::new("Time since the start (ms)", Scale::Linear);
    let panels =
        vec![Panel { title: String::new(), x, y: Axis::new("", Scale::Names(names)), marks }];
    let columns = vec!["found", "requested", "begun", "done", "ready", "bytes", "requests"];
    let note = "Phases of each object from its discovery: until the request, until the response began, \
                until the last byte arrived, until it was parsed or executed.";
    let plot = Plot { keys, panels, columns, ..Plot::default() };
    Some(figure("waterfall", "a page", note, plot, caption))
}

/// From one time of an object to the next, each with its colour.
const PHASES: [(&str, usize); 4] = [
    ("known, not requested", 6),
    ("waiting for the response", 2),
    ("receiving", 0),
    ("parsing or executing", 1),
];
