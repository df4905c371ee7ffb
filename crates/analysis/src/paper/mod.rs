//! Holds a paper's figures and claims against our runs of its scenario.

mod edge;
mod held;
mod reference;
mod verdict;

use trackbed_measure::metrics;
use trackbed_measure::reference::{Claim, ClaimVerdict, Comparison, Figure};
use trackbed_measure::results::{CellResult, Check, Document};

use crate::aggregate::run_means;
pub use edge::Study;
pub use held::{Held, PaperDocument};
use reference::{Reference, ReferenceClaim, ReferenceFigure, Selector};
use trackbed_archive::{Counted, DirectoryError, Results};
use trackbed_scenario::Plan;
use trackbed_scenario::papers::{self, PAPERS};
use verdict::{Found, Runs, difference, verdict, widening};

/// Holds the paper called `name` against the runs of `plan`, which `document` sums up; `None` if there is
/// no such paper. Runs for which the machine was too slow count if `keep_invalid`.
///
/// # Errors
/// If the results cannot be read.
///
/// # Panics
/// If the built-in reference file is not valid.
pub fn hold(
    name: &str,
    plan: &Plan,
    document: &Document,
    results: &dyn Results,
    keep_invalid: bool,
) -> Result<Option<Held>, DirectoryError> {
    let counted = Counted { plan, results, keep_invalid };
    if name == papers::EDGE {
        return Ok(Some(Held::Guidance(edge::study(document, &counted.all()?))));
    }
    let Some((_, text)) = PAPERS.iter().find(|(paper, _)| *paper == name) else { return Ok(None) };
    let ours = Ours { cells: &document.cells, counted };
    Ok(Some(Held::Claims(compare(Reference::parse(text), &ours)?)))
}

fn compare(reference: Reference, ours: &Ours<'_>) -> Result<Comparison, DirectoryError> {
    let figures = reference.figure.iter().map(|figure| figure.metric.as_str());
    let claims = reference.claim.iter().map(|claim| claim.metric.as_str());
    let definition = |name: &str| Some((name.to_owned(), metrics::find(name)?.help.to_owned()));
    let definitions = figures.chain(claims).filter_map(definition).collect();
    Ok(Comparison {
        title: reference.title,
        figures: reference.figure.into_iter().map(|figure| ours.figure(figure)).collect(),
        claims: reference
            .claim
            .iter()
            .flat_map(ReferenceClaim::each)
            .map(|claim| ours.claim(claim))
            .collect::<Result<_, _>>()?,
        definitions,
    })
}

/// Our runs.
struct Ours<'a> {
    cells: &'a [CellResult],
    counted: Counted<'a>,
}

impl Ours<'_> {
    fn figure(&self, figure: ReferenceFigure) -> Figure {
        let found = figure.cell.find(self.cells);
        let summary = found.and_then(|index| self.cells[index].metrics.get(&figure.metric));
        Figure {
            cell: figure.cell.values(),
            metric: figure.metric,
            paper: figure.value,
            ours: summary.map(|summary| summary.mean),
            ci95: summary.map(|summary| summary.ci95),
        }
    }

    fn claim(&self, claim: ReferenceClaim) -> Result<Claim, DirectoryError> {
        let (found, says) = (self.found(&claim)?, claim.says());
        Ok(Claim {
            verdict: verdict(says.bounds(), found),
            text: claim.text,
            claimed: says.to_string(),
            margin_percent: says.margin,
            ours_percent: found.map(|found| found.percent),
            ci95_percent: found.map(|found| found.ci95),
        })
    }

    fn found(&self, claim: &ReferenceClaim) -> Result<Option<Found>, DirectoryError> {
        let runs = |selector: &Selector| self.runs(selector, &claim.metric);
        let (Some(cell), Some(against)) = (runs(&claim.cell)?, runs(&claim.against)?) else {
            return Ok(None);
        };
        let Some(place) = &claim.beyond else { return Ok(difference(&cell, &against)) };
        let here = [runs(&claim.cell.with(place))?, runs(&claim.against.with(place))?];
        Ok(match &here {
            [Some(cell_here), Some(against_here)] => {
                widening([&cell, &against], [cell_here, against_here])
            }
            _ => None,
        })
    }

    fn runs(&self, selector: &Selector, metric: &str) -> Result<Option<Runs>, DirectoryError> {
        let Some(index) = selector.find(self.cells) else { return Ok(None) };
        let (runs, _) = self.counted.of(index as u32)?;
        Ok(Some(run_means(&runs, metric, self.counted.plan.runs)))
    }
}

