//! What a campaign says, in a sentence for each condition.

use std::collections::BTreeSet;

use trackbed_measure::results::{CellResult, Difference, Document, Verdict};

use crate::cells;
use crate::differences::{self, Group, groups};
use crate::number::Decimals;
use crate::section::Section;
use crate::words::{cell_name, split_unit};

/// A line for each group of cells that were compared: the best one, those that cannot be told
/// from it or the next one, and the last one. Empty where nothing was compared.
pub(crate) fn lines(section: &Section<'_>, metric: &str) -> Vec<String> {
    let groups = groups(section, metric);
    let mut lines: Vec<String> = groups
        .iter()
        .take(LINES_MAX)
        .filter_map(|group| Sentence::new(section, metric, group)?.text())
        .collect();
    if groups.len() > LINES_MAX {
        lines.push(format!("... and {} more conditions, below", groups.len() - LINES_MAX));
    }
    let pairs = groups.iter().flat_map(|group| &group.differences).map(|d| d.n).max();
    let undecided = groups
        .iter()
        .flat_map(|group| &group.differences)
        .any(|d| d.verdict == Verdict::Undecided && d.n < PAIRS_MIN);
    if let (Some(pairs @ ..PAIRS_MIN), true) = (pairs, undecided) {
        let runs = if pairs == 1 { "1 run is" } else { &format!("{pairs} runs are") };
        lines.push(format!("{runs} too few for a verdict; --runs {PAIRS_MIN} is the least"));
    }
    lines
}

const PAIRS_MIN: u32 = trackbed_stats::MIN_PAIRS as u32;
const LINES_MAX: usize = 12;

struct Sentence<'a> {
    document: &'a Document,
    metric: &'a str,
    group: &'a Group<'a>,
    best: &'a CellResult,
    /// The factors in which the cells of the group differ.
    varying: Vec<String>,
    /// The factors that are the same in the group, but not everywhere.
    condition: Vec<String>,
    unit: &'a str,
}

impl<'a> Sentence<'a> {
    fn new(section: &Section<'a>, metric: &'a str, group: &'a Group<'a>) -> Option<Self> {
        let document = section.document;
        let best = document.cells.get(group.against as usize)?;
        let others = group.differences.iter().filter_map(|d| document.cells.get(d.cell as usize));
        let members: Vec<&CellResult> = others.chain([best]).collect();
        let names = section.factors().into_iter();
        let (varying, fixed): (Vec<String>, Vec<String>) =
            names.partition(|name| values(&members, name) > 1);
        let all: Vec<&CellResult> = section.results().collect();
        let condition = fixed.into_iter().filter(|name| values(&all, name) > 1).collect();
        let (_, unit) = split_unit(metric);
        Some(Sentence { document, metric, group, best, varying, condition, unit })
    }

    fn text(&self) -> Option<String> {
        let summary = self.best.metrics.get(self.metric)?;
        let (what, unit) = split_unit(self.metric);
        let what = what.replace('_', " ");
        let superlative = if unit == "ms" { "fastest" } else { "highest" };
        let condition: Vec<String> = self
            .condition
            .iter()
            .map(|name| format!("{name} {}", self.best.factor_text(name)))
            .collect();
        let place = match condition.is_empty() {
            true => String::new(),
            false => format!(" at {}", condition.join(", ")),
        };
        let decimals = Decimals::of([summary.mean]);
        let span = match cells::interval(summary, decimals) {
            span if span.starts_with('[') => format!(" {span}"),
            _ => String::new(),
        };
        let name = cell_name(self.best, &self.varying);
        let mean = decimals.text(summary.mean);
        let mut text = format!("{superlative}{place}: {name}, {what} {mean} {unit}{span}");
        if let Some(rest) = self.rest() {
            text.push_str("; ");
            text.push_str(&rest);
        }
        Some(text)
    }

    /// Those behind the best one.
    fn rest(&self) -> Option<String> {
        let differences = &self.group.differences;
        let level = |d: &&&Difference| {
            matches!(d.verdict, Verdict::Equal)
                || (d.verdict == Verdict::Undecided && d.n >= PAIRS_MIN)
        };
        let level: Vec<&&Difference> = differences.iter().filter(level).collect();
        let mut parts = Vec::new();
        match level.split_first() {
            None => parts.push(format!("then {}", self.other(differences.first()?))),
            Some((first, [])) => parts.push(format!("not told from it: {}", self.other(first))),
            Some((first, [second])) => {
                let (first, second) = (self.name(first), self.name(second));
                parts.push(format!("not told from it: {first} and {second}"));
            }
            Some((first, more)) => {
                let first = self.name(first);
                parts.push(format!("not told from it: {first} and {} more", more.len()));
            }
        }
        if let Some(last) = differences.last().filter(|_| differences.len() > level.len().max(1)) {
            let word = if self.unit == "ms" { "slowest" } else { "lowest" };
            parts.push(format!("{word} {}", self.other(last)));
        }
        Some(parts.join("; "))
    }

    fn name(&self, difference: &Difference) -> String {
        let cell = self.document.cells.get(difference.cell as usize);
        cell.map_or_else(String::new, |cell| cell_name(cell, &self.varying))
    }

    fn other(&self, difference: &Difference) -> String {
        let name = self.name(difference);
        if difference.verdict == Verdict::Equal {
            return format!("{name}, equal in every run");
        }
        let decimals = Decimals::significant(difference.mean, 3);
        let mean = decimals.signed(difference.mean);
        match differences::interval(difference, decimals) {
            span if span.starts_with('[') => format!("{name}, {mean} {} {span}", self.unit),
            _ => format!("{name}, {mean} {}", self.unit),
        }
    }
}

/// How many values a factor has among `cells`.
fn values(cells: &[&CellResult], name: &str) -> usize {
    cells.iter().map(|cell| cell.factor_text(name)).collect::<BTreeSet<_>>().len()
}
