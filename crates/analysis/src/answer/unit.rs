//! Whether a unit keeps up with the vehicles of a crossing.

use trackbed_measure::results::CellResult;

use super::names::Names;
use super::sentence::digits;
use crate::groups::Section;
use crate::number::{Decimals, plural};

/// The metric that decides.
pub(super) const METRIC: &str = "late_verdict_ratio";

/// `Enough for 320 vehicles: cached certificates: 42 % of 4 cores, p99 1.1 ms. Not enough: each certificate verified
/// again: 31 % late.`
pub(super) fn keeping_up(section: &Section<'_>) -> Option<String> {
    let cells: Vec<&CellResult> = section.results().filter(|cell| cell.unit.is_some()).collect();
    let names = Names::new(section.document, &cells, &cells);
    let mut vehicles: Vec<u64> =
        cells.iter().filter_map(|cell| Some(cell.unit?.vehicles)).collect();
    vehicles.dedup();
    let of = match vehicles.as_slice() {
        [] => return None,
        [vehicles] => format!(" for {vehicles} vehicles"),
        _ => String::new(),
    };
    let is_enough = |cell: &&CellResult| mean(cell, METRIC).is_some_and(|late| late < LATE_MOST);
    let (enough, short): (Vec<&CellResult>, Vec<&CellResult>) =
        cells.iter().partition(|cell| is_enough(cell));
    let list = |title: &str, cells: &[&CellResult]| {
        let text = |cell: &&CellResult| {
            let mark = if cell.is_extrapolated { " (extrapolated)" } else { "" };
            let name = names.cell(cell, cells) + mark;
            let name = if name.is_empty() { name } else { format!("{name}: ") };
            Some(format!("{name}{}", outcome(cell)?))
        };
        let texts: Vec<String> = cells.iter().filter_map(text).collect();
        let more = texts.len().saturating_sub(SHOWN_MAX);
        let rest = if more > 0 { format!("; {more} others") } else { String::new() };
        let shown = texts.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join("; ");
        (!texts.is_empty()).then(|| format!("{title}{of}: {shown}{rest}."))
    };
    let sentences = [list("Enough", &enough), list("Not enough", &short)];
    Some(sentences.into_iter().flatten().collect::<Vec<_>>().join(" "))
        .filter(|all| !all.is_empty())
}

/// `42 % of 4 cores, p99 1.1 ms`, or `42 % of 4 cores, 31 % late`
fn outcome(cell: &CellResult) -> Option<String> {
    let (used, late) = (mean(cell, "verification_cpu_percent")?, mean(cell, METRIC)?);
    let cores = plural(cell.unit?.cores, "core");
    let end = match cell.metrics.get("verdict_ms").and_then(|verdict| verdict.tail()) {
        _ if late >= LATE_MOST => format!("{} % late", rounded(100.0 * late)),
        Some((name, value)) => format!("{name} {} ms", digits(value)),
        None => "none late".to_owned(),
    };
    Some(format!("{} % of {cores}, {end}", rounded(used)))
}

fn rounded(percent: f64) -> String {
    Decimals::significant(percent, 2).text(percent)
}

fn mean(cell: &CellResult, metric: &str) -> Option<f64> {
    cell.metrics.get(metric).map(|summary| summary.mean)
}

/// From this share of late verdicts on, a unit does not keep up.
const LATE_MOST: f64 = 0.001;
/// More cells are in the table.
const SHOWN_MAX: usize = 6;
