//! The complete answer: every cell's verdict with reasons, and which cells are preferable.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use trackbed_measure::results::{Document, RunResult, SCHEMA};
use trackbed_scenario::GROUP;
use trackbed_stats::Runs;

use crate::advise::baseline::Baseline;
use crate::advise::cells::Cells;
use crate::advise::front::{Cost, front};
use crate::advise::judge::{Doubt, Judgement, Verdict, judge};
use crate::advise::need::{Bound, Comparison, Names, Need, NeedError, Relation};
use crate::advise::{conditions, words};
use crate::number::plural;

/// A question about results.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The needs; all of them must be met.
    pub needs: Vec<String>,
    /// Determines which cells are baselines.
    pub baseline: Option<Baseline>,
    /// Names of metrics that results can have, for messages about metrics that were not measured.
    pub known_metrics: Vec<String>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The answer in a sentence.
    pub answer: String,
    /// The scenario.
    pub scenario: String,
    /// The substrate of the runs.
    pub substrate: String,
    /// What of the results comes from a model and is not a measurement, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The needs, as they were understood.
    pub needs: Vec<String>,
    /// The objectives of the Pareto front.
    pub objectives: Vec<Objective>,
    /// The cells, the best first, without baselines.
    pub cells: Vec<CellAdvice>,
    /// The baseline cells, by their index in the document.
    pub baselines: Vec<u32>,
}

/// A quantity to minimise or maximise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Objective {
    /// Its name, such as `p99 rtt`.
    pub quantity: String,
    /// The metric.
    pub metric: String,
    /// Whether less is better.
    pub less_is_better: bool,
}

/// The verdict on a cell.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CellAdvice {
    /// Its index in the document.
    pub cell: u32,
    /// The values of its factors.
    pub name: String,
    /// The factors by name.
    pub factors: BTreeMap<String, String>,
    /// The verdict on all needs together.
    pub verdict: Verdict,
    /// No other cell is better in every objective.
    pub on_front: bool,
    /// How far inside the needs it is, as a share of the bound: the smallest margin of needs joined
    /// by `and`, the largest of those joined by `or`. Negative if it is outside. An equality that
    /// holds has no margin.
    pub margin: Option<f64>,
    /// Runs that failed. A cell with failed runs does not meet a need, because its other runs are a
    /// selection.
    pub failed: u32,
    /// The reason, in one sentence.
    pub reason: String,
    /// Each comparison in the needs.
    pub findings: Vec<Finding>,
}

/// The finding about one comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// The comparison, as `p99 rtt < 50 ms`.
    pub comparison: String,
    /// The verdict of the runs.
    pub verdict: Verdict,
    /// What was measured; `None` if nothing was.
    pub measured: Option<Measured>,
    /// The bound in the metric's unit.
    pub bound: Option<f64>,
    /// The baseline's cell, if there is one.
    pub baseline: Option<u32>,
    /// Approximate number of further runs that might decide it, if that can be estimated.
    pub more_runs: Option<u64>,
    /// The finding as a sentence.
    pub words: String,
}

/// A measured statistic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// Its value, in the metric's unit.
    pub value: f64,
    /// The lower bound of the 95 % confidence interval; `None` if it is open.
    pub low: Option<f64>,
    /// The upper bound.
    pub high: Option<f64>,
    /// Runs behind it.
    pub runs: u64,
    /// Samples behind it.
    pub samples: u64,
}

impl Advice {
    /// The best cell, if any cell meets all needs.
    pub fn best(&self) -> Option<&CellAdvice> {
        self.cells.first().filter(|cell| cell.verdict == Verdict::Meets)
    }
}

