//! A document section by section: each part of its scenario has tables of its own.

use trackbed_analysis::groups::{self, Group};
use trackbed_measure::results::{CellResult, Difference, Document, factor_names};

/// The cells of one part of a scenario, or all where it has no parts.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// The whole document, in which cells are numbered.
    pub document: &'a Document,
    inner: groups::Section,
}

impl<'a> Section<'a> {
    /// The sections of `document` in the order of its cells.
    pub fn all(document: &'a Document) -> Vec<Section<'a>> {
        let all = groups::Section::all(&document.cells).into_iter();
        all.map(|inner| Section { document, inner }).collect()
    }

    /// The part's name.
    pub fn title(&self) -> Option<&str> {
        self.inner.part.as_deref()
    }

    /// The numbers of the section's cells, ascending.
    pub fn cells(&self) -> &[u32] {
        &self.inner.cells
    }

    /// The results of the section's cells.
    pub fn results(&self) -> impl Iterator<Item = &'a CellResult> + Clone {
        self.inner.results(&self.document.cells)
    }

    /// A summary of its results, one sentence for each condition.
    pub fn answer(&self) -> impl Iterator<Item = &'a str> {
        let all = self.document.answer.iter();
        all.filter(|answer| answer.part == self.inner.part).map(|answer| answer.text.as_str())
    }

    /// The factors of its cells, without the part, which is the same in all.
    pub fn factors(&self) -> Vec<String> {
        let mut names = factor_names(self.results());
        names.retain(|name| name != groups::PART);
        names
    }

    /// The factors that distinguish its cells.
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
        self.inner.differences(&self.document.differences, metric)
    }

    /// The differences of `metric` by the cell that the others are compared with.
    pub fn groups(&self, metric: &str) -> Vec<Group<'a>> {
        self.inner.groups(&self.document.differences, metric)
    }

    /// The metric by which its cells are ranked.
    pub fn headline(&self) -> Option<&'static str> {
        self.inner.headline(&self.document.cells).map(|compared| compared.name)
    }
}
