//! How a page was loaded, object by object.

use std::time::Duration;

use trackbed_measure::waterfall::Bar;

use crate::page::figure::{Axis, Figure, Series, Shape, View};

/// Rows of one picture; the objects beyond are counted.
const ROWS_MAX: usize = 150;

pub(in crate::page) fn figure(title: &str, bars: &[Bar], number: usize, place: &str) -> Figure {
    let mut series = Series { name: "objects".to_owned(), ..Series::default() };
    for bar in bars.iter().take(ROWS_MAX) {
        let Bar { object, path, connection, .. } = bar;
        let on = connection.map_or_else(String::new, |number| format!(" on connection {number}"));
        series.labels.push(format!("{object} {path}{on}"));
        // Where the browser stood last: bars end there.
        let last = [bar.ready, bar.done, bar.begun, bar.requested];
        series.x.push(ms(last.into_iter().flatten().next().unwrap_or(bar.found)));
        let at = |time: Option<Duration>| time.map_or(f64::NAN, ms);
        series.add("found", ms(bar.found));
        series.add("requested", at(bar.requested));
        series.add("begun", at(bar.begun));
        series.add("done", at(bar.done));
        series.add("ready", at(bar.ready));
        series.add("bytes", bar.bytes as f64);
        series.add("requests", f64::from(bar.requests));
    }
    let missing = bars.iter().filter(|bar| bar.done.is_none()).count();
    let mut caption = format!("{} objects of one page of one run (n = 1)", bars.len());
    caption.push_str(&if missing == 0 {
        ".".to_owned()
    } else {
        format!("; {missing} never came.")
    });
    if bars.len() > ROWS_MAX {
        caption.push_str(&format!(" The first {ROWS_MAX} are drawn."));
    }
    let view = View {
        choice: Vec::new(),
        x: Axis::linear("time since the start", "ms"),
        y: vec![Axis::categories("object")],
        series: vec![series],
        marks: Vec::new(),
        caption,
    };
    Figure {
        id: format!("waterfall-{number}"),
        place: place.to_owned(),
        shape: Shape::Bars,
        title: title.to_owned(),
        note: "From when an object became known: until it was requested, until its response began, until \
               its last byte came, until it was parsed or executed."
            .to_owned(),
        choosers: Vec::new(),
        views: vec![view],
    }
}

fn ms(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e6
}
