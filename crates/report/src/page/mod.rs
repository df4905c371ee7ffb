//! Results as one self-contained HTML page.
//!
//! The page shows what was run, the results and their uncertainty. Text and tables need no script;
//! figures are drawn by a script from plain descriptions. The numbers are those of the
//! [`Document`]; only the distribution functions are computed here, with as many points as a figure
//! can show, so that a page stays small however many runs there are.
//!
//! ```
//! # fn page(document: &trackbed_measure::results::Document,
//! #         runs_of: impl Fn(u32) -> Vec<trackbed_measure::results::RunResult>)
//! #     -> Result<String, trackbed_report::page::PageError> {
//! use trackbed_report::page::{Builder, Origin};
//!
//! let origin = Origin { command: "trackbed run vru".to_owned(), ..Origin::default() };
//! let mut builder = Builder::new(document, origin);
//! for cell in 0..document.cells.len() as u32 {
//!     builder.cell(cell, &runs_of(cell))?; // one cell's runs in memory at a time
//! }
//! Ok(builder.finish())
//! # }
//! ```

mod assets;
mod certificates;
mod distribution;
mod factors;
mod figure;
mod figures;
mod html;
mod json;
mod material;
mod origin;
mod palette;
mod ranks;
mod run;
mod thin;
mod trace;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;
use trackbed_analysis::paper::Held;
use trackbed_measure::results::{Document, RunResult};
use trackbed_measure::waterfall::Bar;

use crate::section::Section;
use certificates::Certificates;
use distribution::Distribution;
use figure::Figure;
use material::Material;
use ranks::Ranks;

pub use figure::{Axis, Scale};
pub use origin::{Limit, Origin};
pub use run::Watched;
pub use trace::{Happening, Line, Map, Panel, Places, Timeline};

/// Builds a page, cell by cell.
#[derive(Debug)]
pub struct Builder<'a> {
    document: &'a Document,
    origin: Origin,
    limits: Vec<Limit>,
    sections: Vec<Section<'a>>,
    /// The metrics of each section's figures.
    metrics: Vec<Vec<&'static str>>,
    /// The section of each cell.
    section_of: Vec<usize>,
    /// Points per distribution function.
    points: usize,
    distributions: BTreeMap<(u32, &'static str), Distribution>,
    certificates: Certificates,
    ranks: Ranks,
    traces: Vec<Figure>,
    study: Option<Held>,
}

