//! Judges a comparison by what was measured.

use schemars::JsonSchema;
use serde::Serialize;
use strum::Display;
use trackbed_measure::metrics;
use trackbed_stats::{
    Estimate, Interval, MIN_PAIRS, Runs, Statistic, StatsError, samples_to_bound, scaled_difference,
};

use crate::advise::baseline::Baseline;
use crate::advise::cells::Cells;
use crate::advise::need::{Bound, Comparison, Relation};

/// The verdict of runs on a need.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// The whole interval meets the need.
    Meets,
    /// The bound lies within the interval, or there are too few data.
    #[strum(serialize = "undecided")]
    CannotTell,
    /// None of the interval meets the need.
    Fails,
}

/// The finding about a comparison in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    /// What was measured, if anything.
    pub(crate) measured: Option<Estimate>,
    /// The bound in the metric's unit, if there is one.
    pub(crate) bound: Option<f64>,
    /// The baseline's cell, and its value of the statistic.
    pub(crate) baseline: Option<(usize, f64)>,
    pub(crate) doubt: Option<Doubt>,
}

impl Judgement {
    /// Approximate number of further runs that might decide it.
    pub(crate) fn more_runs(&self) -> Option<u64> {
        match self.doubt {
            Some(Doubt::FewRuns { more } | Doubt::OpenEnd { more, .. }) => Some(more),
            Some(Doubt::Straddles { more }) => more,
            Some(Doubt::NotMeasured | Doubt::NoBaseline) | None => None,
        }
    }
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Doubt {
    /// The metric has no values in this cell.
    NotMeasured,
    /// There is no baseline.
    NoBaseline,
    /// Too few runs for a verdict; this number of further runs would be enough.
    FewRuns { more: u64 },
    /// The bound lies within the interval; this number of further runs might decide it, if any can.
    Straddles { more: Option<u64> },
    /// There are too few samples for a bound of the quantile's interval on this side; this number
    /// of further runs would be enough.
    OpenEnd {
        /// How many independent samples those of all runs amount to, and how many are needed.
        independent: u64,
        needed: u64,
        more: u64,
    },
}

/// Judges `comparison` for cell `cell`.
pub(crate) fn judge(
    comparison: &Comparison,
    cells: &Cells<'_>,
    cell: usize,
    baseline: &Baseline,
) -> Judgement {
    let own = cells.values(cell, &comparison.metric);
    let runs = Runs::new(own.iter().flatten().copied());
    let measured = runs.and_then(|runs| runs.estimate(comparison.statistic)).ok();
    let Some(estimate) = measured.map(|estimate| within_range(estimate, &comparison.metric)) else {
        return in_doubt(None, Doubt::NotMeasured);
    };
    let decided = |of: Estimate, against: f64, bound: f64, baseline: Option<(usize, f64)>| {
        let (verdict, doubt) = decide(comparison, &of, against);
        Judgement { verdict, measured: Some(estimate), bound: Some(bound), baseline, doubt }
    };
    match comparison.bound {
        Bound::Value(bound) => decided(estimate, bound, bound, None),
        Bound::Baseline(factor) => {
            let Some(other) = baseline.of(cells, cell, &comparison.metric) else {
                return in_doubt(Some(estimate), Doubt::NoBaseline);
            };
            let theirs = cells.values(other, &comparison.metric);
            match against_baseline(&own, &theirs, comparison.statistic, factor) {
                Ok((difference, value)) => {
                    decided(difference, 0.0, factor * value, Some((other, value)))
                }
                // They have no run in common.
                Err(_) => in_doubt(Some(estimate), Doubt::NoBaseline),
            }
        }
    }
}

/// Limits the interval to the metric's range, as in tables of results.
fn within_range(estimate: Estimate, metric: &str) -> Estimate {
    let [least, most] = metrics::range(metric);
    let Interval { low, high } = estimate.interval;
    let [low, high] = [low, high].map(|end| end.map(|end| end.clamp(least, most)));
    Estimate { interval: Interval { low, high }, ..estimate }
}

fn in_doubt(measured: Option<Estimate>, doubt: Doubt) -> Judgement {
    let verdict = Verdict::CannotTell;
    Judgement { verdict, measured, bound: None, baseline: None, doubt: Some(doubt) }
}

/// How far a cell exceeds `factor` times its baseline, and the baseline's value.
fn against_baseline(
    own: &[Option<&[f64]>],
    theirs: &[Option<&[f64]>],
    statistic: Statistic,
    factor: f64,
) -> Result<(Estimate, f64), StatsError> {
    let difference = scaled_difference(own, theirs, statistic, factor)?;
    let value = Runs::new(theirs.iter().flatten().copied())?.estimate(statistic)?.value;
    Ok((difference, value))
}

fn decide(comparison: &Comparison, estimate: &Estimate, bound: f64) -> (Verdict, Option<Doubt>) {
    let Interval { low, high } = estimate.interval;
    let below = |end: Option<f64>| end.is_some_and(|end| end < bound);
    let above = |end: Option<f64>| end.is_some_and(|end| end > bound);
    let at = |end: Option<f64>| end == Some(bound);
    let (meets, fails) = match comparison.relation {
        Relation::Below => (below(high), above(low) || at(low)),
        Relation::AtMost => (below(high) || at(high), above(low)),
        Relation::Above => (above(low), below(high) || at(high)),
        Relation::AtLeast => (above(low) || at(low), below(high)),
        Relation::Equal => (at(low) && at(high), above(low) || below(high)),
    };
    if estimate.runs < MIN_PAIRS {
        let more = (MIN_PAIRS - estimate.runs) as u64;
        return (Verdict::CannotTell, Some(Doubt::FewRuns { more }));
    }
    match (meets, fails) {
        (true, _) => (Verdict::Meets, None),
        (_, true) => (Verdict::Fails, None),
        _ => (Verdict::CannotTell, Some(doubt(comparison, estimate, bound))),
    }
}

/// Why the interval does not decide. Its width shrinks with the square root of the number of runs;
/// this estimates how many would move its nearer end to the bound, if the estimate stays the same.
fn doubt(comparison: &Comparison, estimate: &Estimate, bound: f64) -> Doubt {
    let distance = (bound - estimate.value).abs();
    let end = if bound > estimate.value { estimate.interval.high } else { estimate.interval.low };
    let runs = estimate.runs as f64;
    let Some(end) = end else {
        let (needed, enough) = match comparison.statistic {
            Statistic::Quantile(p) => (samples_to_bound(p), estimate.runs_to_bound(p)),
            _ => (Ok(estimate.runs), Ok(estimate.runs)),
        };
        let more = enough.unwrap_or(usize::MAX).saturating_sub(estimate.runs).max(1) as u64;
        let independent = estimate.independent as u64;
        return Doubt::OpenEnd { independent, needed: needed.unwrap_or(usize::MAX) as u64, more };
    };
    let needed = runs * ((end - estimate.value) / distance).powi(2);
    let more = (needed - runs).ceil().max(1.0);
    // The cast saturates; advising a million further runs is useless.
    let settles = distance > 0.0 && more <= RUNS_MAX && comparison.relation != Relation::Equal;
    Doubt::Straddles { more: settles.then_some(more as u64) }
}

const RUNS_MAX: f64 = 1e6;
