//! Timelines of single runs.

use crate::page::figure::{Along, Figure, Mark, Series, Shape, View};
use crate::page::palette::SERIES;
use crate::page::thin;
use crate::page::trace::Timeline;

/// Buckets of a line whose extremes are kept: about one for every second pixel.
pub(in crate::page) const BUCKETS: usize = 400;

pub(in crate::page) fn figure(timeline: &Timeline, number: usize, place: &str) -> Figure {
    let mut series = Vec::new();
    // Lines of the same name have the same colour in all panels.
    let mut names: Vec<&str> = Vec::new();
    for (panel, content) in timeline.panels.iter().enumerate() {
        for line in &content.lines {
            let known = names.iter().position(|name| *name == line.name);
            let colour = known.unwrap_or_else(|| {
                names.push(&line.name);
                names.len() - 1
            });
            let (x, y) = thin::line(&line.x, &line.y, BUCKETS);
            series.push(Series {
                name: line.name.clone(),
                colour: colour % SERIES,
                dash: colour / SERIES,
                panel,
                x,
                y,
                ..Series::default()
            });
        }
    }
    let marks = timeline.marks.iter().map(|mark| Mark {
        axis: Along::X,
        from: mark.from,
        until: mark.until,
        label: mark.label.clone(),
    });
    let view = View {
        choice: Vec::new(),
        x: timeline.x.clone(),
        y: timeline.panels.iter().map(|panel| panel.y.clone()).collect(),
        series,
        marks: marks.collect(),
        caption: "One run (n = 1): an example, not an average.".to_owned(),
    };
    Figure {
        id: format!("timeline-{number}"),
        place: place.to_owned(),
        shape: Shape::Panels,
        title: timeline.title.clone(),
        note: timeline.note.clone(),
        choosers: Vec::new(),
        views: vec![view],
    }
}
