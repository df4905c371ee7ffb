//! What a sentence says besides the best cell by one metric: that all are equal, that none is ahead, and that
//! another metric ranks them otherwise.

use trackbed_measure::metrics::Compared;
use trackbed_measure::results::{CellResult, Difference, Verdict};

use super::names::{scale, unit};
use super::sentence::{Sentence, shortened};
use crate::number::Decimals;

pub(super) const SPOILED: &str =
    "more than half of the runs failed, or of the messages were refused or had no answer";

impl<'a> Sentence<'a> {
    /// `All equal: QUIC; HTTP/2: median round-trip time 40.0 to 40.1 ms; differences below 1 % or 1 ms do not
    /// count.` The intervals of the differences, too, must be as narrow, in each metric that ranks these cells.
    pub(super) fn all_equal(&self) -> Option<String> {
        let declared = self.section.declared();
        let ranking = if declared.is_empty() { vec![self.compared] } else { declared };
        let values: Option<Vec<String>> = ranking.iter().map(|one| self.equal(one)).collect();
        let names: Vec<String> = self.members.iter().map(|cell| self.name(cell)).collect();
        let names = shortened(&names).filter(|_| names.len() > 1)?;
        Some(format!(
            "All equal{}: {names}: {}; differences below {} do not count.",
            self.place(),
            values?.join(", "),
            self.useful
        ))
    }

    /// The values of a metric in which no cell of the group differs from the best one by what matters.
    pub(super) fn equal(&self, compared: &Compared) -> Option<String> {
        let least = compared.least_useful(compared.of(self.best)?, self.useful);
        let is_within = |one: &&Difference| {
            let ends = one.headline().ci95;
            ends.is_some_and(|ends| ends.iter().all(|end| end.abs() <= least))
        };
        let within = self.differences(compared).filter(is_within).count();
        let value = |cell: &&CellResult| Some(compared.of(cell)? * scale(compared));
        let values = || self.members.iter().filter_map(value);
        let ends = [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)];
        let decimals = Decimals::of(ends);
        let mut text = decimals.text(ends[0]);
        if decimals.text(ends[1]) != text {
            text = format!("{text} to {}", decimals.text(ends[1]));
        }
        let statistic = if compared.by_median() { "median " } else { "" };
        let all = format!("{statistic}{} {text} {}", compared.title, unit(compared));
        (within + 1 == self.members.len() && self.spoiled.is_empty()).then_some(all)
    }

    /// No cell has succeeded often enough to be the best.
    pub(super) fn none_ahead(&self) -> String {
        format!("No cell is ahead{}: in each, {SPOILED}.", self.place())
    }

    /// The best cells by other metrics that rank these cells: `Shortest gap: pha-d: median 141 ms; no foresight:
    /// median 997 ms.` Beside missed deadlines times say little: messages without an answer have none.
    pub(super) fn rivals(&self) -> impl Iterator<Item = String> {
        let is_apart = |one: &&Compared| {
            *one != self.compared && !(self.compared.is_share() && one.by_median())
        };
        let others = self.section.declared().into_iter().filter(is_apart);
        others.filter_map(|compared| {
            let wanted = if compared.less_is_better { Verdict::Lower } else { Verdict::Higher };
            let least = compared.least_useful(compared.of(self.best)?, self.useful);
            let is_better = |one: &&Difference| {
                one.headline().verdict == wanted && one.headline().value.abs() > least
            };
            let cell = |one: &Difference| &self.section.document.cells[one.cell as usize];
            let is_real =
                |cell: &&CellResult| !cell.is_bound && cell.spoiled() <= self.best.spoiled();
            let better = self.differences(compared).filter(is_better).map(cell).filter(is_real);
            let cost = |cell: &CellResult| {
                let value = compared.of(cell).unwrap_or(f64::NAN);
                if compared.less_is_better { value } else { -value }
            };
            let cell = better.min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
            let [cell, best] = [cell, self.best].map(|cell| self.valued(cell, compared));
            Some(format!("{}: {cell}; {best}.", compared.best))
        })
    }

    /// How the others differ from the best cell in a metric.
    fn differences(&self, compared: &Compared) -> impl Iterator<Item = &'a Difference> {
        let cells = &self.section.document.cells;
        let all = self.section.differences(compared.name);
        all.filter(|one| {
            cells.get(one.against as usize).is_some_and(|it| std::ptr::eq(it, self.best))
        })
    }
}
