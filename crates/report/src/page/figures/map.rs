//! Tracks and places on a map.

use super::timeline::BUCKETS;
use crate::page::figure::{Figure, Series, Shape, View};
use crate::page::palette::SERIES;
use crate::page::thin;
use crate::page::trace::Map;

pub(in crate::page) fn figure(map: &Map, number: usize, place: &str) -> Figure {
    let lines = map.lines.iter().map(|line| {
        let (x, y) = thin::line(&line.x, &line.y, BUCKETS);
        Series { name: line.name.clone(), x, y, ..Series::default() }
    });
    // A series with labels is drawn as places.
    let places = map.places.iter().map(|places| Series {
        name: places.name.clone(),
        labels: places.labels.clone(),
        x: places.x.clone(),
        y: places.y.clone(),
        ..Series::default()
    });
    let mut series: Vec<Series> = lines.chain(places).collect();
    for (index, one) in series.iter_mut().enumerate() {
        (one.colour, one.dash) = (index % SERIES, index / SERIES);
    }
    let view = View {
        choice: Vec::new(),
        x: map.x.clone(),
        y: vec![map.y.clone()],
        series,
        marks: Vec::new(),
        caption: "Both axes have the same scale.".to_owned(),
    };
    Figure {
        id: format!("map-{number}"),
        place: place.to_owned(),
        shape: Shape::Map,
        title: map.title.clone(),
        note: map.note.clone(),
        choosers: Vec::new(),
        views: vec![view],
    }
}
