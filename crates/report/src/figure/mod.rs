//! Figures of results for papers, each with its caption.

pub(crate) mod kinds;
pub(crate) mod timeline;

use std::collections::BTreeMap;

use trackbed_analysis::Names;
use trackbed_analysis::groups::{SECTIONS, Section, section};
use trackbed_measure::lists::{distinct, grouped};
use trackbed_measure::metrics::split_unit;
use trackbed_measure::results::{CellResult, Document, factor_names};

use crate::page::distribution::Distribution;
use crate::page::factors::{Split, is_numeric, values};
use crate::page::material::caption;
use crate::page::words;
use crate::plot::Plot;
use crate::summary::extent;

pub use timeline::{Course, CourseRun, middle_run};

/// How values are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Quartiles of the samples of each cell.
    Box,
    /// The distribution function of the samples of each cell.
    Ecdf,
    /// Means or medians with intervals along a factor.
    Line,
    /// Means or medians with intervals of each cell.
    Bar,
}

/// A figure, and what must stand below it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What is drawn.
    pub plot: Plot,
    /// Its caption.
    pub caption: String,
}

/// Cells of a document that have values of a metric.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    document: &'a Document,
    metric: &'a str,
    pub(crate) cells: Vec<(u32, &'a CellResult)>,
    /// Those without a value, because all of their runs failed.
    pub(crate) lost: Vec<&'a CellResult>,
}

impl<'a> Subject<'a> {
    /// The cells with values of `metric`, with or without its unit; by default of the one that ranks cells.
    ///
    /// # Errors
    /// If there are none.
    pub fn new(document: &'a Document, metric: Option<&str>) -> Result<Subject<'a>, FigureError> {
        let of_cell = document.cells.iter().flat_map(|cell| cell.metrics.keys());
        let known: Vec<&String> = distinct(of_cell);
        let named = |metric: &str| {
            let is = |name: &&&String| name.as_str() == metric || split_unit(name).0 == metric;
            known.iter().find(is).copied().ok_or_else(|| FigureError::NoValues {
                metric: metric.to_owned(),
                known: known.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", "),
            })
        };
        let sections = Section::all(document);
        let first = sections.iter().find_map(Section::headline).map(|compared| compared.name);
        let metric = match metric.or(first) {
            _ if known.is_empty() => return Err(FigureError::NoCells),
            Some(metric) => named(metric)?,
            None => known[0],
        };
        let cells: Vec<u32> = (0..document.cells.len() as u32).collect();
        Ok(Subject::among(document, metric, &cells))
    }

