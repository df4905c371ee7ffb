//! Tracks and places on a map.

use trackbed_measure::timeline::Map;

use super::of_run;
use super::timeline::BUCKETS;
use crate::page::figure::{Axis, Figure, Series, Shape, View};
use crate::page::palette::SERIES;
use crate::page::thin;

/// The map of a run under `name`.
pub(in crate::page) fn figure(name: &str, map: &Map) -> Figure {
    let lines = map.lines.iter().map(|(name, points)| {
        let (x, y) = thin::line(points, BUCKETS);
        Series { name: name.clone(), x, y, ..Series::default() }
    });
    // A series with labels is drawn as places.
    let places = map.places.iter().map(|(name, places)| {
        let (x, y) = places.iter().map(|place| (place.east_km, place.north_km)).unzip();
        let labels = places.iter().map(|place| place.name.clone()).collect();
        Series { name: name.clone(), labels, x, y, ..Series::default() }
    });
    let mut series: Vec<Series> = lines.chain(places).collect();
    for (index, one) in series.iter_mut().enumerate() {
        (one.colour, one.dash) = (index % SERIES, index / SERIES);
    }
    let view = View {
        choice: Vec::new(),
        x: Axis::linear("east of the track's beginning", "km"),
        y: vec![Axis::linear("north of the track's beginning", "km")],
        series,
        marks: Vec::new(),
        caption: "Both axes have the same scale.".to_owned(),
    };
    let note = "The track, the part travelled in this run, the base stations and the handovers.";
    of_run("map", Shape::Map, format!("{name}: map"), note, view)
}
