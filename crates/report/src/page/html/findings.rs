//! Failed runs with the command that replays them, outliers and checks.

use maud::{Markup, html};
use trackbed_measure::results::{CellResult, Document, VIRTUAL};

use super::{Page, tables};
use crate::number::{plural, significant};
use crate::page::ranks::Outlying;
use crate::table::Table;
use crate::words::numbered;

/// Reasons listed per cell; the rest are counted.
const REASONS_MAX: usize = 10;

/// Cells listed with failed runs; the rest are counted.
const CELLS_MAX: usize = 100;

/// Outlying runs listed; the rest are counted.
const OUTLYING_MAX: usize = 20;

/// Runs that failed or were left out; empty if there are none.
pub(super) fn problems(page: &Page<'_>) -> Markup {
    let cells = || page.document.cells.iter().enumerate();
    let failed: Vec<(usize, &CellResult)> = cells().filter(|(_, cell)| cell.failed > 0).collect();
    let invalid: Vec<(usize, &CellResult)> = cells().filter(|(_, cell)| cell.invalid > 0).collect();
    if failed.is_empty() && invalid.is_empty() {
        return html! {};
    }
    html! {
        section #failures.card aria-labelledby="failures-title" {
            h2 #failures-title { "Failed runs" }
            @for (index, cell) in failed.iter().take(CELLS_MAX) { (failures(page, *index, cell)) }
            @if failed.len() > CELLS_MAX {
                p { "... and " (plural((failed.len() - CELLS_MAX) as u64, "more cell")) " with failed runs." }
            }
            @if !invalid.is_empty() {
                h3 { "Left out because this machine was too slow" }
                ul {
                    @for (index, cell) in invalid.iter().take(CELLS_MAX) {
                        li { (cell.left_out()) " of "
                             (numbered(page.document, *index as u32)) }
                    }
                }
                p.note { "trackbed run --keep-invalid includes them." }
            }
        }
    }
}

fn failures(page: &Page<'_>, index: usize, cell: &CellResult) -> Markup {
    html! {
        h3.bad { (plural(cell.failed.into(), "run")) " of " (numbered(page.document, index as u32)) }
        ul {
            @for failure in cell.failures.iter().take(REASONS_MAX) {
                li {
                    @if failure.count > 1 { (failure.count) " times: " }
                    (failure.reason)
                    @if can_replay(page) {
                        br;
                        code { (page.origin.replay) " " (index) " " (failure.run) }
                    }
                }
            }
            @if cell.failures.len() > REASONS_MAX {
                li { "... and " (cell.failures.len() - REASONS_MAX) " more reasons; run.json lists them all" }
            }
        }
    }
}

fn can_replay(page: &Page<'_>) -> bool {
    page.document.substrate == VIRTUAL && !page.origin.replay.is_empty()
}

/// Outlying runs; empty if there are none.
pub(super) fn outlying(page: &Page<'_>) -> Markup {
    if page.outlying.is_empty() {
        return html! {};
    }
    html! {
        section #outlying.card aria-labelledby="outlying-title" {
            h2 #outlying-title { "Outlying runs" }
            p.note {
                "They are included in all results. A run is outlying if it is more than three \
                 interquartile ranges away from the middle half; the limit is wider on the side to \
                 which values are skewed."
            }
            (tables::table(&outlying_table(page), "Outlying runs"))
            @if page.outlying.len() > OUTLYING_MAX {
                p.note { "... and " (page.outlying.len() - OUTLYING_MAX) " more." }
            }
        }
    }
}

fn outlying_table(page: &Page<'_>) -> Table {
    let can_replay = can_replay(page);
    let titles = ">cell|>run|metric|>value|>median of the cell";
    let again = if can_replay { "|replay with" } else { "" };
    let mut table = Table::titled(&format!("{titles}{again}"));
    for one in page.outlying.iter().take(OUTLYING_MAX) {
        let Outlying { cell, run, metric, value, median } = one;
        let mut row = vec![cell.to_string(), run.to_string(), (*metric).to_owned()];
        row.extend([value, median].map(|value| significant(*value)));
        row.extend(can_replay.then(|| format!("{} {cell} {run}", page.origin.replay)));
        table.row(row);
    }
    table
}

/// Every check, failed ones first.
pub(super) fn checks(document: &Document) -> Markup {
    if document.checks.is_empty() {
        return html! {};
    }
    let mut checks: Vec<_> = document.checks.iter().collect();
    checks.sort_by_key(|check| check.pass);
    let passed = checks.iter().filter(|check| check.pass).count();
    html! {
        section #checks.card aria-labelledby="checks-title" {
            h2 #checks-title { "Checks against arithmetic" }
            p { (passed) " of " (checks.len()) " passed." }
            details open[passed < checks.len()] {
                summary { "All checks" }
                ul.checks {
                    @for check in checks {
                        li {
                            strong .bad[!check.pass] { (if check.pass { "passed" } else { "FAILED" }) }
                            " " (check.name) ": " (check.detail)
                        }
                    }
                }
            }
        }
    }
}
