//! What foreseeing handovers buys on a line, and what it costs.

use trackbed_measure::results::CellResult;

use super::names::Names;
use crate::groups::Section;
use crate::number::{Decimals, plural};

/// The factor that chooses it, and the value without.
const FACTOR: &str = "foresight";
const WITHOUT: &str = "none";

/// `Foresight on this line: pha-d shortens the longest gap of a ride from 0.99 to 0.14 s and costs 0.4 % of goodput in
/// 12 rides.`
pub(super) fn of(section: &Section<'_>) -> Option<String> {
    let all: Vec<&CellResult> = section.results().collect();
    let others: Vec<&CellResult> = all
        .iter()
        .copied()
        .filter(|cell| !["", WITHOUT].contains(&cell.factor_text(FACTOR).as_str()))
        .filter(|cell| !cell.is_bound)
        .collect();
    let names = Names::new(section.document, &others, &all);
    let told: Vec<String> = others
        .iter()
        .filter_map(|cell| {
            let is_twin = |twin: &&&CellResult| {
                let mut keys = cell.factors.keys().filter(|name| *name != FACTOR);
                twin.factor_text(FACTOR) == WITHOUT
                    && keys.all(|name| twin.factor_text(name) == cell.factor_text(name))
            };
            let twin = all.iter().find(is_twin)?;
            let gap = |cell: &CellResult| Some(cell.metrics.get("gap_ms")?.p50 / 1e3);
            let goodput = |cell: &CellResult| cell.mean("goodput_mbps");
            let (before, after) = (gap(twin)?, gap(cell)?);
            let change = 100.0 * (goodput(cell)? / goodput(twin)? - 1.0);
            let cost = if change < 0.0 { "costs" } else { "adds" };
            let name = match others.len() {
                1 => cell.factor_text(FACTOR),
                _ => names.cell(cell, &others),
            };
            let short = |value: f64| Decimals::significant(value, 2).text(value);
            // A recorded drive is the same in every run.
            let varies = |name| cell.metrics.get(name).is_some_and(|it| it.min < it.max);
            let (all, varies) =
                (cell.metrics.get("gap_ms")?.n, varies("gap_ms") || varies("goodput_mbps"));
            let rides = plural(if varies { all.into() } else { 1 }, "ride");
            let gap = match (short(before), short(after)) {
                (was, is) if was == is => format!("leaves the longest gap of a ride at {is} s"),
                (was, is) => {
                    let verb = if after < before { "shortens" } else { "lengthens" };
                    format!("{verb} the longest gap of a ride from {was} to {is} s")
                }
            };
            Some(format!("{name} {gap} and {cost} {:.1} % of goodput in {rides}", change.abs()))
        })
        .collect();
    let most = told.len() <= TOLD_MAX && !told.is_empty();
    most.then(|| format!("Foresight on this line: {}.", told.join("; ")))
}

/// More pairs are a table.
const TOLD_MAX: usize = 4;
