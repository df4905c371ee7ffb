//! Results as one self-contained HTML page.
//!
//! The page shows what was run, the results and their uncertainty. Text, tables and the first view of each
//! figure need no script, which reads values and changes views. The numbers are those of the
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

mod certificates;
pub(crate) mod distribution;
pub(crate) mod factors;
mod figure;
mod figures;
mod html;
mod json;
pub(crate) mod material;
mod origin;
pub(crate) mod palette;
pub(crate) mod ranks;
pub(crate) mod thin;
pub(crate) mod words;

use std::collections::BTreeMap;

use serde::Serialize;
use trackbed_analysis::Names;
use trackbed_analysis::groups::Section;
use trackbed_analysis::paper::Held;
use trackbed_measure::results::{CellResult, Document, RunResult};
use trackbed_measure::timeline::Timeline;
use trackbed_measure::waterfall::Bar;

use certificates::Certificates;
use distribution::Distribution;
use figure::Figure;
use figures::Material;
use ranks::Ranks;

pub use origin::{Limit, Origin};

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The index of its cell in the document.
    pub cell: u32,
    /// Its number in the cell.
    pub run: u32,
    /// Its timeline.
    pub timeline: Timeline,
    /// Its page loads.
    pub bars: Vec<Bar>,
}

/// Builds a page, cell by cell.
#[derive(Debug)]
pub struct Builder<'a> {
    document: &'a Document,
    origin: Origin,
    limits: Vec<Limit>,
    sections: Vec<Section<'a>>,
    /// The metrics of each section's figures.
    metrics: Vec<Vec<&'static str>>,
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
            section.cells.iter().for_each(|cell| section_of[*cell as usize] = number);
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
        let cell = self.result(index)?;
        runs.iter().for_each(|run| self.certificates.add(run));
        // Invalid runs are left out, as in the document.
        let counted = runs.iter().filter(|run| !(cell.invalid > 0 && run.is_invalid()));
        let counted: Vec<&RunResult> = counted.collect();
        if let Some(compared) = self.sections[self.section_of[index as usize]].headline() {
            self.ranks.add(index, compared.name, &counted);
        }
        for metric in &self.metrics[self.section_of[index as usize]] {
            let samples = counted.iter().filter_map(|run| run.outcome.samples()?.get(*metric));
            let samples = samples.flatten().copied().collect();
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

    /// A few typical runs: the median runs of the best and the worst cell of each section, as cell
    /// and run numbers. Call this after all cells were added.
    pub fn typical_runs(&self) -> Vec<(u32, u32)> {
        self.ranks.typical(&self.sections)
    }

    /// Adds the figures of a single run. Long lines are thinned; peaks are kept.
    ///
    /// # Errors
    /// If the document has no such cell.
    pub fn run(&mut self, watched: &Watched) -> Result<(), PageError> {
        let Watched { cell: index, run, timeline, bars } = watched;
        let cell = self.result(*index)?;
        let section = &self.sections[self.section_of[*index as usize]];
        let part = section.part.clone().unwrap_or_default();
        let members: Vec<&CellResult> = section.results().collect();
        let cell = Names::new(self.document, &members, &members).cell(cell, &members);
        let parts = [part, cell, format!("run {run}")].into_iter().filter(|part| !part.is_empty());
        let name = parts.collect::<Vec<_>>().join(", ");
        self.traces.extend(figures::run::figures(&name, self.traces.len(), timeline, bars));
        Ok(())
    }

    fn result(&self, index: u32) -> Result<&'a CellResult, PageError> {
        let cells = &self.document.cells;
        cells.get(index as usize).ok_or(PageError::NoSuchCell { index, cells: cells.len() })
    }

    /// The page as HTML.
    pub fn finish(self) -> String {
        let figures = self.figures();
        let data = Data {
            name: self.document.scenario.as_str(),
            source: source(self.document),
            model: self.document.model.is_some(),
            figures: figures.iter().filter(|figure| !figure.views.is_empty()).collect(),
        };
        let data = json::embedded(&data);
        html::page(&html::Page {
            document: self.document,
            origin: &self.origin,
            sections: &self.sections,
            certificates: &self.certificates,
            outlying: self.ranks.outlying(),
            study: self.study.as_ref(),
            figures: &figures,
            data,
        })
    }

    /// The figures of all sections, then those of single runs.
    fn figures(&self) -> Vec<Figure> {
        let sections = self.sections.iter().enumerate().flat_map(|(number, section)| {
            let (metrics, distributions) = (&self.metrics[number], &self.distributions);
            Material { section, number, metrics, distributions, limits: &self.limits }.figures()
        });
        let (cells, mut room) = (self.document.cells.len(), DRAWN_MAX);
        let fitting = sections.map(|figure| match room.checked_sub(figure.size()) {
            Some(rest) => {
                room = rest;
                figure
            }
            None => figure.left_out(cells),
        });
        fitting.chain(self.traces.iter().cloned()).collect()
    }
}

#[derive(Serialize)]
struct Data<'a> {
    /// Downloads are named after it.
    name: &'a str,
    /// Printed below every downloaded figure, so that it describes itself.
    source: String,
    /// Whether results come from a model of a machine.
    model: bool,
    figures: Vec<&'a Figure>,
}

fn source(document: &Document) -> String {
    let Document { trackbed, scenario, substrate, seed, runs, .. } = document;
    format!("trackbed {trackbed}, {scenario}, {runs} runs, {substrate} substrate, seed {seed}")
}

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

/// Maximum number of bytes of the drawings of sections.
const DRAWN_MAX: usize = 1_500_000;
/// Total number of metric summaries that figures show, over all cells.
const SUMMARIES_MAX: usize = 1_200;
/// Maximum number of metrics in figures; the table has all.
const METRICS_MAX: usize = 12;
/// Maximum number of points of all distribution functions on a page.
const POINTS_MAX: usize = 20_000;
/// Minimum number of points of a distribution function.
const POINTS_LEAST: usize = 19;

/// Why something cannot be added to a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum PageError {
    #[error("there is no cell {index}: the document has {cells}, counted from 0")]
    NoSuchCell { index: u32, cells: usize },
}

#[cfg(test)]
mod tests;
