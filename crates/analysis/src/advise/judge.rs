//! Judges a comparison by what was measured.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use strum::Display;
use trackbed_measure::metrics;
use trackbed_stats::{
    Estimate, Interval, MIN_PAIRS, Runs, Sample, Statistic, StatsError, TAIL, samples_to_bound,
    scaled_difference,
};

use crate::advise::baseline::Baseline;
use crate::advise::cells::Cells;
use crate::advise::need::{Bound, Comparison, Need, Relation};
use crate::aggregate::limits;

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

impl Doubt {
    /// Approximate number of further runs that might decide it.
    pub(crate) fn more_runs(&self) -> Option<u64> {
        match self {
            Doubt::FewRuns { more } | Doubt::OpenEnd { more, .. } => Some(*more),
            Doubt::Straddles { more } => *more,
            Doubt::NotMeasured | Doubt::NoBaseline => None,
        }
    }
}

impl Need {
    /// The verdict of the runs of one cell, and for each comparison that further runs might decide about how many, if
    /// that can be estimated. Failed runs are left out; each end of an interval errs with probability `tail`. A
    /// comparison with a baseline is undecided.
    pub fn judge<'a>(
        &self,
        runs: impl Iterator<Item = &'a BTreeMap<String, Vec<f64>>> + Clone,
        tail: f64,
    ) -> (Verdict, Vec<Option<u64>>) {
        let mut more = Vec::new();
        let (verdict, _) = self.weigh(&mut |comparison| {
            let samples = runs.clone().filter_map(|run| run.get(&comparison.metric));
            let measured = measure(comparison, samples.map(Vec::as_slice), tail);
            let found = match (measured, comparison.bound) {
                (Some((estimate, needed)), Bound::Value(bound)) => {
                    decide(comparison, &estimate, bound, needed)
                }
                _ => (Verdict::CannotTell, None),
            };
            more.extend(found.1.as_ref().map(Doubt::more_runs));
            (found.0, None)
        });
        (verdict, more)
    }

    /// The verdict on it and its margin, from those of its comparisons.
    pub(crate) fn weigh(&self, of: &mut dyn FnMut(&Comparison) -> Weight) -> Weight {
        let mut each = |parts: &[Need]| -> (Vec<Verdict>, Vec<Option<f64>>) {
            parts.iter().map(|part| part.weigh(of)).unzip()
        };
        let (verdict, margin) = match self {
            Need::Compare(comparison) => return of(comparison),
            // The worst part decides.
            Need::All(parts) => {
                let (verdicts, margins) = each(parts);
                let least = margins.into_iter().flatten().min_by(f64::total_cmp);
                (verdicts.into_iter().max(), least)
            }
            Need::Any(parts) => {
                let (verdicts, margins) = each(parts);
                let most = margins.into_iter().flatten().max_by(f64::total_cmp);
                (verdicts.into_iter().min(), most)
            }
        };
        (verdict.unwrap_or(Verdict::CannotTell), margin)
    }
}

/// A verdict, and how far inside the bound the value is.
pub(crate) type Weight = (Verdict, Option<f64>);

/// Judges `comparison` for cell `cell`.
pub(crate) fn judge(
    comparison: &Comparison,
    cells: &Cells<'_>,
    cell: usize,
    baseline: &Baseline,
) -> Judgement {
    let own = cells.values(cell, &comparison.metric);
    let Some((estimate, needed)) = measure(comparison, own.iter().flatten().copied(), TAIL) else {
        return in_doubt(None, Doubt::NotMeasured);
    };
    let decided = |of: Estimate, against: f64, bound: f64, baseline: Option<(usize, f64)>| {
        let (verdict, doubt) = decide(comparison, &of, against, needed);
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

/// The statistic of the samples of runs, if there are any, and of a quantile how many runs probably tell it from the
/// bound. The interval is limited as in tables of results.
fn measure<'a>(
    comparison: &Comparison,
    values: impl Iterator<Item = &'a [f64]> + Clone,
    tail: f64,
) -> Option<(Estimate, Option<f64>)> {
    let runs = Runs::new(values.clone()).ok()?;
    let estimate = runs.estimate_at(comparison.statistic, tail).ok()?;
    let needed = match (comparison.statistic, comparison.bound) {
        (Statistic::Quantile(p), Bound::Value(bound)) => {
            Some(estimate.runs_to_exclude(p, runs.share_below(bound)))
        }
        _ => None,
    };
    let mut ends = metrics::range(&comparison.metric);
    if comparison.statistic == Statistic::Mean && tail == TAIL {
        let means: Option<Vec<f64>> =
            values.map(|values| Some(Sample::new(values).ok()?.mean())).collect();
        ends = limits(&Sample::new(&means?).ok()?, ends);
    }
    let [least, most] = ends;
    let Interval { low, high } = estimate.interval;
    let [low, high] = [low, high].map(|end| end.map(|end| end.clamp(least, most)));
    Some((Estimate { interval: Interval { low, high }, ..estimate }, needed))
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

fn decide(
    comparison: &Comparison,
    estimate: &Estimate,
    bound: f64,
    needed: Option<f64>,
) -> (Verdict, Option<Doubt>) {
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
        _ => (Verdict::CannotTell, Some(doubt(comparison, estimate, bound, needed))),
    }
}

/// Why the interval does not decide. If it is not known how many runs are `needed`: the width shrinks with the square root
/// of the number; this estimates how many would move the nearer end to the bound, if the estimate stays the same.
fn doubt(comparison: &Comparison, estimate: &Estimate, bound: f64, needed: Option<f64>) -> Doubt {
    let distance = (bound - estimate.value).abs();
    let end = if bound > estimate.value { estimate.interval.high } else { estimate.interval.low };
    let runs = estimate.runs as f64;
    let Some(end) = end else {
        let (needed, enough) = match comparison.statistic {
            Statistic::Quantile(p) => {
                (samples_to_bound(p, estimate.tail), estimate.runs_to_bound(p))
            }
            _ => (Ok(estimate.runs), Ok(estimate.runs)),
        };
        let more = enough.unwrap_or(usize::MAX).saturating_sub(estimate.runs).max(1) as u64;
        let independent = estimate.independent as u64;
        return Doubt::OpenEnd { independent, needed: needed.unwrap_or(usize::MAX) as u64, more };
    };
    let needed = needed.unwrap_or(runs * ((end - estimate.value) / distance).powi(2));
    let more = (needed - runs).ceil().max(1.0);
    // The cast saturates; advising a million further runs is useless.
    let settles = distance > 0.0 && more <= RUNS_MAX && comparison.relation != Relation::Equal;
    Doubt::Straddles { more: settles.then_some(more as u64) }
}

const RUNS_MAX: f64 = 1e6;
