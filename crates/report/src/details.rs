//! Every metric of every cell.

use trackbed_measure::results::{Document, MIN_RUNS};

use crate::cells::interval;
use crate::number::Decimals;
use crate::table::Table;

/// A row for each metric of each cell, with its distribution.
pub(crate) fn table(document: &Document) -> Table {
    let mut table =
        Table::titled(">cell|metric|>mean|>95 % CI|>p50|>p95|>p99|>min|>max|>n|>samples");
    for (index, cell) in document.cells.iter().enumerate() {
        for (name, summary) in &cell.metrics {
            let s = summary;
            let decimals = Decimals::of([s.mean, s.max]);
            let mut row = vec![index.to_string(), name.clone()];
            let ends = (s.n >= MIN_RUNS).then_some(s.ci95);
            row.extend([decimals.text(s.mean), interval(s, ends, decimals)]);
            row.extend([s.p50, s.p95, s.p99, s.min, s.max].map(|value| decimals.text(value)));
            row.extend([s.n.to_string(), s.samples.to_string()]);
            table.row(row);
        }
    }
    table
}
