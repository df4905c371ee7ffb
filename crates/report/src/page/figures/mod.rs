//! The kinds of figures, each of which looks whether a section of the results has something for it.

mod differences;
mod distributions;
mod frames;
mod load;
mod overview;
mod sweeps;

use std::collections::BTreeMap;

use trackbed_measure::results::CellResult;

use super::distribution::Steps;
use super::figure::{Figure, Panel, Point};
use crate::section::Section;

/// What figures are made of.
pub(super) struct Material<'a> {
    pub section: &'a Section<'a>,
    /// By cell and metric.
    pub distributions: &'a [BTreeMap<&'static str, Steps>],
}

/// Makes the figures of a kind; none where the section has nothing for it.
type Maker = fn(&Material<'_>) -> Vec<Figure>;

/// Every kind, in the order of the page.
const MAKERS: &[Maker] = &[
    overview::figures,
    load::figures,
    frames::figures,
    sweeps::figures,
    distributions::figures,
    differences::figures,
];

/// The figures of a section, without those that have nothing to show.
pub(super) fn of(material: &Material<'_>) -> Vec<Figure> {
    let all = MAKERS.iter().flat_map(|make| make(material));
    all.filter_map(|mut figure| {
        figure.panels.retain(|panel| !panel.is_empty());
        (!figure.panels.is_empty()).then_some(figure)
    })
    .collect()
}

impl<'a> Material<'a> {
    /// The cells of the section with their numbers.
    fn cells(&self) -> impl Iterator<Item = (u32, &'a CellResult)> + Clone {
        let document = self.section.document;
        let cells: &'a [u32] = &self.section.cells;
        cells.iter().map(move |index| (*index, &document.cells[*index as usize]))
    }

    /// The factors that differ between cells of the section.
    fn varying(&self) -> Vec<String> {
        let mut names = self.section.factors();
        names.retain(|name| {
            let mut texts = self.cells().map(|(_, cell)| cell.factor_text(name));
            let first = texts.next();
            texts.any(|text| Some(&text) != first.as_ref())
        });
        names
    }

    /// What a cell is called by what differs in its section.
    pub(super) fn called(&self, index: u32) -> String {
        let cell = &self.section.document.cells[index as usize];
        self.name(index, cell, &self.varying())
    }

    /// What a cell is called by the factors `names`.
    fn name(&self, index: u32, cell: &CellResult, names: &[String]) -> String {
        let texts = names.iter().map(|name| {
            let text = cell.factor_text(name);
            // A bare number says nothing.
            match cell.factors.get(name) {
                Some(value) if value.is_number() => format!("{} {text}", name.replace('_', " ")),
                _ => text,
            }
        });
        let words: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        if words.is_empty() { format!("cell {index}") } else { words.join(" ") }
    }
}

/// A number of a factor.
fn number(cell: &CellResult, factor: &str) -> Option<f64> {
    cell.factors.get(factor)?.as_f64()
}

/// The name under which a figure is saved: of the section, the kind and what it shows.
fn id(section: &Section<'_>, words: &[&str]) -> String {
    let title = section.title.as_deref().unwrap_or_default();
    format!("{}{}", slug(title), plain(&words.join("-")))
}

/// What the names of a section's figures begin with.
pub(super) fn slug(section: &str) -> String {
    if section.is_empty() { String::new() } else { format!("{}-", plain(section)) }
}

fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    text.chars().map(plain).collect()
}

/// Groups items by a text, in the order in which the texts come.
fn grouped<T>(items: impl Iterator<Item = (String, T)>) -> Vec<(String, Vec<T>)> {
    let mut groups: Vec<(String, Vec<T>)> = Vec::new();
    for (name, item) in items {
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, group)) => group.push(item),
            None => groups.push((name, vec![item])),
        }
    }
    groups
}

/// Splits series that are more than can be told apart into panels.
fn panel(name: String, series: Vec<super::figure::Series>) -> Vec<Panel> {
    let parts = series.len().div_ceil(SERIES_MAX).max(1);
    let each = series.len().div_ceil(parts).max(1);
    let chunks: Vec<Vec<_>> = series.chunks(each).map(<[_]>::to_vec).collect();
    let count = chunks.len();
    let named = |(part, series)| Panel {
        name: match count {
            1 => name.clone(),
            _ => format!("{name} ({} of {count})", part + 1).trim_start().to_owned(),
        },
        series,
        marks: Vec::new(),
    };
    chunks.into_iter().enumerate().map(named).collect()
}

/// Points at whole values.
fn point(x: f64, y: f64) -> Point {
    Point { x, y: Some(y), ..Point::default() }
}

/// As many as colours and dashes that everybody can tell apart.
const SERIES_MAX: usize = 8;
