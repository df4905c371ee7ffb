//! The answer: a sentence for each condition that a user can quote.

mod artefacts;
mod beside;
mod beyond;
mod cost;
mod foresight;
mod keeping_up;
mod names;
mod sentence;

use std::collections::BTreeMap;

use trackbed_measure::metrics::{self, Compared};
use trackbed_measure::results::{Answer, CellResult, Document, Failure};

use crate::groups::Section;
use sentence::Sentence;

pub use names::Names;

/// Summarises the differences between cells: for each part and condition which cell is best, which ones do
/// not differ significantly from it, and how far the others are behind. Empty where nothing was compared.
pub(crate) fn of(document: &Document) -> Vec<Answer> {
    Section::all(document).iter().flat_map(of_section).collect()
}

fn of_section(section: &Section<'_>) -> Vec<Answer> {
    let texts = section.headline().map(|compared| (compared, of_groups(section, compared)));
    let (compared, mut texts) = match (texts, metrics::compared(keeping_up::METRIC)) {
        (Some(found), _) => found,
        (None, Some(late)) => (late, Vec::new()),
        (None, None) => return Vec::new(),
    };
    texts.extend(all_failed(section));
    texts.extend(keeping_up::sentence(section));
    texts.extend(cost::of(section));
    texts.extend(foresight::of(section));
    texts.extend(beside::of(section, compared));
    let has_values = section.results().any(|cell| !cell.metrics.is_empty());
    let declared = section.results().flat_map(|cell| &cell.ranking).next();
    let metric = declared.filter(|_| !has_values).map_or(compared.name, String::as_str);
    let answer = |text| Answer { part: section.part.clone(), text, metric: metric.to_owned() };
    texts.into_iter().map(answer).collect()
}

/// `No run succeeded: all 6 failed, 3 of them so: at 10 s, phone 0 gave up message 0: no answer within 10 s.`, or
/// `All 12 runs of QUIC; HTTP/3 failed, 6 of them so: ...`: such cells have no values to compare.
fn all_failed(section: &Section<'_>) -> Option<String> {
    let all: Vec<&CellResult> = section.results().collect();
    let lost: Vec<&CellResult> = section.results().filter(|cell| cell.is_lost()).collect();
    let failed: u32 = lost.iter().map(|cell| cell.failed).sum();
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for Failure { reason, count, .. } in lost.iter().flat_map(|cell| &cell.failures) {
        *counts.entry(reason).or_default() += count;
    }
    let (reason, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let names = Names::new(section.document, &all, &all);
    let names: Vec<String> = lost.iter().map(|cell| names.cell(cell, &all)).collect();
    let names = sentence::shortened(&names).filter(|_| lost.len() < all.len());
    let head = match names {
        None => format!("No run succeeded: all {failed} failed"),
        Some(names) => format!("All {failed} runs of {names} failed"),
    };
    Some(format!("{head}, {count} of them so: {reason}."))
}

fn of_groups(section: &Section<'_>, compared: &Compared) -> Vec<String> {
    let groups = section.groups(compared.name);
    let text = |group| Sentence::new(section, compared, group).map(|one| one.text());
    let mut texts: Vec<String> = groups.iter().take(SENTENCES_MAX).filter_map(text).collect();
    if groups.len() > SENTENCES_MAX {
        texts.push(format!("{} more conditions are in the table.", groups.len() - SENTENCES_MAX));
    }
    texts
}

/// More conditions are a table, no answer.
const SENTENCES_MAX: usize = 12;

#[cfg(test)]
mod tests;
