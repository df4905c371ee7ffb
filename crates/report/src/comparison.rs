//! A paper's figures and claims beside ours.

use std::fmt::Write as _;

use trackbed_measure::reference::{Claim, ClaimVerdict, Comparison, Figure};

use crate::number::{Decimals, dash};
use crate::table::{Align, Table};

/// Renders the comparison for the terminal.
pub fn render(comparison: &Comparison) -> String {
    let mut text = format!("paper: {}\n", comparison.title);
    let written = match comparison.figures.is_empty() {
        true => Ok(()),
        false => write!(text, "\n{}", figures(comparison)),
    };
    let is_measured = |claim: &&Claim| claim.verdict != ClaimVerdict::NotMeasured;
    let (measured, others): (Vec<_>, Vec<_>) = comparison.claims.iter().partition(is_measured);
    let written = written.and_then(|()| {
        measured.iter().try_for_each(|claim| writeln!(text, "\n{}", claim_text(claim)))?;
        match others.as_slice() {
            [] => Ok(()),
            [only] => writeln!(text, "\n{}", claim_text(only)),
            many => {
                writeln!(text, "\n{} claims not measured: the settings left cells out", many.len())
            }
        }?;
        comparison.definitions.iter().try_for_each(|(metric, help)| {
            writeln!(text, "\n{metric}:")?;
            lines(help).iter().try_for_each(|line| writeln!(text, "  {line}"))
        })
    });
    written.expect("a String takes everything");
    text
}

/// The words of a text in lines that fit a terminal.
fn lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one from the beginning");
        if line.is_empty() || line.chars().count() + 1 + word.chars().count() <= LINE_CHARS {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

const LINE_CHARS: usize = 96;

/// The figures of the paper beside ours.
pub(crate) fn figures(comparison: &Comparison) -> Table {
    let titles = ["figure", "cell", "paper", "here", "95 % interval", "off by %"];
    let mut table = Table::new(titles.map(|title| match title {
        "figure" | "cell" => (title, Align::Left),
        _ => (title, Align::Right),
    }));
    for figure in &comparison.figures {
        let Figure { metric, cell, paper, ours, ci95 } = figure;
        let decimals = Decimals::of(ours.iter().copied().chain([*paper]));
        let interval = match ci95 {
            None => dash(),
            Some([low, high]) if low == high => "constant".to_owned(),
            Some(ends) => decimals.interval(*ends),
        };
        let off = ours.filter(|_| *paper != 0.0).map(|ours| (ours / paper - 1.0) * 100.0);
        table.row([
            metric.clone(),
            cell.clone(),
            decimals.text(*paper),
            ours.map_or_else(dash, |ours| decimals.text(ours)),
            interval,
            off.map_or_else(dash, |off| format!("{off:+.1}")),
        ]);
    }
    table
}

fn claim_text(claim: &Claim) -> String {
    let verdict = match (claim.verdict, claim.margin_percent) {
        (ClaimVerdict::Holds, _) => "holds",
        (ClaimVerdict::Contradicted, None) => "does not hold: the difference has the other sign",
        (ClaimVerdict::Contradicted, Some(_)) => {
            "does not hold: the difference lies outside of the margin"
        }
        (ClaimVerdict::Undecided, None) => {
            "undecided: the interval includes zero, or runs are too few"
        }
        (ClaimVerdict::Undecided, Some(_)) => {
            "undecided: the interval reaches across the margin, or runs are too few"
        }
        (ClaimVerdict::NotMeasured, _) => "not measured: the settings left a cell out",
    };
    let paper = &claim.claimed;
    match (claim.ours_percent, claim.ci95_percent) {
        (Some(ours), Some([low, high])) => format!(
            "claim: {}\n  {verdict}; here {ours:+.1} % [{low:+.1}, {high:+.1}], \
             in the paper {paper}",
            claim.text
        ),
        _ => format!("claim: {}\n  {verdict}", claim.text),
    }
}
