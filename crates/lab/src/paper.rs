//! Holds a paper's figures and claims against our runs of its scenario.

use std::collections::BTreeMap;

use serde::Deserialize;
use trackbed_measure::reference::{Claim, ClaimVerdict, Comparison, Figure};
use trackbed_measure::results::{CellResult, Check, RunResult};
use trackbed_stats::{MIN_PAIRS, paired};

use crate::aggregate::{run_means, sorted_by_cell};
use crate::scenario::Plan;

/// The papers, by the name that a scenario gives in its `paper` key.
const PAPERS: [(&str, &str); 1] = [("vru", include_str!("../../../scenarios/reference/vru.toml"))];

/// The names of all papers.
pub fn names() -> impl Iterator<Item = &'static str> {
    PAPERS.into_iter().map(|(name, _)| name)
}

/// Compares the runs of `plan` with the paper called `name`; `None` if there is no such paper.
///
/// # Panics
/// If the built-in reference file is not valid.
pub fn compare(
    name: &str,
    plan: &Plan,
    cells: &[CellResult],
    runs: &[RunResult],
) -> Option<Comparison> {
    let text = PAPERS.iter().find(|(paper, _)| *paper == name)?.1;
    let reference: Reference = toml::from_str(text).expect("the built-in reference is valid");
    let by_cell = sorted_by_cell(plan, runs);
    let figures = reference.figure.into_iter().map(|figure| {
        let found = find(cells, &figure.cell);
        let summary = found.and_then(|index| cells[index].metrics.get(&figure.metric));
        Figure {
            cell: selector_text(&figure.cell),
            metric: figure.metric,
            paper: figure.value,
            ours: summary.map(|summary| summary.mean),
            ci95: summary.map(|summary| summary.ci95),
        }
    });
    let claims = reference.claim.into_iter().map(|claim| {
        let means = |selector| {
            find(cells, selector).map(|index| run_means(&by_cell[index], &claim.metric, plan.runs))
        };
        let pair = means(&claim.against).zip(means(&claim.cell));
        let pairs = pair.and_then(|(against, cell)| paired(&against, &cell).ok());
        let relative = pairs.and_then(|pairs| pairs.relative);
        let ci95 = relative.map(|relative| relative.ci95.map(|end| end * 100.0));
        Claim {
            text: claim.text,
            paper_percent: claim.percent,
            ours_percent: relative.map(|relative| relative.mean * 100.0),
            ci95_percent: ci95,
            verdict: verdict(claim.percent, ci95, pairs.map_or(0, |pairs| pairs.n)),
        }
    });
    Some(Comparison {
        title: reference.title,
        figures: figures.collect(),
        claims: claims.collect(),
    })
}

/// The claims as checks: one that is contradicted or undecided does not pass.
pub fn checks(comparison: &Comparison) -> Vec<Check> {
    let check = |claim: &Claim| Check {
        name: claim.text.clone(),
        pass: claim.verdict == ClaimVerdict::Holds,
        detail: match (claim.ours_percent, claim.ci95_percent) {
            (Some(ours), Some([low, high])) => format!(
                "here {ours:+.1} % [{low:+.1}, {high:+.1}], in the paper {:+.0} %",
                claim.paper_percent
            ),
            _ => "not measured: the scenario was changed so that a cell is missing".to_owned(),
        },
    };
    comparison.claims.iter().map(check).collect()
}

fn verdict(claimed_percent: f64, ci95: Option<[f64; 2]>, pairs: usize) -> ClaimVerdict {
    match ci95 {
        None => ClaimVerdict::NotMeasured,
        Some(_) if pairs < MIN_PAIRS => ClaimVerdict::Undecided,
        Some([low, high]) if low <= 0.0 && high >= 0.0 => ClaimVerdict::Undecided,
        Some([low, _]) if (low > 0.0) == (claimed_percent > 0.0) => ClaimVerdict::Holds,
        Some(_) => ClaimVerdict::Contradicted,
    }
}

/// The first cell that has all the selector's factors.
fn find(cells: &[CellResult], selector: &Selector) -> Option<usize> {
    let fits =
        |cell: &CellResult| selector.iter().all(|(name, text)| cell.factor_text(name) == *text);
    cells.iter().position(fits)
}

fn selector_text(selector: &Selector) -> String {
    ["protocol", "tls", "handshake"]
        .into_iter()
        .filter_map(|name| selector.get(name))
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

type Selector = BTreeMap<String, String>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    title: String,
    figure: Vec<ReferenceFigure>,
    claim: Vec<ReferenceClaim>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReferenceFigure {
    metric: String,
    cell: Selector,
    value: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReferenceClaim {
    text: String,
    metric: String,
    cell: Selector,
    against: Selector,
    percent: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_file_is_valid() {
        for (name, text) in PAPERS {
            let reference: Reference = toml::from_str(text).unwrap();
            assert!(!reference.figure.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_claim_holds_only_where_the_interval_excludes_zero() {
        assert_eq!(verdict(-15.0, Some([-16.0, -10.0]), 6), ClaimVerdict::Holds);
        assert_eq!(verdict(-15.0, Some([-16.0, 1.0]), 6), ClaimVerdict::Undecided);
        assert_eq!(verdict(-15.0, Some([2.0, 3.0]), 6), ClaimVerdict::Contradicted);
        assert_eq!(verdict(27.0, Some([2.0, 3.0]), 6), ClaimVerdict::Holds);
        assert_eq!(verdict(27.0, None, 6), ClaimVerdict::NotMeasured);
        assert_eq!(verdict(27.0, Some([2.0, 3.0]), 5), ClaimVerdict::Undecided);
    }
}
