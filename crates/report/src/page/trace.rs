//! What a single run looked like, as a caller hands it in: timelines, maps, waterfalls.

use super::figure::Axis;

/// Panels one below the other along one axis: throughput, window, round-trip time over time, or
/// received power along a track.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What it is of: `cell 3, run 0: http3 1.3 new`.
    pub title: String,
    /// What it shows and how it is read, in a sentence or two; may be empty.
    pub note: String,
    /// The axis that all panels share.
    pub x: Axis,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// What happened meanwhile: handovers, stalls. They run through all panels.
    pub marks: Vec<Happening>,
}

/// One panel of a [`Timeline`].
#[derive(Clone, Debug)]
pub struct Panel {
    /// What its lines show.
    pub y: Axis,
    /// At most eight can be told apart.
    pub lines: Vec<Line>,
}

/// Points joined in their order. `x` and `y` have the same length; what is not finite is a gap.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is: `operator A`.
    pub name: String,
    /// Across, in the unit of that axis.
    pub x: Vec<f64>,
    /// Upwards, likewise.
    pub y: Vec<f64>,
}

/// Something that happened at a point or over a span of a timeline.
#[derive(Clone, Debug)]
pub struct Happening {
    /// In the unit of the timeline's axis.
    pub from: f64,
    /// Its end, where it took time.
    pub until: Option<f64>,
    /// What it was, in a word or two.
    pub label: String,
}

/// Lines and places seen from above, with one scale for both axes.
#[derive(Clone, Debug)]
pub struct Map {
    /// What it is of.
    pub title: String,
    /// What it shows and how it is read; may be empty.
    pub note: String,
    /// The axis across.
    pub x: Axis,
    /// The axis upwards, in the same unit.
    pub y: Axis,
    /// Tracks and the like.
    pub lines: Vec<Line>,
    /// Base stations and the like, joined by nothing, under the name of their kind.
    pub places: Vec<Places>,
}

/// Places of one kind on a [`Map`].
#[derive(Clone, Debug)]
pub struct Places {
    /// What they are: `base stations of A`.
    pub name: String,
    /// The name of each; as many as there are points.
    pub labels: Vec<String>,
    /// Across, in the unit of the map's axes.
    pub x: Vec<f64>,
    /// Upwards, likewise.
    pub y: Vec<f64>,
}
