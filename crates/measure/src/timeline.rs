//! How a single run went by, as curves and spans to be drawn.

/// A run, second by second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Curves, those that share axes one behind the other.
    pub curves: Vec<Curve>,
    /// What held for a while: handovers, rebuffering.
    pub spans: Vec<Span>,
    /// Where handovers are along a track, by the names of operators.
    pub places: Vec<Span>,
    /// Where all this was, if that is known.
    pub map: Option<Map>,
}

/// Lines and places on a plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Ways, each with its name and its points: kilometres east and north of the first way's beginning.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
    /// Places, those of one kind under its name.
    pub places: Vec<(String, Vec<Place>)>,
}

/// A place on a [`Map`].
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// What it is called.
    pub name: String,
    /// Kilometres east of the beginning.
    pub east_km: f64,
    /// Kilometres north of it.
    pub north_km: f64,
}

/// A curve of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The chart that it belongs to.
    pub chart: Chart,
    /// What it is of, for example `down`.
    pub name: String,
    /// The points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// The charts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chart {
    /// Mbit/s over seconds, what arrived at the far end of the link, IP headers included.
    Throughput,
    /// Milliseconds from each message's intended time to its answer, over seconds.
    RoundTrips,
    /// Bytes that may be in flight, over seconds since the connection began.
    CongestionWindow,
    /// Smoothed round-trip time in milliseconds as a transport sees it, over seconds since the connection
    /// began.
    SmoothedRtt,
    /// Percent of a core over seconds.
    Processor,
    /// Received power in dBm over metres along the track.
    Power,
}

/// A span of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What held, for example `handover`.
    pub name: String,
    /// From when or where.
    pub from: f64,
    /// Until when or where.
    pub until: f64,
}