    /// Of these `cells`, those with values of `metric`.
    pub(crate) fn among(document: &'a Document, metric: &'a str, cells: &[u32]) -> Subject<'a> {
        let all = || cells.iter().map(|number| (*number, &document.cells[*number as usize]));
        let lost = all().map(|(_, cell)| cell).filter(|cell| cell.is_lost()).collect();
        let cells = all().filter(|(_, cell)| cell.metrics.contains_key(metric)).collect();
        Subject { document, metric, cells, lost }
    }

    /// The metric's name.
    pub fn metric(&self) -> &str {
        self.metric
    }

    /// The numbers of the cells.
    pub fn cells(&self) -> impl Iterator<Item = u32> {
        self.cells.iter().map(|(number, _)| *number)
    }

    /// Draws them; `samples` has those of each cell.
    ///
    /// # Errors
    /// If no factor is a number, which [`Kind::Line`] needs.
    pub fn draw(
        &self,
        kind: Kind,
        samples: &BTreeMap<u32, Vec<f64>>,
    ) -> Result<Figure, FigureError> {
        let (plot, marks) = match kind {
            Kind::Box => kinds::boxes(self, samples),
            Kind::Ecdf => {
                kinds::ecdf(self, |cell| Distribution::of(samples.get(&cell)?.clone(), POINTS_MAX))
            }
            Kind::Line => kinds::line(self)?,
            Kind::Bar => kinds::bars(self),
        };
        Ok(self.figure(plot, &format!("{marks} {}", caption(&self.cells, &self.lost, self.metric))))
    }

    fn results(&self) -> Vec<&'a CellResult> {
        self.cells.iter().map(|(_, cell)| *cell).collect()
    }

    /// The factors that are numbers and have at least this many values, those with the most first.
    pub(crate) fn numeric_factors(&self, least: usize) -> Vec<String> {
        let (results, mut names) = (self.results(), factor_names(self.results()));
        names.retain(|name| is_numeric(&results, name, least));
        names.sort_by_key(|name| std::cmp::Reverse(values(&results, name).len()));
        names
    }

    /// The colour of each cell: those with the same value of the first factor that is no number have the same.
    fn colours(&self) -> impl Fn(&CellResult) -> usize {
        let (results, mut names) = (self.results(), factor_names(self.results()));
        names.retain(|name| !SECTIONS.contains(&name.as_str()) && !is_numeric(&results, name, 1));
        let name = names.into_iter().next().unwrap_or_default();
        let values = values(&results, &name);
        move |cell| values.iter().position(|value| *value == cell.factor_text(&name)).unwrap_or(0)
    }

    /// The cells of each panel, of which none has more than `most` series; those in `x` make no series.
    fn groups(&self, x: &[String], most: usize) -> Vec<Group<'a>> {
        let results = self.results();
        let mut factors = factor_names(results.iter().copied());
        factors.retain(|name| !SECTIONS.contains(&name.as_str()) && !x.contains(name));
        let Split { mut chosen, series } = Split::new(&results, &factors, most);
        chosen.splice(..0, SECTIONS.map(str::to_owned));
        let cells = self.cells.iter().map(|(number, cell)| (cell.name(&chosen), (*number, *cell)));
        let groups = grouped(cells).into_iter();
        groups.map(|(_, cells)| Group::new(self.document, cells, &results, &series)).collect()
    }

    fn figure(&self, plot: Plot, marks: &str) -> Figure {
        let Document { trackbed, scenario, model, .. } = self.document;
        let model = model.as_ref().map(|model| format!(" Model, no measurement: {model}."));
        // Others may have no such metric.
        let group = match &distinct(self.cells.iter().map(|(_, cell)| cell.factor_text("group")))[..]
        {
            [group] if !group.is_empty() => format!(", group {group}"),
            _ => String::new(),
        };
        let caption = format!(
            "{} in the scenario {scenario}{group}. {marks} {}. Measured with Trackbed {trackbed}.{}",
            words::axis(self.metric),
            extent(self.document),
            model.unwrap_or_default()
        );
        Figure { plot, caption }
    }
}

/// Points of a distribution function.
const POINTS_MAX: usize = 300;

pub(crate) struct Group<'a> {
    pub title: String,
    cells: Vec<(u32, &'a CellResult)>,
    names: Names<'a>,
    /// The factors that its series differ in.
    series: Vec<String>,
}

impl<'a> Group<'a> {
    pub fn new(
        document: &'a Document,
        cells: Vec<(u32, &'a CellResult)>,
        all: &[&CellResult],
        series: &[String],
    ) -> Group<'a> {
        let members: Vec<&CellResult> = cells.iter().map(|(_, cell)| *cell).collect();
        let names = Names::new(document, &members, all);
        let part = section(members[0]);
        let is_one = all.iter().all(|cell| section(cell) == part);
        let part = Some(part).filter(|_| !is_one);
        let title = part.into_iter().chain([names.condition(members[0])]);
        let title = title.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ");
        Group { title, cells, names, series: series.to_vec() }
    }

    /// A cell's name among those of the panel.
    pub fn name(&self, cell: &CellResult) -> String {
        let members: Vec<&CellResult> = self.cells.iter().map(|(_, cell)| *cell).collect();
        match self.names.cell(cell, &members) {
            name if name.is_empty() => "all runs".to_owned(),
            name => name,
        }
    }
}

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum FigureError {
    #[error("there is nothing to draw: no run has a result")]
    NoCells,
    #[error("no run has values of the metric {metric:?}; give one of these with --metric: {known}")]
    NoValues { metric: String, known: String },
    #[error(
        "--kind line draws a metric along a factor that is a number, and no factor here is one with \
         several values; use --kind bar, box or ecdf"
    )]
    NoFactor,
    #[error(
        "--kind timeline cannot draw the metric {metric:?}; give one of these with --metric: {known}"
    )]
    NoCourse { metric: String, known: String },
}

#[cfg(test)]
mod tests;
