//! Which choice meets the needs under every condition.

use std::collections::{BTreeMap, BTreeSet};

use trackbed_measure::results::{CellResult, Document, factor_names};

use super::{CellAdvice, Verdict};

/// `Under all 6 conditions (delay, loss): quic; http3.` `None` where there is one condition, or one choice.
pub(super) fn sentence(document: &Document, cells: &[CellAdvice]) -> Option<String> {
    let conditions = conditions(document)?;
    let advised = |advice: &CellAdvice| document.cells.get(advice.cell as usize);
    let key = |cell: &CellResult, is_condition: bool| -> Vec<String> {
        let names = cell.factors.keys().filter(|name| conditions.contains(*name) == is_condition);
        names.map(|name| cell.factor_text(name)).collect()
    };
    let all: BTreeSet<Vec<String>> =
        cells.iter().filter_map(advised).map(|cell| key(cell, true)).collect();
    let mut choices: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for advice in cells {
        let met = usize::from(advice.verdict == Verdict::Meets);
        *choices.entry(key(advised(advice)?, false)).or_default() += met;
    }
    if all.len() < 2 || choices.len() < 2 {
        return None;
    }
    let names = conditions.into_iter().collect::<Vec<_>>().join(", ");
    let count = all.len();
    let everywhere: Vec<String> = choices
        .iter()
        .filter(|(_, met)| **met == count)
        .map(|(choice, _)| choice.join(" "))
        .collect();
    if !everywhere.is_empty() {
        return Some(format!("Under all {count} conditions ({names}): {}.", everywhere.join("; ")));
    }
    let most = choices.values().copied().max()?;
    let nearest = choices.iter().filter(|(_, met)| **met == most);
    let nearest: Vec<String> = nearest.map(|(choice, _)| choice.join(" ")).collect();
    let who = match (most, nearest.as_slice()) {
        (0, _) => "none meets it under any".to_owned(),
        (_, [only]) => format!("{only} does under {most}"),
        (_, several) => format!("{} do under {most} each", several.join(" and ")),
    };
    Some(format!("No choice certainly meets it under all {count} conditions ({names}); {who}."))
}

/// The factors that are the same in all cells that were compared with one another, and not in all cells.
fn conditions(document: &Document) -> Option<BTreeSet<String>> {
    let mut groups: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for difference in &document.differences {
        let group = groups.entry(difference.against).or_default();
        group.extend([difference.against, difference.cell]);
    }
    let texts = |cells: &mut dyn Iterator<Item = &CellResult>, name: &str| -> usize {
        cells.map(|cell| cell.factor_text(name)).collect::<BTreeSet<_>>().len()
    };
    let is_condition = |name: &String| {
        let is_fixed = |group: &BTreeSet<u32>| {
            let mut cells = group.iter().filter_map(|cell| document.cells.get(*cell as usize));
            texts(&mut cells, name) <= 1
        };
        groups.values().all(is_fixed) && texts(&mut document.cells.iter(), name) > 1
    };
    (groups.len() > 1)
        .then(|| factor_names(&document.cells).into_iter().filter(is_condition).collect())
}
