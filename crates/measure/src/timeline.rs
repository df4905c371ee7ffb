//! The course of a single run, as curves and spans to be drawn.

/// A run, second by second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Curves, those with the same axes next to one another.
    pub curves: Vec<Curve>,
    /// Periods: handovers, rebuffering.
    pub spans: Vec<Span>,
    /// Places of handovers along a track, by the names of operators.
    pub places: Vec<Span>,
    /// A map of the places, if they are known.
    pub map: Option<Map>,
}

/// Lines and places on a plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Lines, each with its name and its points: kilometres east and north of the first line's
    /// beginning.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
    /// Places by the name of their kind.
    pub places: Vec<(String, Vec<Place>)>,
}

/// A place on a [`Map`].
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Kilometres east of the beginning.
    pub east_km: f64,
    /// Kilometres north of it.
    pub north_km: f64,
}

/// A curve of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The chart with the curve.
    pub chart: Chart,
    /// Its name, for example `down`.
    pub name: String,
    /// The points from left to right.
    pub points: Vec<(f64, f64)>,
}

/// The charts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chart {
    /// Throughput in Mbit/s over seconds, at the far end of the link, IP headers included.
    Throughput,
    /// Milliseconds from each message's intended time to its answer, over seconds.
    RoundTrips,
    /// The congestion window in bytes, over seconds since the connection began (QUIC) or was
    /// established (TCP).
    CongestionWindow,
    /// Smoothed round-trip time of a transport in milliseconds, over seconds since the connection
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
    /// Its name, for example `handover`.
    pub name: String,
    /// Its start, in the unit of the axis.
    pub from: f64,
    /// Its end.
    pub until: f64,
}
