//! The answer: a sentence for each condition that a user can quote.

mod artefacts;
mod beside;
mod beyond;
mod cost;
mod foresight;
mod keeping_up;
mod names;
mod sentence;

use trackbed_measure::metrics::{self, Compared};
use trackbed_measure::results::{Answer, Document};

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
    texts.extend(keeping_up::sentence(section));
    texts.extend(cost::of(section));
    texts.extend(foresight::of(section));
    texts.extend(beside::of(section, compared));
    let answer =
        |text| Answer { part: section.part.clone(), text, metric: compared.name.to_owned() };
    texts.into_iter().map(answer).collect()
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
