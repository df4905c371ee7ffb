//! How well two substrates agree, as a table.

use trackbed_measure::agreement::{Agreement, AgreementVerdict};

use crate::number::Decimals;
use crate::table::{Align, Table};

const TITLES: &str =
    "cell|metric|virtual|emulated|n|ratio|interval|margin|correlation|with computing|verdict";

/// Renders the comparison for the terminal, the answer first.
pub fn render(answer: &str, cells: &[Agreement]) -> String {
    let mut table = Table::new(TITLES.split('|').map(|title| match title {
        "cell" | "metric" | "verdict" => (title, Align::Left),
        _ => (title, Align::Right),
    }));
    for cell in cells {
        let decimals = Decimals::of([cell.virtually, cell.emulated]);
        table.row([
            format!("{} {}", cell.cell, cell.name),
            cell.metric.clone(),
            decimals.text(cell.virtually),
            decimals.text(cell.emulated),
            cell.pairs.to_string(),
            format!("{:.3}", cell.ratio),
            interval(cell.ci90),
            format!("{:.0} %", cell.margin * 100.0),
            cell.correlation.map_or(String::new(), |value| format!("{value:.2}")),
            cell.with_computing
                .as_ref()
                .map_or(String::new(), |with| format!("{:.3} {}", with.ratio, interval(with.ci90))),
            verdict(cell),
        ]);
    }
    format!("{answer}\n\n{table}")
}

/// An interval that could not be computed is from 0 to 1e12.
fn interval([low, high]: [f64; 2]) -> String {
    if high > 1e6 { "unknown".to_owned() } else { format!("[{low:.3}, {high:.3}]") }
}

fn verdict(cell: &Agreement) -> String {
    match (cell.verdict, cell.pairs_to_decide) {
        (AgreementVerdict::Equivalent, _) => "equivalent".to_owned(),
        (AgreementVerdict::EquivalentWithComputing, _) => "equivalent with computing".to_owned(),
        (AgreementVerdict::Different, _) => "different".to_owned(),
        (AgreementVerdict::Undecided, None) => "undecided".to_owned(),
        (AgreementVerdict::Undecided, Some(pairs)) => {
            format!("undecided; about {pairs} pairs decide")
        }
    }
}
