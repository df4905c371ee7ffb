//! The policy of significance, for every command that compares: what is compared, by which test, with
//! which correction, and in which words. `docs/statistics.md` explains it and measures its errors.

use trackbed_measure::metrics::{self, Compared, split_unit};
use trackbed_measure::results::{UsefulDifference, Verdict};
use trackbed_stats::{
    Better, Center, Comparison, ComparisonVerdict, Margin, Terms, alike, compare_paired, holm,
    runs_to_decide,
};

use crate::number::plural;

/// The confidence of intervals, and of the verdicts of a family of comparisons together.
pub const CONFIDENCE: f64 = 0.95;

/// The difference that does not matter, for a metric whose value was `first`.
pub(crate) fn margin(useful: UsefulDifference, metric: &str, first: f64) -> Margin {
    let share = useful.percent / 100.0;
    match metric.ends_with("_ms") && useful.ms > share * first.abs() {
        true => Margin::Absolute(useful.ms),
        false => Margin::Relative(share),
    }
}

/// Times are compared by medians, everything else by means.
pub(crate) fn center(metric: &str) -> Center {
    match metrics::compared(metric).map_or(metric.ends_with("_ms"), Compared::by_median) {
        true => Center::Median,
        false => Center::Mean,
    }
}

pub(crate) fn terms(metric: &str, margin: Margin, confidence: f64) -> Terms {
    let better = metrics::less_is_better(metric);
    let better = better.map(|less| if less { Better::Lower } else { Better::Higher });
    Terms { confidence, margin, better, center: center(metric) }
}

/// Adjusts p-values for their number (Holm).
pub(crate) fn adjusted(p_values: &[f64]) -> Vec<f64> {
    holm(p_values).expect("a test gives a probability")
}

/// An interval of a difference, not beyond what the metric's range allows.
pub(crate) fn bounded(metric: &str, ends: [f64; 2]) -> [f64; 2] {
    let [least, most] = metrics::range(metric);
    ends.map(|end| end.clamp(least - most, most - least))
}

/// The comparisons of cells with the best of them, run by run, with a verdict on each that holds with all
/// the others at [`CONFIDENCE`]; `None` where no run has both.
///
/// The best was chosen by the same runs, so it looks better than it is. So a difference is significant only
/// where Friedman's test says as well that the cells up to that one are not all alike (a step-down
/// procedure, as R. E. Ryan's of 1960).
pub(crate) fn with_best(
    best: &[Option<f64>],
    others: &[&[Option<f64>]],
    center: Center,
    less_is_better: bool,
) -> Vec<Option<(Comparison, Verdict)>> {
    let terms = Terms { center, margin: Margin::Absolute(0.0), ..Terms::default() };
    let found: Vec<Option<Comparison>> =
        others.iter().map(|other| compare_paired(best, other, &terms).ok()).collect();
    let p_adjusted = adjusted(&found.iter().flatten().map(|one| one.p_value).collect::<Vec<_>>());
    let mut p_adjusted = p_adjusted.into_iter();
    let mut judged: Vec<Option<(Comparison, Verdict)>> = found
        .into_iter()
        .map(|one| one.and_then(|one| Some((one, verdict(&one, p_adjusted.next()?)))))
        .collect();
    let cost = |one: &Option<(Comparison, Verdict)>| {
        let difference = one.map_or(0.0, |(comparison, _)| comparison.difference);
        if less_is_better { difference } else { -difference }
    };
    let mut order: Vec<usize> = (0..others.len()).collect();
    order.sort_by(|a, b| cost(&judged[*a]).total_cmp(&cost(&judged[*b])));
    let mut columns: Vec<&[Option<f64>]> =
        std::iter::once(best).chain(order.iter().map(|index| others[*index])).collect();
    let mut are_alike = false;
    for index in order.into_iter().rev() {
        if let Some((_, verdict @ (Verdict::Lower | Verdict::Higher))) = &mut judged[index] {
            are_alike = are_alike || (columns.len() > 2 && alike(&columns) > 1.0 - CONFIDENCE);
            if are_alike {
                *verdict = Verdict::Undecided;
            }
        }
        columns.pop();
    }
    judged
}

pub(crate) fn verdict(comparison: &Comparison, p_adjusted: f64) -> Verdict {
    match comparison.judged_by(p_adjusted) {
        ComparisonVerdict::Equal => Verdict::Equal,
        ComparisonVerdict::Equivalent => Verdict::Equivalent,
        ComparisonVerdict::Lower => Verdict::Lower,
        ComparisonVerdict::Higher => Verdict::Higher,
        ComparisonVerdict::Undecided => Verdict::Undecided,
    }
}

/// `6 runs cannot decide 24 comparisons; 10 can (--runs 10)`, where so few runs cannot show any difference.
pub fn too_few(runs: u32, comparisons: usize, confidence: f64, paired: bool) -> Option<String> {
    let needed = runs_to_decide(comparisons, confidence, paired);
    let text = || {
        let (runs, pairs) = (plural(runs.into(), "run"), plural(comparisons as u64, "comparison"));
        format!("{runs} cannot decide {pairs}; {needed} can (--runs {needed})")
    };
    (comparisons > 0 && (runs as usize) < needed).then(text)
}

/// A verdict as a word: times are faster or slower; `undecided` where no number of results could have
/// been decided with so few runs.
pub fn word(verdict: Verdict, metric: &str, is_too_few: bool) -> &'static str {
    match (verdict, split_unit(metric).1) {
        (Verdict::Lower, "ms") => "faster",
        (Verdict::Higher, "ms") => "slower",
        (Verdict::Lower, _) => "lower",
        (Verdict::Higher, _) => "higher",
        (Verdict::Equal, _) => "equal",
        (Verdict::Equivalent, _) => "equivalent",
        (Verdict::Undecided, _) if is_too_few => "undecided",
        (Verdict::Undecided, _) => "no significant difference",
    }
}

#[cfg(test)]
mod tests;
