//! Figures as plain data: what the page's script draws, and what it writes as CSV.

use serde::Serialize;

/// A figure, for one or several conditions among which the reader chooses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it is called on the page, and files that are saved of it.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// How it is drawn.
    pub kind: Kind,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis; of ordinal kinds what its rows are.
    pub y: Axis,
    /// What is drawn, for each condition.
    pub panels: Vec<Panel>,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Lines from point to point, with a band where points have an interval.
    Line,
    /// Steps: the share of values up to each.
    Steps,
    /// Rows: a mark with its interval, and a thin line from the smallest to the largest value.
    Rows,
    /// Bars from a beginning to an end, below one another.
    Spans,
    /// Single points, with their names.
    Points,
}

/// An axis. Every one says its unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// What is drawn along it.
    pub label: String,
    /// Its unit; "" for a pure number or a name.
    pub unit: String,
    /// Whether equal steps are equal factors.
    pub log: bool,
}

/// One condition of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// The condition; "" if there is only one.
    pub name: String,
    /// What is drawn, each in a colour and a dash of its own.
    pub series: Vec<Series>,
    /// Lines across: deadlines, handovers, zero.
    pub marks: Vec<Mark>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What they are of.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<Point>,
}

/// A point. What is not there is not drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// Where; of rows and spans the value or the beginning.
    pub x: f64,
    /// How high; nothing in rows and spans, whose place is their name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    /// An interval of `y`, or of `x` in rows; of spans the end is its second number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The smallest and the largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The row, or what the point is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A line across a panel, or a band of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// What it marks.
    pub name: String,
    /// Whether its place is on the horizontal axis.
    pub vertical: bool,
    /// Where.
    pub at: f64,
    /// Up to where, if it is a band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
}

impl Axis {
    /// Of a metric, whose name ends in its unit.
    pub fn of_metric(metric: &str) -> Axis {
        let (name, unit) = metric.rsplit_once('_').unwrap_or((metric, ""));
        if let Some((_, label, unit)) = LABELS.iter().find(|(known, ..)| *known == metric) {
            return Axis::plain(label, unit);
        }
        Axis { label: name.replace('_', " "), unit: unit_text(unit).to_owned(), log: false }
    }

    /// Of a factor, whose name may end in a unit.
    pub fn of_factor(factor: &str) -> Axis {
        match factor.rsplit_once('_') {
            Some((_, unit)) if UNITS.iter().any(|(name, _)| *name == unit) => {
                Axis::of_metric(factor)
            }
            _ => Axis::plain(&factor.replace('_', " "), ""),
        }
    }

    /// With a label and a unit.
    pub fn plain(label: &str, unit: &str) -> Axis {
        Axis { label: label.to_owned(), unit: unit.to_owned(), log: false }
    }
}

/// A unit as people write it.
fn unit_text(unit: &str) -> &str {
    UNITS.iter().find(|(name, _)| *name == unit).map_or(unit, |(_, text)| text)
}

/// Metrics that have a better name than their own.
const LABELS: [(&str, &str, &str); 6] = [
    ("rtt_ms", "round-trip time", "ms"),
    ("plt_ms", "page load time", "ms"),
    ("ttfb_ms", "time to first byte", "ms"),
    ("fps", "inference", "frames/s"),
    ("cpu_percent", "processor time", "% of a core"),
    ("completion_ms", "completion time", "ms"),
];

/// The units in which names of metrics and factors end.
const UNITS: [(&str, &str); 12] = [
    ("ms", "ms"),
    ("mbps", "Mbit/s"),
    ("bps", "bit/s"),
    ("kmh", "km/h"),
    ("hz", "1/s"),
    ("bytes", "bytes"),
    ("percent", "%"),
    ("ratio", "share"),
    ("count", "number"),
    ("celsius", "°C"),
    ("watts", "W"),
    ("m", "m"),
];

impl Panel {
    /// Whether there is anything to see.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }
}
