//! A paper's figures and claims beside ours.

use std::fmt::Write as _;

use trackbed_measure::reference::{Claim, ClaimVerdict, Comparison};

use crate::number::significant;
use crate::table::{Align, Table};

/// Renders the comparison for the terminal.
pub fn render(comparison: &Comparison) -> String {
    let mut text = format!("paper: {}\n\n", comparison.title);
    let mut table = Table::new([
        ("figure", Align::Left),
        ("cell", Align::Left),
        ("paper", Align::Right),
        ("here", Align::Right),
        ("[95 % interval]", Align::Right),
    ]);
    for figure in &comparison.figures {
        let interval = figure.ci95.map_or_else(dash, |[low, high]| {
            format!("[{}, {}]", significant(low), significant(high))
        });
        table.row([
            figure.metric.clone(),
            figure.cell.clone(),
            significant(figure.paper),
            figure.ours.map_or_else(dash, significant),
            interval,
        ]);
    }
    let written = write!(text, "{table}").and_then(|()| {
        comparison.claims.iter().try_for_each(|claim| writeln!(text, "\n{}", claim_text(claim)))
    });
    written.expect("a String takes everything");
    text
}

fn claim_text(claim: &Claim) -> String {
    let verdict = match claim.verdict {
        ClaimVerdict::Holds => "holds",
        ClaimVerdict::Contradicted => "does not hold: the difference has the other sign",
        ClaimVerdict::Undecided => "undecided: the interval includes zero",
        ClaimVerdict::NotMeasured => "not measured: a cell is missing in this run",
    };
    let paper = claim.paper_percent;
    match (claim.ours_percent, claim.ci95_percent) {
        (Some(ours), Some([low, high])) => format!(
            "claim: {}\n  {verdict}; here {ours:+.1} % [{low:+.1}, {high:+.1}], \
             in the paper {paper:+.0} %",
            claim.text
        ),
        _ => format!("claim: {}\n  {verdict}", claim.text),
    }
}

fn dash() -> String {
    "-".to_owned()
}