fn sentence(advice: &Advice) -> String {
    let count = |verdict| advice.cells.iter().filter(|cell| cell.verdict == verdict).count();
    let (meet, open) = (count(Verdict::Meets), count(Verdict::CannotTell));
    let all = advice.cells.len();
    let more = if meet > 0 { " more" } else { "" };
    let open = match open {
        0 => String::new(),
        1 => format!("; 1{more} is undecided"),
        open => format!("; {open}{more} are undecided"),
    };
    match advice.best() {
        Some(best) => format!("Best: {}. {meet} of {all} cells meet the need{open}.", best.name),
        None => format!("None of {all} cells certainly meets the need{open}."),
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts say it")]
pub enum AdviseError {
    #[error("{0}")]
    Need(NeedError),
    #[error("no need was given; write for example \"p99 rtt < 50 ms\"")]
    NoNeed,
    #[error("no run succeeded, so there are no results to judge; `trackbed run` says why")]
    NoRuns,
    #[error("{0}")]
    Baseline(String),
}

/// Answers `question` from the runs behind `document`.
///
/// # Errors
/// If the question is invalid, or there are no results.
pub fn advise(
    document: &Document,
    runs: &[RunResult],
    question: &Question,
) -> Result<Advice, AdviseError> {
    let cells = Cells::new(document, runs);
    let metrics = cells.metrics();
    if metrics.is_empty() {
        return Err(AdviseError::NoRuns);
    }
    let names = Names::new(metrics, question.known_metrics.iter().map(String::as_str));
    let needs = question.needs.iter().map(|text| Need::parse(text, &names));
    let needs: Vec<Need> = needs.collect::<Result<_, _>>().map_err(AdviseError::Need)?;
    if needs.is_empty() {
        return Err(AdviseError::NoNeed);
    }
    let baseline = question.baseline.clone().unwrap_or_default();
    let unknown = question.baseline.as_ref().and_then(|baseline| baseline.unknown(&cells));
    if let Some(reason) = unknown {
        return Err(AdviseError::Baseline(reason));
    }
    Ok(Asked { cells, needs: Need::All(needs), baseline }.answer())
}

struct Asked<'a> {
    cells: Cells<'a>,
    needs: Need,
    baseline: Baseline,
}

impl Asked<'_> {
    fn answer(&self) -> Advice {
        let all = (0..self.cells.len()).filter(|cell| self.concerns(*cell));
        let (mut baselines, mut candidates): (Vec<usize>, Vec<usize>) =
            all.partition(|cell| self.baseline.marks(&self.cells, *cell));
        // If every cell is marked, the mark distinguishes nothing.
        if candidates.is_empty() {
            candidates = std::mem::take(&mut baselines);
        }
        let objectives = self.objectives();
        let costs: Vec<_> = candidates.iter().map(|cell| self.costs(*cell, &objectives)).collect();
        let on_front = front(&costs);
        let mut cells: Vec<CellAdvice> = candidates
            .iter()
            .zip(on_front)
            .map(|(cell, on_front)| self.cell(*cell, on_front))
            .collect();
        let margin = |cell: &CellAdvice| cell.margin.unwrap_or(f64::NEG_INFINITY);
        cells.sort_by(|a, b| {
            a.verdict
                .cmp(&b.verdict)
                .then(margin(b).total_cmp(&margin(a)))
                .then(a.cell.cmp(&b.cell))
        });
        let Need::All(needs) = &self.needs else { unreachable!("needs are joined") };
        let mut advice = Advice {
            schema: SCHEMA,
            answer: String::new(),
            scenario: self.cells.document.scenario.clone(),
            substrate: self.cells.document.substrate.clone(),
            model: self.cells.document.model.clone(),
            needs: needs.iter().map(Need::to_string).collect(),
            objectives: objectives.iter().map(|(_, objective)| objective.clone()).collect(),
            cells,
            baselines: baselines.into_iter().map(|cell| cell as u32).collect(),
        };
        let across = conditions::sentence(self.cells.document, &advice.cells);
        advice.answer =
            [Some(sentence(&advice)), across].into_iter().flatten().collect::<Vec<_>>().join(" ");
        advice
    }

    /// The distinct quantities in the needs.
    /// Whether the need is about the cell's traffic: a group that has none of its metrics in any cell is
    /// there for the others.
    fn concerns(&self, cell: usize) -> bool {
        let group = self.cells.get(cell).factor_text(GROUP);
        let kin = |other: &usize| self.cells.get(*other).factor_text(GROUP) == group;
        let has = |other: usize| {
            let mut comparisons = self.needs.comparisons().into_iter();
            comparisons.any(|comparison| self.cells.has(other, &comparison.metric))
        };
        group.is_empty() || (0..self.cells.len()).filter(kin).any(has)
    }

    fn objectives(&self) -> Vec<(Comparison, Objective)> {
        let mut found: Vec<(Comparison, Objective)> = Vec::new();
        for comparison in self.needs.comparisons() {
            // A need for zero means that less is better.
            let nothing = comparison.bound == Bound::Value(0.0);
            let direction = comparison.relation.less_is_better();
            let Some(less_is_better) = direction.or(nothing.then_some(true)) else { continue };
            let quantity = words::quantity(comparison);
            if !found.iter().any(|(_, objective)| objective.quantity == quantity) {
                let metric = comparison.metric.clone();
                found.push((comparison.clone(), Objective { quantity, metric, less_is_better }));
            }
        }
        found
    }

    fn costs(&self, cell: usize, objectives: &[(Comparison, Objective)]) -> Option<Vec<Cost>> {
        let cost = |(comparison, objective): &(Comparison, Objective)| {
            let values = self.cells.values(cell, &comparison.metric);
            let runs = Runs::new(values.iter().flatten().copied()).ok()?;
            let estimate = runs.estimate(comparison.statistic).ok()?;
            let low = estimate.interval.low.unwrap_or(f64::NEG_INFINITY);
            let high = estimate.interval.high.unwrap_or(f64::INFINITY);
            let cost = Cost { value: estimate.value, low, high };
            Some(if objective.less_is_better { cost } else { cost.negated() })
        };
        objectives.iter().map(cost).collect()
    }

    fn cell(&self, cell: usize, on_front: bool) -> CellAdvice {
        let result = self.cells.get(cell);
        let mut findings = Vec::new();
        let (mut verdict, margin) = self.needs.weigh(&mut |comparison| {
            let judgement = judge(comparison, &self.cells, cell, &self.baseline);
            findings.push(self.finding(comparison, &judgement));
            (judgement.verdict, margin(comparison, &judgement))
        });
        let name = self.cells.name(cell);
        let decisive = findings.iter().filter(|finding| finding.verdict == verdict);
        let why: Vec<&str> = decisive.map(|finding| finding.words.as_str()).collect();
        let mut why = why.join("; ");
        if result.failed > 0 && !self.cells.ran(cell) {
            verdict = Verdict::Fails;
            why = "all of its runs failed".to_owned();
        } else if result.failed > 0 && verdict == Verdict::Meets {
            verdict = Verdict::CannotTell;
            let failed = plural(u64::from(result.failed), "run");
            why = format!("{failed} failed, so the others are only a selection; of these {why}");
        }
        let says = match verdict {
            Verdict::Meets => "meets it",
            Verdict::CannotTell => "may or may not meet it",
            Verdict::Fails => "fails it",
        };
        let factors = self.cells.factors.iter();
        CellAdvice {
            cell: cell as u32,
            reason: format!("{name} {says}: {why}"),
            name,
            factors: factors.map(|name| (name.clone(), result.factor_text(name))).collect(),
            verdict,
            on_front,
            margin,
            failed: result.failed,
            findings,
        }
    }

    fn finding(&self, comparison: &Comparison, judgement: &Judgement) -> Finding {
        let baseline = judgement.baseline.map(|(cell, _)| cell);
        let name = baseline.map(|cell| self.cells.name(cell)).unwrap_or_default();
        let measured = judgement.measured.map(|estimate| Measured {
            value: estimate.value,
            low: estimate.interval.low,
            high: estimate.interval.high,
            runs: estimate.runs as u64,
            samples: estimate.samples as u64,
        });
        Finding {
            comparison: words::comparison(comparison),
            verdict: judgement.verdict,
            measured,
            bound: judgement.bound,
            baseline: baseline.map(|cell| cell as u32),
            more_runs: judgement.doubt.as_ref().and_then(Doubt::more_runs),
            words: words::finding(comparison, judgement, &name),
        }
    }
}

/// How far inside the bound the value is, as a share of the bound.
fn margin(comparison: &Comparison, judgement: &Judgement) -> Option<f64> {
    let (value, bound) = (judgement.measured?.value, judgement.bound?);
    let inside = match comparison.relation {
        Relation::Below | Relation::AtMost => bound - value,
        Relation::Above | Relation::AtLeast => value - bound,
        Relation::Equal if value == bound => return None,
        Relation::Equal => -(value - bound).abs(),
    };
    let scale = if bound == 0.0 { value.abs() } else { bound.abs() };
    Some(if scale == 0.0 { 0.0 } else { inside / scale })
}

/// As it was understood; the alternate form is that of a part of another need.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, word) = match self {
            Need::Compare(comparison) => return f.write_str(&words::comparison(comparison)),
            Need::All(parts) => (parts, " and "),
            Need::Any(parts) => (parts, " or "),
        };
        let parts: Vec<String> = parts.iter().map(|part| format!("{part:#}")).collect();
        let joined = parts.join(word);
        if f.alternate() { write!(f, "({joined})") } else { f.write_str(&joined) }
    }
}
