//! The figures of a single run as the caller provides them: timelines and maps.

use super::figure::Axis;

/// Panels stacked along one axis: throughput, window and round-trip time over time, or received
/// power along a track.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Its title: `cell 3, run 0: http3 1.3 new`.
    pub title: String,
    /// What it shows and how to read it, in a sentence or two; may be empty.
    pub note: String,
    /// The shared axis of all panels.
    pub x: Axis,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// Events meanwhile: handovers, stalls. They are drawn across all panels.
    pub marks: Vec<Happening>,
}

/// One panel of a [`Timeline`].
#[derive(Clone, Debug)]
pub struct Panel {
    /// The quantity of its lines.
    pub y: Axis,
    /// At most eight can be distinguished.
    pub lines: Vec<Line>,
}

/// Points joined in order. `x` and `y` have the same length; a non-finite value is a gap.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name: `operator A`.
    pub name: String,
    /// Horizontal values, in the unit of that axis.
    pub x: Vec<f64>,
    /// Vertical values, in the unit of that axis.
    pub y: Vec<f64>,
}

/// An event at a point or over a span of a timeline.
#[derive(Clone, Debug)]
pub struct Happening {
    /// In the unit of the timeline's axis.
    pub from: f64,
    /// Its end, if it took time.
    pub until: Option<f64>,
    /// A word or two.
    pub label: String,
}

/// Lines and places on a map, with the same scale on both axes.
#[derive(Clone, Debug)]
pub struct Map {
    /// Its title.
    pub title: String,
    /// What it shows and how to read it; may be empty.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis, in the same unit.
    pub y: Axis,
    /// Tracks and the like.
    pub lines: Vec<Line>,
    /// Base stations and other unconnected places, grouped by kind.
    pub places: Vec<Places>,
}

/// Places of one kind on a [`Map`].
#[derive(Clone, Debug)]
pub struct Places {
    /// Their kind: `base stations of A`.
    pub name: String,
    /// The name of each place.
    pub labels: Vec<String>,
    /// Horizontal positions, in the unit of the map's axes.
    pub x: Vec<f64>,
    /// Vertical positions, in the unit of the map's axes.
    pub y: Vec<f64>,
}
