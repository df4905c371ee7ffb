//! Which cells are compared with one another: those of one part, under one condition.

use trackbed_measure::lists::grouped;
use trackbed_measure::metrics::{self, Compared};
use trackbed_measure::results::{CellResult, Difference, Document, factor_names};
use trackbed_scenario::{GROUP, PART};

use crate::significance::{CONFIDENCE, too_few};

/// The factors that divide cells into sections: their traffic differs in kind, so it is not compared.
pub const SECTIONS: [&str; 2] = [PART, GROUP];

/// The section of a cell, in words; empty where there is one only.
pub fn section(cell: &CellResult) -> String {
    let texts = SECTIONS.iter().map(|name| cell.factor_text(name));
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The cells of one part or group of a scenario, or all where it has none.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// The whole document, in which cells are numbered.
    pub document: &'a Document,
    /// The name of the part or group.
    pub part: Option<String>,
    /// The numbers of its cells, ascending.
    pub cells: Vec<u32>,
}

impl<'a> Section<'a> {
    /// The sections in the order of their first cells.
    pub fn all(document: &'a Document) -> Vec<Section<'a>> {
        let part = |cell: &CellResult| Some(section(cell)).filter(|part| !part.is_empty());
        let parts = grouped(document.cells.iter().map(part).zip(0..)).into_iter();
        parts.map(|(part, cells)| Section { document, part, cells }).collect()
    }

    /// The results of its cells.
    pub fn results(&self) -> impl Iterator<Item = &'a CellResult> + Clone {
        let all = &self.document.cells;
        self.cells.iter().map(|cell| &all[*cell as usize])
    }

    /// A summary of its results, one sentence for each condition.
    pub fn answer(&self) -> impl Iterator<Item = &'a str> {
        let all = self.document.answer.iter();
        all.filter(|answer| answer.part == self.part).map(|answer| answer.text.as_str())
    }

    /// The factors of its cells, without the part, which is the same in all.
    pub fn factors(&self) -> Vec<String> {
        let mut names = factor_names(self.results());
        names.retain(|name| !SECTIONS.contains(&name.as_str()));
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

    /// The metric by which its cells are ranked.
    pub fn headline(&self) -> Option<&'static Compared> {
        let mut best: Vec<u32> = self.cells.clone();
        for one in &self.document.differences {
            if let Ok(place) = self.cells.binary_search(&one.cell) {
                best[place] = one.against;
            }
        }
        let groups = grouped(best.into_iter().zip(self.results()));
        let groups: Vec<Vec<&CellResult>> = groups.into_iter().map(|(_, cells)| cells).collect();
        metrics::headline(&groups, self.document.useful_difference)
    }

    /// The metrics that rank its cells, the most significant first.
    pub fn declared(&self) -> Vec<&'static Compared> {
        metrics::declared(self.results())
    }

    /// The differences of `metric` between its cells.
    pub fn differences(&self, metric: &str) -> impl Iterator<Item = &'a Difference> {
        let all = self.document.differences.iter();
        all.filter(move |one| one.metric == metric && self.cells.binary_search(&one.cell).is_ok())
    }

    /// The differences of `metric` by the cell that the others are compared with.
    pub fn groups(&self, metric: &str) -> Vec<Group<'a>> {
        let less_is_better =
            metrics::compared(metric).is_none_or(|compared| compared.less_is_better);
        let cost = |difference: &Difference| {
            let value = difference.headline().value;
            if less_is_better { value } else { -value }
        };
        let differences = self.differences(metric).map(|one| (one.against, one));
        let group = |(best, mut differences): (u32, Vec<&'a Difference>)| {
            differences.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
            Group { best, differences }
        };
        grouped(differences).into_iter().map(group).collect()
    }
}

/// The cells under one condition.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The number of the best one.
    pub best: u32,
    /// How the others differ from it, the best of them first.
    pub differences: Vec<&'a Difference>,
}

impl Group<'_> {
    /// Why no difference can be decided, if so many comparisons need more runs.
    pub fn too_few(&self) -> Option<String> {
        let runs = self.differences.iter().map(|one| one.n).max()?;
        too_few(runs, self.differences.len(), CONFIDENCE, true)
    }

    /// Whether there are too few runs for any verdict.
    pub fn is_too_few(&self) -> bool {
        self.too_few().is_some()
    }
}
