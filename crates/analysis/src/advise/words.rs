//! Verdicts as sentences.

use trackbed_measure::factors::written_unit;
use trackbed_measure::metrics::split_unit;
use trackbed_stats::{Estimate, Statistic};

use crate::advise::judge::{Doubt, Judgement, Verdict};
use crate::advise::need::{Bound, Comparison, Relation};
use crate::number::{dash, plural, short};

/// A comparison in the usual notation: `p99 rtt < 50 ms`.
pub(crate) fn comparison(comparison: &Comparison) -> String {
    let Comparison { relation, bound, metric, .. } = comparison;
    let bound = match bound {
        Bound::Value(value) => with_unit(exact(*value), metric),
        Bound::Baseline(1.0) => "baseline".to_owned(),
        Bound::Baseline(factor) => format!("{} baseline", short(*factor)),
    };
    format!("{} {relation} {bound}", quantity(comparison))
}

/// The statistic and the metric: `p99 rtt`.
pub(crate) fn quantity(comparison: &Comparison) -> String {
    let name = split_unit(&comparison.metric).0.replace('_', " ");
    format!("{} {name}", statistic(comparison.statistic))
}

/// `p99`
pub(crate) fn statistic(statistic: Statistic) -> String {
    match statistic {
        Statistic::Mean => "mean".to_owned(),
        Statistic::Min => "min".to_owned(),
        Statistic::Max => "max".to_owned(),
        // Rounded, because 0.999 times 100 is not exact.
        Statistic::Quantile(p) => format!("p{}", (p * 1e6).round() / 1e4),
    }
}

/// The finding in words: `p99 rtt 31.2 ms [30.1, 33.0] is below 50 ms`.
pub(crate) fn finding(comparison: &Comparison, judgement: &Judgement, baseline: &str) -> String {
    let quantity = quantity(comparison);
    let Some(measured) = &judgement.measured else {
        return format!("{quantity} was not measured");
    };
    let found = format!("{quantity} {}", estimate(measured, &comparison.metric));
    let Some(bound) = judgement.bound else {
        return format!("{found} has no baseline");
    };
    let bound = match (comparison.bound, judgement.baseline) {
        (Bound::Baseline(factor), Some((_, value))) => {
            let value = with_unit(short(value), &comparison.metric);
            let share =
                if factor == 1.0 { String::new() } else { format!("{} of ", short(factor)) };
            format!("{share}the {value} of {baseline}")
        }
        _ => with_unit(exact(bound), &comparison.metric),
    };
    let [is, is_not] = verbs(comparison.relation);
    match (judgement.verdict, &judgement.doubt) {
        (Verdict::Meets, _) => format!("{found} {is} {bound}"),
        (Verdict::Fails, _) => format!("{found} {is_not} {bound}"),
        (Verdict::CannotTell, Some(doubt)) => {
            format!("{found} compared with {bound}: {}", reason(doubt, measured))
        }
        (Verdict::CannotTell, None) => found,
    }
}

/// What is said of a value that has this relation, and of one that has not.
fn verbs(relation: Relation) -> [&'static str; 2] {
    match relation {
        Relation::Below => ["is below", "is not below"],
        Relation::AtMost => ["is at most", "is above"],
        Relation::Above => ["is above", "is not above"],
        Relation::AtLeast => ["is at least", "is below"],
        Relation::Equal => ["is", "is not"],
    }
}

fn reason(doubt: &Doubt, measured: &Estimate) -> String {
    let runs = plural(measured.runs as u64, "run");
    match doubt {
        Doubt::NotMeasured => "it was not measured".to_owned(),
        Doubt::NoBaseline => "there is no baseline".to_owned(),
        Doubt::FewRuns { more } => format!("{runs} are too few for a verdict; add {more}"),
        Doubt::OpenEnd { independent, needed, more } => {
            let samples = plural(measured.samples as u64, "sample");
            let more = plural(*more, "more run");
            let count = match *independent == measured.samples as u64 {
                true => format!(
                    "{samples} are too few for that end of the interval, which needs {needed}"
                ),
                false => format!(
                    "{samples} in {runs} count as {independent} independent ones, and that end of the \
                     interval needs {needed}"
                ),
            };
            format!("{count}; {more} would be enough")
        }
        Doubt::Straddles { more: Some(more) } => {
            let more = plural(*more, "more run");
            format!("the bound lies within the interval; about {more} might decide it")
        }
        Doubt::Straddles { more: None } => {
            "the bound lies within the interval, and more runs would hardly decide it".to_owned()
        }
    }
}

/// `31.2 ms [30.1, 33.0]`; an open end is a dash.
fn estimate(estimate: &Estimate, metric: &str) -> String {
    let end = |end: Option<f64>| end.map_or_else(dash, short);
    let [low, high] = [estimate.interval.low, estimate.interval.high].map(end);
    format!("{} [{low}, {high}]", with_unit(short(estimate.value), metric))
}

/// A number with the metric's unit, as usually written.
fn with_unit(number: String, metric: &str) -> String {
    match split_unit(metric).1 {
        "hz" => format!("{number} /s"),
        unit => written_unit(unit).map_or(number.clone(), |unit| format!("{number} {unit}")),
    }
}

/// A bound as it was asked for, without the noise of conversions.
fn exact(value: f64) -> String {
    format!("{}", (value * 1e9).round() / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_named_by_their_percent() {
        let names = [0.5, 0.99, 0.999, 0.29].map(|p| statistic(Statistic::Quantile(p)));
        assert_eq!(names, ["p50", "p99", "p99.9", "p29"]);
    }
}
