//! Tests of the public interface: motion, radio and handover tables.

mod geometry;
mod gps;
mod learning;
mod logs;
mod radio;
mod tables;

use trackbed_railway::motion::{Coordinates, Track};

/// A straight track with a point each kilometre; `east` and `north` are its direction, of length 1.
fn straight_from(origin: Coordinates, east: f64, north: f64, kilometres: usize) -> Track {
    let next = |place: &Coordinates| Some(place.shifted_m(1_000.0 * east, 1_000.0 * north));
    Track::through(std::iter::successors(Some(origin), next).take(kilometres + 1)).unwrap()
}
