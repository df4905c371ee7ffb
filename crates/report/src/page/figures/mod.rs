//! The kinds of figures, one per file: which data they need and how they lay it out.

mod difference;
mod distribution;
mod front;
mod load;
pub(super) mod map;
mod overview;
mod registry;
mod sweep;
mod tails;
pub(super) mod timeline;
pub(super) mod waterfall;

pub(crate) use registry::registry;

use super::figure::{Figure, Shape, View};

/// The element that contains the figures of single runs.
const RUNS: &str = "figures-runs";

/// A figure of a single run; the page numbers it.
fn of_run(kind: &str, shape: Shape, title: String, note: &str, view: View) -> Figure {
    Figure {
        id: kind.to_owned(),
        place: RUNS.to_owned(),
        shape,
        title,
        note: note.to_owned(),
        choosers: Vec::new(),
        views: vec![view],
    }
}