/// The claims as checks: one that is contradicted or undecided does not pass.
fn checks(comparison: &Comparison) -> Vec<Check> {
    let check = |claim: &Claim| Check {
        name: claim.text.clone(),
        pass: claim.verdict == ClaimVerdict::Holds,
        detail: match (claim.ours_percent, claim.ci95_percent) {
            (Some(ours), Some([low, high])) => {
                format!("here {ours:+.1} % [{low:+.1}, {high:+.1}], in the paper {}", claim.claimed)
            }
            _ => "not measured: the scenario was changed so that a cell is missing".to_owned(),
        },
    };
    comparison.claims.iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use trackbed_measure::metrics;
    use trackbed_measure::results::{Certificate, Outcome, Reliability, RunResult};

    use super::*;
    use trackbed_measure::results::VIRTUAL;
    use trackbed_scenario::{self as scenario, Override, Source};

    /// The cells of a plan without any runs.
    pub(super) fn document_of_nothing(plan: &Plan) -> Document {
        let origin = crate::Origin { substrate: VIRTUAL.to_owned(), ..crate::Origin::default() };
        crate::document(plan, &origin, &Vec::<RunResult>::new(), false).unwrap()
    }

    /// Every figure and claim is about a cell that its scenario has and a metric that there is, so
    /// that none can go unmeasured by a slip of the pen.
    #[test]
    fn every_reference_is_about_cells_of_its_scenario() {
        for (name, text) in PAPERS {
            let reference = Reference::parse(text);
            assert!(!reference.claim.is_empty(), "{name}");
            let plan = scenario::load(&Source::named(name), &[]).unwrap();
            assert_eq!(plan.paper.as_deref(), Some(name));
            let cells = document_of_nothing(&plan).cells;
            let known = |selector: &Selector| {
                assert!(selector.find(&cells).is_some(), "{name}: no cell {selector}");
            };
            let metric = |metric: &str| assert!(metrics::find(metric).is_some(), "{metric}");
            for figure in &reference.figure {
                known(&figure.cell);
                metric(&figure.metric);
            }
            for claim in reference.claim.iter().flat_map(ReferenceClaim::each) {
                let beyond = claim.beyond.clone().unwrap_or_default();
                for selector in [&claim.cell, &claim.against] {
                    known(selector);
                    known(&selector.with(&beyond));
                }
                metric(&claim.metric);
                let says = claim.says();
                assert!(says.percent.is_some() != says.direction.is_some(), "{}", claim.text);
                assert!(says.percent != Some(0.0) || says.margin.is_some(), "{}", claim.text);
            }
        }
    }

    /// Runs for which the machine was too slow are in a claim where they are in the tables, and only
    /// there.
    #[test]
    fn claims_count_the_runs_that_tables_count() {
        let overrides = ["runs=12".parse::<Override>().unwrap()];
        let plan = scenario::load(&Source::named("vru"), &overrides).unwrap();
        let document = document_of_nothing(&plan);
        let claim = &Reference::parse(PAPERS[0].1).claim[0];
        let claimed = claim.cell.find(&document.cells).unwrap();
        let run = |cell: usize, run: u32| {
            let is_late = run >= 6;
            let factor = match (cell == claimed, is_late) {
                (false, _) => 1.0,
                (true, false) => 0.9,
                (true, true) => 3.0,
            };
            let value = (100.0 + f64::from(run)) * factor;
            let samples = BTreeMap::from([(claim.metric.clone(), vec![value])]);
            let certificate = is_late.then(|| Certificate {
                verdict: Reliability::Invalid,
                packets: 1,
                late_p50_us: 9e3,
                late_p99_us: 9e3,
                late_max_us: 9e3,
                late_percent: 100.0,
                overflowed: 0,
                processor_ms: 0.0,
                histogram: Vec::new(),
            });
            RunResult { cell: cell as u32, run, outcome: Outcome::Samples(samples), certificate }
        };
        let cells = 0..document.cells.len();
        let runs: Vec<RunResult> = cells
            .flat_map(|cell| (0..12).map(move |number| (cell, number)))
            .map(|(cell, number)| run(cell, number))
            .collect();
        let percent = |keep_invalid| {
            let held = hold("vru", &plan, &document, &runs, keep_invalid).unwrap().unwrap();
            let Held::Claims(comparison) = held else { panic!("a paper that makes claims") };
            comparison.claims[0].ours_percent.unwrap()
        };
        assert!((percent(false) + 10.0).abs() < 1e-9, "{}", percent(false));
        assert!(percent(true) > 50.0, "{}", percent(true));
    }
}
