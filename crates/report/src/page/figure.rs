//! A figure of the page with its texts: its drawings, and the values in them for the script.

use std::mem::take;

use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

use crate::plot::{Mark, Plot};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    /// Unique on the page; also the name of downloaded files.
    pub id: String,
    /// The element that contains it.
    #[serde(skip)]
    pub place: String,
    pub title: String,
    /// What it shows and how to read it.
    #[serde(skip)]
    pub note: String,
    /// The reader's choices, each with its options.
    pub choosers: Vec<Chooser>,
    /// A view for each combination of choices.
    pub views: Vec<View>,
    /// The drawing of the first view, which stands in the page itself.
    #[serde(skip)]
    pub first: String,
}

/// A choice between views.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Chooser {
    pub name: &'static str,
    pub options: Vec<String>,
    /// What each option means, where that needs an explanation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}

/// What is drawn for one choice.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct View {
    /// The index of the chosen option of each chooser.
    pub choice: Vec<usize>,
    /// What is drawn; the script gets its values.
    #[serde(serialize_with = "told")]
    pub plot: Plot,
    /// The number of runs behind it, and what is missing.
    pub caption: String,
    /// The drawing, one element for each width; empty for the first view.
    pub svg: String,
}

/// More panels are views of their own.
const PANELS_MAX: usize = 6;

/// The widths that each figure is drawn for, in pixels: a phone's, half a screen's, a screen's.
pub(crate) const WIDTHS: [f64; 3] = [360.0, 560.0, 1060.0];

impl Figure {
    /// A figure without views.
    pub fn new(id: String, place: String, title: String, note: &str) -> Figure {
        let (choosers, views, first) = (Vec::new(), Vec::new(), String::new());
        Figure { id, place, title, note: note.to_owned(), choosers, views, first }
    }

    /// Adds a view, unless nothing is drawn in it.
    pub fn add(&mut self, choice: Vec<usize>, mut plot: Plot, caption: String) {
        // Half a screen's width has two panels.
        plot.panel_width_min = plot.panel_width_min.max(20.0);
        let is_drawn = |mark: &Mark| matches!(mark, Mark::Value(..));
        if plot.panels.iter().any(|panel| panel.marks.iter().any(is_drawn)) {
            self.views.push(View { choice, plot, caption, svg: String::new() });
        }
    }

    /// Draws all views; panels become views where there are many.
    pub fn drawn(mut self, widths: &[f64]) -> Figure {
        if self.views.iter().any(|view| view.plot.panels.len() > PANELS_MAX) {
            let mut options = Vec::new();
            let views = take(&mut self.views).into_iter().flat_map(|view| {
                let View { choice, plot, caption, .. } = view;
                let parts: Vec<View> = plot
                    .panels
                    .iter()
                    .map(|panel| {
                        let known = options.iter().position(|option| *option == panel.title);
                        let option = known.unwrap_or_else(|| {
                            options.push(panel.title.clone());
                            options.len() - 1
                        });
                        let plot = Plot { panels: vec![panel.clone()], ..plot.clone() };
                        let choice = [&choice[..], &[option]].concat();
                        View { choice, plot, caption: caption.clone(), svg: String::new() }
                    })
                    .collect();
                parts
            });
            self.views = views.collect();
            self.choosers.push(Chooser { name: "condition", options, help: Vec::new() });
        }
        self.views.iter_mut().for_each(|view| view.svg = view.plot.inline(widths));
        self.first = self.views.first_mut().map(|view| take(&mut view.svg)).unwrap_or_default();
        self
    }

    /// The bytes of its drawings.
    pub fn size(&self) -> usize {
        self.first.len() + self.views.iter().map(|view| view.svg.len()).sum::<usize>()
    }

    /// Only its title, and why.
    pub fn left_out(self, cells: usize) -> Figure {
        let note = format!(
            "Not drawn: {cells} cells make it too large for a page. `trackbed figure` draws it, or run fewer \
             cells (--set, --part)."
        );
        Figure::new(self.id, self.place, self.title, &note)
    }
}

/// The values of a plot: the names of the axes of each panel, those of the values' further numbers, and of each
/// series its panel, its name and its points.
fn told<S: Serializer>(plot: &Plot, serializer: S) -> Result<S::Ok, S::Error> {
    let axes = plot.panels.iter().map(|panel| [&panel.x.name, &panel.y.name]);
    let mut series: Vec<(usize, &String, Vec<Vec<f64>>)> = Vec::new();
    for (number, panel) in plot.panels.iter().enumerate() {
        for mark in &panel.marks {
            let Mark::Value(name, place, more) = mark else { continue };
            let point = [&place[..], more].concat();
            match series.last_mut() {
                Some((panel, last, points)) if *panel == number && *last == name => {
                    points.push(point)
                }
                _ => series.push((number, name, vec![point])),
            }
        }
    }
    let mut told = serializer.serialize_struct("Told", 3)?;
    told.serialize_field("axes", &axes.collect::<Vec<_>>())?;
    told.serialize_field("columns", &plot.columns)?;
    told.serialize_field("series", &series)?;
    told.end()
}
