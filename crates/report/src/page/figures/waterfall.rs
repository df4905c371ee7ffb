//! How a page was loaded, object by object.

use std::time::Duration;

use trackbed_measure::waterfall::Bar;

use super::of_run;
use crate::page::figure::{Axis, Figure, Series, Shape, View};

/// Rows of one figure; further objects are only counted.
const ROWS_MAX: usize = 150;

/// The objects of the first phone that loaded a page in the run called `name`; `None` without one.
pub(in crate::page) fn figure(name: &str, bars: &[Bar]) -> Option<Figure> {
    let first = bars.iter().map(|bar| bar.phone).min()?;
    let bars: Vec<&Bar> = bars.iter().filter(|bar| bar.phone == first).collect();
    let mut series = Series { name: "objects".to_owned(), ..Series::default() };
    for bar in bars.iter().take(ROWS_MAX) {
        let Bar { object, path, connection, .. } = bar;
        let on = connection.map_or_else(String::new, |number| format!(" on connection {number}"));
        series.labels.push(format!("{object} {path}{on}"));
        // Bars end at the last phase that the browser reached.
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
        format!("; {missing} never arrived.")
    });
    if bars.len() > ROWS_MAX {
        caption.push_str(&format!(" Only the first {ROWS_MAX} are drawn."));
    }
    let view = View {
        choice: Vec::new(),
        x: Axis::linear("time since the start", "ms"),
        y: vec![Axis::categories("object")],
        series: vec![series],
        marks: Vec::new(),
        caption,
    };
    let note = "Phases of each object from its discovery: until the request, until the response began, \
                until the last byte arrived, until it was parsed or executed.";
    Some(of_run("waterfall", Shape::Bars, format!("{name}: a page"), note, view))
}

fn ms(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e6
}
