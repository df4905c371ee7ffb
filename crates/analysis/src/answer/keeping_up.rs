//! Whether a unit keeps up with the vehicles of a crossing.

use std::collections::BTreeSet;

use trackbed_measure::results::CellResult;

use super::names::Names;
use crate::groups::Section;
use crate::number::{Decimals, plural};

/// The metric that decides.
pub(super) const METRIC: &str = "late_verdict_ratio";

/// `Enough for 320 vehicles: cached certificates: 42 % of 4 cores, p99 1.1 ms. Not enough: each certificate verified
/// again: 31 % late.`
pub(super) fn sentence(section: &Section<'_>) -> Option<String> {
    let cells: Vec<&CellResult> = section.results().filter(|cell| cell.unit.is_some()).collect();
    let names = Names::new(section.document, &cells, &cells);
    let vehicles: BTreeSet<u64> = cells.iter().filter_map(|it| Some(it.unit?.vehicles)).collect();
    let of = match (vehicles.len(), vehicles.first()?) {
        (1, 0) => " for these vehicles".to_owned(),
        (1, vehicles) => format!(" for {vehicles} vehicles"),
        _ => String::new(),
    };
    let is_enough = |cell: &&CellResult| cell.mean(METRIC).is_some_and(|late| late < LATE_MOST);
    let (enough, short): (Vec<&CellResult>, Vec<&CellResult>) =
        cells.iter().partition(|cell| is_enough(cell));
    let list = |title: &str, some: &[&CellResult]| {
        let text = |cell: &&CellResult| {
            let mark = if cell.is_extrapolated { " (extrapolated)" } else { "" };
            // Among all: the lists may differ in what is the same within each.
            let name = names.cell(cell, &cells);
            let name = if name.is_empty() { name } else { format!("{name}: ") };
            Some(format!("{name}{}{mark}", outcome(cell)?))
        };
        let mut texts: Vec<String> = some.iter().filter_map(text).collect();
        let others = texts.len().saturating_sub(SHOWN_MAX);
        texts.truncate(SHOWN_MAX);
        texts.extend((others > 0).then(|| format!("{others} others")));
        (!texts.is_empty()).then(|| format!("{title}{of}: {}.", texts.join("; ")))
    };
    match (list("Enough", &enough), list("Not enough", &short)) {
        (Some(enough), Some(short)) => Some(format!("{enough} {short}")),
        (enough, short) => enough.or(short),
    }
}

/// `42 % of 4 cores, p99 1.1 ms`, or `42 % of 4 cores, 31 % late`
fn outcome(cell: &CellResult) -> Option<String> {
    let (used, late) = (cell.mean("verification_cpu_percent")?, cell.mean(METRIC)?);
    let cores = plural(cell.unit?.cores, "core");
    let end = match cell.metrics.get("verdict_ms").and_then(|verdict| verdict.tail()) {
        _ if late >= LATE_MOST => format!("{} % late", rounded(100.0 * late)),
        Some((name, value)) => format!("{name} {} ms", Decimals::of([value]).text(value)),
        None => "none late".to_owned(),
    };
    Some(format!("{} % of {cores}, {end}", rounded(used)))
}

fn rounded(percent: f64) -> String {
    Decimals::significant(percent, 2).text(percent)
}

/// From this share of late verdicts on, a unit does not keep up.
const LATE_MOST: f64 = 0.001;
/// More cells are in the table.
const SHOWN_MAX: usize = 6;
