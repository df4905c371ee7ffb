//! Which cells are compared with one another.

use trackbed_measure::metrics::{self, Compared};
use trackbed_measure::results::{CellResult, Difference};
use trackbed_scenario::PART;

/// The cells of a part, or all where the scenario has no parts.
pub(super) struct Section {
    /// The part's name.
    pub part: Option<String>,
    /// The places of its cells, ascending.
    pub cells: Vec<usize>,
}

impl Section {
    /// The metric by which its cells are ranked.
    pub fn headline(&self, cells: &[CellResult]) -> Option<&'static Compared> {
        metrics::headline(self.cells.iter().map(|cell| &cells[*cell]))
    }
}

/// The parts in the order of their first cells.
pub(super) fn sections(cells: &[CellResult]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let part = Some(cell.factor_text(PART)).filter(|part| !part.is_empty());
        match sections.iter_mut().find(|section| section.part == part) {
            Some(section) => section.cells.push(index),
            None => sections.push(Section { part, cells: vec![index] }),
        }
    }
    sections
}

/// The cells under one condition.
pub(super) struct Group<'a> {
    /// The place of the best one.
    pub best: usize,
    /// How the others differ from it, the best of them first.
    pub differences: Vec<&'a Difference>,
}

/// The groups of a section by the metric that ranks its cells.
pub(super) fn groups<'a>(
    differences: &'a [Difference],
    section: &Section,
    compared: &Compared,
) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let is_of_section = |difference: &&Difference| {
        difference.metric == compared.name
            && section.cells.binary_search(&(difference.cell as usize)).is_ok()
    };
    for difference in differences.iter().filter(is_of_section) {
        let best = difference.against as usize;
        match groups.iter_mut().find(|group| group.best == best) {
            Some(group) => group.differences.push(difference),
            None => groups.push(Group { best, differences: vec![difference] }),
        }
    }
    let cost = |difference: &Difference| {
        let value = difference.headline().value;
        if compared.less_is_better { value } else { -value }
    };
    for group in &mut groups {
        group.differences.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    }
    groups
}