impl<'a> Builder<'a> {
    /// Starts a page about `document`.
    pub fn new(document: &'a Document, mut origin: Origin) -> Builder<'a> {
        // Line ends of a file from Windows are not control characters to be escaped.
        origin.scenario = origin.scenario.replace("\r\n", "\n");
        let sections = Section::all(document);
        let budget = Budget::of(document);
        let metrics = sections.iter().map(|section| material::telling(section, budget.metrics));
        let mut section_of = vec![0; document.cells.len()];
        for (number, section) in sections.iter().enumerate() {
            section.cells().iter().for_each(|cell| section_of[*cell as usize] = number);
        }
        Builder {
            document,
            origin,
            limits: Vec::new(),
            metrics: metrics.collect(),
            sections,
            section_of,
            points: budget.points,
            distributions: BTreeMap::new(),
            certificates: Certificates::default(),
            ranks: Ranks::default(),
            traces: Vec::new(),
            study: None,
        }
    }

    /// Gathers distributions, certificates and outliers from all runs of cell `index`; the runs are
    /// not kept. A cell for which this is not called lacks only its distributions.
    ///
    /// # Errors
    /// If the document has no such cell.
    pub fn cell(&mut self, index: u32, runs: &[RunResult]) -> Result<(), PageError> {
        let Some(cell) = self.document.cells.get(index as usize) else {
            return Err(PageError::NoSuchCell { index, cells: self.document.cells.len() });
        };
        let metrics = &self.metrics[self.section_of[index as usize]];
        let only_valid = cell.invalid > 0;
        let gathered = distribution::gather(metrics, only_valid, runs.iter());
        self.certificates.merge(&gathered.certificates);
        let counted = runs.iter().filter(|run| !(only_valid && run.is_invalid()));
        self.ranks.add(index, &counted.collect::<Vec<_>>());
        for (metric, samples) in metrics.iter().copied().zip(gathered.samples) {
            if let Some(distribution) = Distribution::of(samples, self.points) {
                self.distributions.insert((index, metric), distribution);
            }
        }
        Ok(())
    }

    /// Draws a limit wherever its metric is drawn.
    pub fn limit(&mut self, limit: Limit) {
        self.limits.push(limit);
    }

    /// Shows the statements of the scenario's study beside the results.
    pub fn study(&mut self, held: Held) {
        self.study = Some(held);
    }

    /// Adds the timeline of a run. Long lines are thinned; peaks are kept.
    ///
    /// # Errors
    /// If a line's `x` and `y` differ in length.
    pub fn timeline(&mut self, timeline: &Timeline) -> Result<(), PageError> {
        let lines = timeline.panels.iter().flat_map(|panel| &panel.lines);
        check_lines(&timeline.title, lines)?;
        self.traces.push(figures::timeline::figure(timeline, self.traces.len(), RUNS));
        Ok(())
    }

    /// Adds a map.
    ///
    /// # Errors
    /// If a line's `x` and `y`, or the lists of a set of places, differ in length.
    pub fn map(&mut self, map: &Map) -> Result<(), PageError> {
        check_lines(&map.title, &map.lines)?;
        for Places { name, labels, x, y } in &map.places {
            if x.len() != y.len() || x.len() != labels.len() {
                return Err(PageError::uneven(&map.title, name));
            }
        }
        self.traces.push(figures::map::figure(map, self.traces.len(), RUNS));
        Ok(())
    }

    /// Adds the waterfall of one page: the objects that one phone loaded in one run.
    pub fn waterfall(&mut self, title: &str, bars: &[Bar]) {
        self.traces.push(figures::waterfall::figure(title, bars, self.traces.len(), RUNS));
    }

    /// A few typical runs: the median runs of the best and the worst cell of each section, as cell
    /// and run numbers. Call this after all cells were added.
    pub fn typical_runs(&self) -> Vec<(u32, u32)> {
        self.ranks.typical(&self.sections)
    }

    /// Adds the figures of a single run.
    ///
    /// # Errors
    /// If the document has no such cell.
    pub fn run(&mut self, watched: &Watched) -> Result<(), PageError> {
        let Watched { cell: index, run, timeline, bars } = watched;
        let Some(cell) = self.document.cells.get(*index as usize) else {
            return Err(PageError::NoSuchCell { index: *index, cells: self.document.cells.len() });
        };
        let section = &self.sections[self.section_of[*index as usize]];
        let part = section.title().map_or_else(String::new, |title| format!("{title}, "));
        let name =
            format!("{part}{}, run {run}", material::label(cell, &section.telling_factors()));
        for timeline in run::timelines(&name, timeline) {
            self.timeline(&timeline)?;
        }
        if let Some(map) = run::map(&name, timeline) {
            self.map(&map)?;
        }
        let bars = run::page_of(bars);
        if !bars.is_empty() {
            self.waterfall(&format!("{name}: a page"), &bars);
        }
        Ok(())
    }

    /// The page as HTML.
    pub fn finish(self) -> String {
        let data = Data {
            name: self.document.scenario.as_str(),
            source: source(self.document),
            model: self.document.model.is_some(),
            figures: self.figures(),
        };
        html::page(&html::Page {
            document: self.document,
            origin: &self.origin,
            sections: &self.sections,
            certificates: &self.certificates,
            outlying: self.ranks.outlying(),
            study: self.study.as_ref(),
            traces: self.traces.len(),
            data: json::embedded(&data),
        })
    }

    /// The figures of all sections, then those of single runs.
    fn figures(&self) -> Vec<Figure> {
        let mut drawn: Vec<Figure> = Vec::new();
        for (number, section) in self.sections.iter().enumerate() {
            let metrics = self.metrics[number].clone();
            let material =
                Material::new(section, number, metrics, &self.distributions, &self.limits);
            drawn.extend(figures::registry().iter().flat_map(|kind| kind(&material)));
        }
        drawn.extend(self.traces.iter().cloned());
        drawn
    }
}

/// The script's data.
#[derive(Serialize)]
struct Data<'a> {
    /// Downloads are named after it.
    name: &'a str,
    /// Printed below every downloaded figure, so that it describes itself.
    source: String,
    /// Whether results come from a model of a machine.
    model: bool,
    figures: Vec<Figure>,
}

fn source(document: &Document) -> String {
    let Document { trackbed, scenario, substrate, seed, runs, .. } = document;
    format!("trackbed {trackbed}, {scenario}, {runs} runs, {substrate} substrate, seed {seed}")
}

/// The element that contains the figures of single runs.
const RUNS: &str = "figures-runs";

/// How much of a document fits into a page that opens quickly.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Metrics of figures.
    metrics: usize,
    /// Points of a distribution function.
    points: usize,
}

impl Budget {
    fn of(document: &Document) -> Budget {
        let cells = document.cells.len().max(1);
        let metrics = (SUMMARIES_MAX / cells).clamp(1, METRICS_MAX);
        Budget { metrics, points: (POINTS_MAX / (cells * metrics)).clamp(POINTS_LEAST, 200) }
    }
}

/// Total number of metric summaries that figures show, over all cells.
const SUMMARIES_MAX: usize = 2_400;
/// Maximum number of metrics in figures; the table has all.
const METRICS_MAX: usize = 12;
/// Maximum number of points of all distribution functions on a page.
const POINTS_MAX: usize = 40_000;
/// Minimum number of points of a distribution function.
const POINTS_LEAST: usize = 19;

fn check_lines<'l>(
    title: &str,
    lines: impl IntoIterator<Item = &'l Line>,
) -> Result<(), PageError> {
    let uneven = lines.into_iter().find(|line| line.x.len() != line.y.len());
    uneven.map_or(Ok(()), |line| Err(PageError::uneven(title, &line.name)))
}

/// Why something cannot be added to a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum PageError {
    #[error("there is no cell {index}: the document has {cells}, counted from 0")]
    NoSuchCell { index: u32, cells: usize },
    #[error("{title}, {name}: x and y (and labels) differ in length")]
    Uneven { title: String, name: String },
}

impl PageError {
    fn uneven(title: &str, name: &str) -> PageError {
        PageError::Uneven { title: title.to_owned(), name: name.to_owned() }
    }
}

#[cfg(test)]
mod tests;
