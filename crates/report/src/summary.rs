//! What `run` prints: the cells, how they differ, and what was checked.

use std::fmt::{self, Write as _};

use trackbed_measure::results::{CellResult, Document, MetricSummary, factor_names};

use crate::number::{signed, significant};
use crate::table::{Align, Table};

/// The metric that decides which cell is best; the first of these that a document has.
const HEADLINES: [&str; 2] = ["completion_ms", "rtt_ms"];

/// The metrics that the table of cells shows, in this order, where cells have them.
const COLUMNS: [&str; 6] = [
    "rtt_ms",
    "throughput_mbps",
    "handshake_ms",
    "retransmission_percent",
    "age_of_information_ms",
    "deadline_miss_ratio",
];

/// Renders a whole document for the terminal.
pub fn render(document: &Document) -> String {
    let mut text = String::new();
    let written = write_all(document, &mut text);
    written.expect("a String takes everything");
    text
}

fn write_all(document: &Document, out: &mut String) -> fmt::Result {
    let Document { scenario, substrate, seed, runs, .. } = document;
    writeln!(out, "{scenario}: {substrate} substrate, seed {seed}, {runs} runs a cell\n")?;
    let headline = headline(document);
    write!(out, "{}", cells(document, headline))?;
    if let Some(headline) = headline {
        write_differences(document, headline, out)?;
    }
    write_failures(document, out)?;
    write_checks(document, out)
}

/// The metric by which cells are ranked.
fn headline(document: &Document) -> Option<&'static str> {
    let has = |name: &str| document.cells.iter().any(|cell| cell.metrics.contains_key(name));
    HEADLINES.into_iter().find(|name| has(name))
}

fn cells(document: &Document, headline: Option<&str>) -> Table {
    let cells = &document.cells;
    let factors = factor_names(cells);
    let has = |name: &str| cells.iter().any(|cell| cell.metrics.contains_key(name));
    let shown: Vec<&str> = COLUMNS.into_iter().filter(|name| has(name)).collect();
    let expected = cells.iter().any(|cell| cell.expected_round_trips.is_some());

    let mut columns: Vec<(String, Align)> =
        factors.iter().map(|name| (name.clone(), Align::Left)).collect();
    if expected {
        columns.push(("RTTs".to_owned(), Align::Right));
        columns.push(("= ms".to_owned(), Align::Right));
    }
    if let Some(headline) = headline {
        for title in [headline, "[95 % interval]", "p50", "p95"] {
            columns.push((title.to_owned(), Align::Right));
        }
    }
    columns.extend(shown.iter().map(|name| ((*name).to_owned(), Align::Right)));
    columns.extend([("n".to_owned(), Align::Right), ("failed".to_owned(), Align::Right)]);

    let mut table = Table::new(columns);
    for cell in cells {
        let mut row: Vec<String> = factors.iter().map(|name| cell.factor_text(name)).collect();
        if expected {
            row.push(cell.expected_round_trips.map_or_else(dash, |count| count.to_string()));
            row.push(cell.expected_completion_ms.map_or_else(dash, significant));
        }
        if let Some(headline) = headline {
            row.extend(headline_cells(cell.metrics.get(headline)));
        }
        row.extend(shown.iter().map(|name| mean(cell, name)));
        row.push(ran(cell).to_string());
        row.push(cell.failed.to_string());
        table.row(row);
    }
    table
}

fn headline_cells(summary: Option<&MetricSummary>) -> [String; 4] {
    match summary {
        None => [dash(), dash(), dash(), dash()],
        Some(s) => [
            significant(s.mean),
            format!("[{}, {}]", significant(s.ci95[0]), significant(s.ci95[1])),
            significant(s.p50),
            significant(s.p95),
        ],
    }
}

fn mean(cell: &CellResult, metric: &str) -> String {
    cell.metrics.get(metric).map_or_else(dash, |summary| significant(summary.mean))
}

/// Runs of the cell that went through: the most that any metric has.
fn ran(cell: &CellResult) -> u32 {
    cell.metrics.values().map(|summary| summary.n).max().unwrap_or(0)
}

fn dash() -> String {
    "-".to_owned()
}

/// Each cell against the one that it was compared with, run by run.
fn write_differences(document: &Document, headline: &str, out: &mut String) -> fmt::Result {
    let of_headline: Vec<_> =
        document.differences.iter().filter(|difference| difference.metric == headline).collect();
    let Some(first) = of_headline.first() else { return Ok(()) };
    let against = name(document, first.against);
    writeln!(out, "\n{headline} against {against}, run by run (same seed, same misfortunes):\n")?;
    let factors = factor_names(&document.cells);
    let mut columns: Vec<(String, Align)> =
        factors.iter().map(|name| (name.clone(), Align::Left)).collect();
    for title in ["difference", "[95 % interval]", "percent", "verdict"] {
        columns.push((title.to_owned(), Align::Right));
    }
    let mut table = Table::new(columns);
    for difference in of_headline {
        let Some(cell) = document.cells.get(difference.cell as usize) else { continue };
        let mut row: Vec<String> = factors.iter().map(|name| cell.factor_text(name)).collect();
        let [low, high] = difference.ci95;
        row.push(signed(difference.mean));
        row.push(format!("[{}, {}]", signed(low), signed(high)));
        row.push(difference.percent.map_or_else(dash, |p| format!("{} %", signed(p))));
        row.push(verdict(low, high).to_owned());
        table.row(row);
    }
    write!(out, "{table}")
}

/// What an interval of a difference in a quantity that should be small says.
fn verdict(low: f64, high: f64) -> &'static str {
    match (low, high) {
        (low, _) if low > 0.0 => "slower",
        (_, high) if high < 0.0 => "faster",
        _ => "undecided",
    }
}

fn write_failures(document: &Document, out: &mut String) -> fmt::Result {
    let any = document.cells.iter().any(|cell| cell.failed > 0);
    if any {
        writeln!(out, "\nfailed runs:")?;
    }
    for (index, cell) in document.cells.iter().enumerate() {
        for failure in &cell.failures {
            let cell_name = name(document, index as u32);
            writeln!(out, "  {cell_name}: {} x {}", failure.count, failure.reason)?;
            writeln!(out, "    replay with cell {index}, run {}", failure.run)?;
        }
    }
    Ok(())
}

fn write_checks(document: &Document, out: &mut String) -> fmt::Result {
    if document.checks.is_empty() {
        return Ok(());
    }
    let passed = document.checks.iter().filter(|check| check.pass).count();
    writeln!(out, "\nchecks: {passed} of {} hold", document.checks.len())?;
    for check in &document.checks {
        let mark = if check.pass { "holds" } else { "FAILS" };
        writeln!(out, "  {mark}  {}: {}", check.name, check.detail)?;
    }
    Ok(())
}

/// A cell's factors in one line: `http2 1.2 new`.
pub fn name(document: &Document, cell: u32) -> String {
    let Some(cell) = document.cells.get(cell as usize) else { return format!("cell {cell}") };
    let names = factor_names(&document.cells);
    let texts: Vec<String> = names.iter().map(|name| cell.factor_text(name)).collect();
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}
