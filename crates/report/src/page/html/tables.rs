//! Terminal tables as HTML tables.

use maud::{Markup, html};

use crate::table::{Align, Table};

/// Rows of a table; the page refers to the run directory for the rest.
const ROWS_MAX: usize = 1_000;

/// A table that scrolls on its own, labelled for screen readers.
pub(super) fn table(table: &Table, name: &str) -> Markup {
    let columns: Vec<(String, bool)> = table
        .columns()
        .iter()
        .map(|(title, align)| (title.replace('\n', " ").trim().to_owned(), *align == Align::Left))
        .collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table {
                thead { tr {
                    @for (title, left) in &columns { th scope="col" .l[*left] { (title) } }
                } }
                tbody {
                    @for row in table.rows().iter().take(ROWS_MAX) { (self::row(row, &columns)) }
                }
            }
        }
        @if table.rows().len() > ROWS_MAX {
            p.note { "... and " (table.rows().len() - ROWS_MAX) " more rows; run.json has them all." }
        }
    }
}

fn row(row: &[String], columns: &[(String, bool)]) -> Markup {
    html! {
        tr {
            @for (text, (_, left)) in row.iter().zip(columns) {
                @if *left { td.l { (text) } } @else { td { (text) } }
            }
        }
    }
}
