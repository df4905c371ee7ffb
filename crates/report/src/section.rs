//! A document section by section: each part of its scenario has tables of its own.

use trackbed_measure::metrics;
use trackbed_measure::results::{CellResult, Difference, Document, factor_names};

/// The cells of one part of a scenario, or all where it has no parts.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// The part's name.
    pub title: Option<String>,
    /// The whole document, in which cells are numbered.
    pub document: &'a Document,
    /// The numbers of the section's cells, ascending.
    pub cells: Vec<u32>,
}

/// The factor that says to which part a cell belongs.
const PART: &str = "part";

impl<'a> Section<'a> {
    /// The sections of `document` in the order of its cells.
    pub fn all(document: &'a Document) -> Vec<Section<'a>> {
        let mut sections: Vec<Section<'a>> = Vec::new();
        for (index, cell) in document.cells.iter().enumerate() {
            let title = Some(cell.factor_text(PART)).filter(|title| !title.is_empty());
            match sections.iter_mut().find(|section| section.title == title) {
                Some(section) => section.cells.push(index as u32),
                None => sections.push(Section { title, document, cells: vec![index as u32] }),
            }
        }
        sections
    }

    /// The results of the section's cells.
    pub fn results(&self) -> impl Iterator<Item = &'a CellResult> + Clone {
        let document = self.document;
        self.cells.iter().map(|index| &document.cells[*index as usize])
    }

    /// What its runs say, a sentence for each condition.
    pub fn answer(&self) -> impl Iterator<Item = &'a str> {
        let all = self.document.answer.iter();
        all.filter(|answer| answer.part == self.title).map(|answer| answer.text.as_str())
    }

    /// The factors of its cells, without that which is the same in all.
    pub fn factors(&self) -> Vec<String> {
        let mut names = factor_names(self.results());
        names.retain(|name| name != PART);
        names
    }

    /// The factors by which its cells can be told apart.
    pub fn telling_factors(&self) -> Vec<String> {
        let mut names = self.factors();
        names.retain(|name| {
            let mut texts = self.results().map(|cell| cell.factor_text(name));
            let first = texts.next();
            texts.any(|text| Some(&text) != first.as_ref())
        });
        names
    }

    /// The differences of `metric` between its cells.
    pub fn differences(&self, metric: &str) -> impl Iterator<Item = &'a Difference> {
        let all = self.document.differences.iter();
        all.filter(move |d| d.metric == metric && self.cells.binary_search(&d.cell).is_ok())
    }

    /// The metric by which its cells are ranked.
    pub fn headline(&self) -> Option<&'static str> {
        metrics::headline(self.results()).map(|compared| compared.name)
    }
}
