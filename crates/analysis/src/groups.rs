//! Which cells are compared with one another: those of one part, under one condition.

use trackbed_measure::lists::grouped;
use trackbed_measure::metrics::{self, Compared};
use trackbed_measure::results::{CellResult, Difference};
pub use trackbed_scenario::PART;

/// The cells of one part of a scenario, or all where it has no parts.
#[derive(Clone, Debug)]
pub struct Section {
    /// The part's name.
    pub part: Option<String>,
    /// The numbers of its cells, ascending.
    pub cells: Vec<u32>,
}

impl Section {
    /// The sections in the order of their first cells.
    pub fn all(cells: &[CellResult]) -> Vec<Section> {
        let part = |cell: &CellResult| Some(cell.factor_text(PART)).filter(|part| !part.is_empty());
        let parts = grouped(cells.iter().map(part).zip(0..));
        parts.into_iter().map(|(part, cells)| Section { part, cells }).collect()
    }

    /// The results of its cells; `cells` are all cells.
    pub fn results<'a>(
        &self,
        cells: &'a [CellResult],
    ) -> impl Iterator<Item = &'a CellResult> + Clone {
        self.cells.iter().map(|cell| &cells[*cell as usize])
    }

    /// The metric by which its cells are ranked.
    pub fn headline(&self, cells: &[CellResult]) -> Option<&'static Compared> {
        metrics::headline(self.results(cells))
    }

    /// The differences of `metric` between its cells.
    pub fn differences<'a>(
        &self,
        all: &'a [Difference],
        metric: &str,
    ) -> impl Iterator<Item = &'a Difference> {
        all.iter()
            .filter(move |one| one.metric == metric && self.cells.binary_search(&one.cell).is_ok())
    }

    /// The differences of `metric` by the cell that the others are compared with.
    pub fn groups<'a>(&self, all: &'a [Difference], metric: &str) -> Vec<Group<'a>> {
        let less_is_better =
            metrics::compared(metric).is_none_or(|compared| compared.less_is_better);
        let cost = |difference: &Difference| {
            let value = difference.headline().value;
            if less_is_better { value } else { -value }
        };
        let differences = self.differences(all, metric).map(|one| (one.against, one));
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
