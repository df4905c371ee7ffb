//! The output of `advise`: which cells meet the needs, ranked, and why.

use std::fmt::{self, Write as _};

use trackbed_analysis::advise::{Advice, CellAdvice, Finding};

use crate::number::{Decimals, dash};
use crate::table::{Align, Table};
use crate::words::written;

/// Renders an answer for the terminal.
pub fn render(advice: &Advice) -> String {
    written(|out| write_all(advice, out))
}

fn write_all(advice: &Advice, out: &mut String) -> fmt::Result {
    let needs = advice.needs.join(" and ");
    writeln!(out, "{}\n", advice.answer)?;
    writeln!(out, "{}, {} substrate: {needs}", advice.scenario, advice.substrate)?;
    if let Some(model) = &advice.model {
        writeln!(out, "MODEL, no measurement: {model}")?;
    }
    writeln!(out)?;
    write!(out, "{}", table(advice))?;
    writeln!(out)?;
    for cell in &advice.cells {
        writeln!(out, "{}", cell.reason)?;
    }
    if advice.objectives.len() > 1 {
        let quantities = advice.objectives.iter().map(|objective| objective.quantity.as_str());
        let quantities = quantities.collect::<Vec<_>>().join(" and ");
        writeln!(
            out,
            "\n*: no other cell is significantly better in one of {quantities} and as good in \
                       the others"
        )?;
    }
    if !advice.baselines.is_empty() {
        let cells: Vec<String> = advice.baselines.iter().map(u32::to_string).collect();
        let word = if cells.len() == 1 { "cell" } else { "cells" };
        writeln!(out, "\nbaseline: {word} {}", cells.join(", "))?;
    }
    Ok(())
}

/// A row for each cell, the best first: number, name, findings and verdict.
fn table(advice: &Advice) -> Table {
    let findings = advice.cells.first().map_or(&[][..], |cell| &cell.findings);
    let mut columns = vec![("cell".to_owned(), Align::Right), (String::new(), Align::Left)];
    for finding in findings {
        columns.push((finding.comparison.clone(), Align::Right));
        columns.push(("95 %".to_owned(), Align::Left));
    }
    columns.push(("margin".to_owned(), Align::Right));
    columns.push((String::new(), Align::Left));
    let mut table = Table::new(columns);
    let decimals: Vec<Decimals> =
        (0..findings.len()).map(|index| Decimals::of(numbers(advice, index))).collect();
    for cell in &advice.cells {
        table.row(row(cell, &decimals));
    }
    table
}

fn row(cell: &CellAdvice, decimals: &[Decimals]) -> Vec<String> {
    let mark = if cell.on_front { "*" } else { "" };
    let mut row = vec![cell.cell.to_string(), format!("{}{mark}", cell.name)];
    for (finding, decimals) in cell.findings.iter().zip(decimals) {
        let end = |end: Option<f64>| end.map_or_else(dash, |end| decimals.text(end));
        match finding.measured {
            Some(measured) => {
                row.push(decimals.text(measured.value));
                row.push(format!("[{}, {}]", end(measured.low), end(measured.high)));
            }
            None => row.extend([dash(), String::new()]),
        }
    }
    row.push(cell.margin.map_or_else(dash, |margin| format!("{:+.0} %", margin * 100.0)));
    row.push(cell.verdict.to_string());
    row
}

/// The values in the column of a finding.
fn numbers(advice: &Advice, index: usize) -> impl Iterator<Item = f64> {
    let of = move |finding: &Finding| finding.measured.map(|measured| measured.value);
    advice.cells.iter().filter_map(move |cell| cell.findings.get(index).and_then(of))
}
