//! The verdicts of a comparison, and the sentence that sums them up.

use serde_json::{Map, Value};
use trackbed_measure::contrast::{CellContrast, Contrast, InTheseRuns, Regression};
use trackbed_measure::metrics::{self, split_unit};
use trackbed_measure::results::{UsefulDifference, Verdict};
use trackbed_stats::{Center, Comparison, Margin, RegressionVerdict, Sample, runs_to_decide};

use crate::number::{Decimals, plural};
use crate::significance::{self, adjusted, bounded, verdict, word};

/// A comparison, not yet seen beside the others.
pub(super) struct Single {
    pub factors: Map<String, Value>,
    pub cells: [u32; 2],
    pub metric: String,
    pub center: Center,
    pub failed: [u32; 2],
    pub fails_more: bool,
    pub comparison: Comparison,
    pub facts: Option<InTheseRuns>,
}

impl Single {
    /// The runs behind it: of the side that has fewer.
    fn runs(&self) -> usize {
        self.comparison.n[0].min(self.comparison.n[1])
    }
}

/// How the runs that both sides have changed; `None` if there are none.
pub(super) fn in_these_runs(
    metric: &str,
    [first, second]: [&[Option<f64>]; 2],
    margin: Margin,
) -> Option<InTheseRuns> {
    let both = first.iter().zip(second).filter_map(|(first, second)| first.zip(*second));
    let pairs: Vec<(f64, f64)> = both.collect();
    let changes = Sample::new(&pairs.iter().map(|(x, y)| y - x).collect::<Vec<_>>()).ok()?;
    let change = changes.quantile(0.5).ok()?;
    let reach = match margin {
        Margin::Absolute(reach) => reach,
        Margin::Relative(share) => {
            let before = Sample::new(&pairs.iter().map(|(x, _)| *x).collect::<Vec<_>>()).ok()?;
            share * before.quantile(0.5).ok()?.abs()
        }
    };
    let count = |is: fn(f64) -> bool| changes.sorted().iter().filter(|x| is(**x)).count();
    let [lower, higher] = [count(|x| x < 0.0), count(|x| x > 0.0)];
    let worse = metrics::less_is_better(metric).map(|less| if less { higher } else { lower });
    Some(InTheseRuns {
        lower: lower as u32,
        higher: higher as u32,
        range: [changes.min(), changes.max()],
        is_worse: worse == Some(pairs.len()) && change.abs() > reach,
    })
}

/// Why none of the comparisons can be decided, if so.
pub(super) fn too_few(found: &[Single], confidence: f64, paired: bool) -> Option<String> {
    let runs = found.iter().map(Single::runs).max()?;
    significance::too_few(runs as u32, found.len(), confidence, paired)
}

/// Adjusts the verdicts for the number of comparisons: among many, some differ by chance.
pub(super) fn judged(found: Vec<Single>, confidence: f64, same_runs: bool) -> Vec<CellContrast> {
    let p_values: Vec<f64> = found.iter().map(|one| one.comparison.p_value).collect();
    let p_worse = |one: &Single| one.comparison.regression.map(|regression| regression.p_worse);
    let p_worse: Vec<f64> = found.iter().filter_map(p_worse).collect();
    let mut worse = adjusted(&p_worse).into_iter();
    let judge = |(single, p_adjusted): (Single, f64)| {
        // With fewer runs, no two differences enclose the true one so often.
        let is_enough = single.runs() >= runs_to_decide(1, confidence, true);
        let Single { factors, cells, metric, center, failed, fails_more, comparison, facts } =
            single;
        let regression = comparison.regression.and_then(|_| {
            let p_worse = worse.next().expect("there is one for each that may get worse");
            comparison.regression_judged_by(p_worse)
        });
        let statistic = if center == Center::Median { "median" } else { "mean" };
        CellContrast {
            factors,
            cells,
            statistic: statistic.to_owned(),
            means: comparison.centers,
            difference: comparison.difference,
            interval: is_enough.then(|| bounded(&metric, comparison.difference_interval)),
            percent: comparison.fraction().map(|fraction| {
                [fraction.mean, fraction.interval[0], fraction.interval[1]].map(|it| it * 100.0)
            }),
            in_these_runs: facts.filter(|_| same_runs),
            p_value: comparison.p_value,
            p_adjusted,
            n: comparison.n.map(|n| n as u32),
            failed,
            fails_more,
            metric,
            verdict: verdict(&comparison, p_adjusted),
            regression: regression.map(|verdict| match verdict {
                RegressionVerdict::NoWorse => Regression::NoWorse,
                RegressionVerdict::Worse => Regression::Worse,
                RegressionVerdict::Undecided => Regression::Undecided,
            }),
        }
    };
    found.into_iter().zip(adjusted(&p_values)).map(judge).collect()
}

/// The answer: what changed in these runs, how many results are worse, and how the comparisons ended.
pub(super) fn sentence(contrast: &Contrast, margin: UsefulDifference) -> String {
    let fails_more = contrast.cells.iter().any(|it| it.fails_more)
        || contrast.incomparable.iter().any(|it| it.fails_more);
    let [one, many] = match fails_more {
        true => [", or fails more often", ", or fail more often"],
        false => [""; 2],
    };
    let end = match contrast.count_worse() {
        0 if contrast.is_no_worse() => format!("no result is worse by more than {margin}"),
        0 => format!("no result is significantly worse by more than {margin}"),
        1 => format!("1 result is worse by more than {margin}{one}"),
        worse => format!("{worse} results are worse by more than {margin}{many}"),
    };
    let missing = plural(contrast.missing.len() as u64, "cell");
    let missing = match contrast.missing.len() {
        0 => String::new(),
        _ => format!("; {missing} only in the first"),
    };
    if contrast.cells.is_empty() {
        let is_told = contrast.count_worse() > 0;
        let end = if is_told { end } else { "no run succeeded on both sides".to_owned() };
        return format!("Nothing could be compared: {end}{missing}.");
    }
    let end = end + &missing;
    let parts = [
        (Verdict::Equal, "equal"),
        (Verdict::Equivalent, "equivalent"),
        (Verdict::Lower, "lower"),
        (Verdict::Higher, "higher"),
        (Verdict::Undecided, "undecided"),
    ];
    let count = |wanted| contrast.cells.iter().filter(|cell| cell.verdict == wanted).count();
    // The one-sided test for worse can be significant where the two-sided one is undecided.
    let is_worse = |cell: &&CellContrast| {
        cell.verdict == Verdict::Undecided && cell.regression == Some(Regression::Worse)
    };
    let worse = contrast.cells.iter().filter(is_worse).count();
    let mut counted = parts.map(|(verdict, word)| (count(verdict), word)).to_vec();
    counted[4].0 -= worse;
    counted.insert(0, (worse, "worse"));
    let counted = counted.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = counted.map(|(count, word)| format!("{count} {word}")).collect();
    let comparisons = plural(contrast.cells.len() as u64, "comparison");
    let told = format!("{comparisons}, {}", told.join(", "));
    let few = contrast.too_few.as_ref().filter(|_| contrast.is_undecided());
    match (facts(contrast), few) {
        (Some(facts), Some(few)) => format!("{facts}: {end}. For other seeds: of {told}: {few}."),
        (Some(facts), None) => format!("{facts}: {end}. For other seeds: of {told}."),
        (None, Some(few)) => format!("Of {told}: {end}; {few}."),
        (None, None) => format!("Of {told}: {end}."),
    }
}

/// What changed in the same runs, where all of a cell changed in one direction: `All 66 runs are slower, by
/// 70.0 to 81.0 ms`
fn facts(contrast: &Contrast) -> Option<String> {
    let cells = contrast.cells.iter();
    let known: Vec<(&CellContrast, InTheseRuns)> =
        cells.filter_map(|cell| Some((cell, cell.in_these_runs?))).collect();
    let worse = known.iter().filter(|(_, found)| found.is_worse).count();
    let is_told = |(cell, found): &&(&CellContrast, InTheseRuns)| match worse {
        0 => found.lower == cell.n[0] || found.higher == cell.n[0],
        _ => found.is_worse,
    };
    let told: Vec<&(&CellContrast, InTheseRuns)> = known.iter().filter(is_told).collect();
    let (first, direction) = told.first().map(|(cell, found)| (cell, found.higher > 0))?;
    let same = |(cell, found): &&&(&CellContrast, InTheseRuns)| {
        cell.metric == first.metric && (found.higher > 0) == direction
    };
    if told.iter().filter(same).count() < told.len() {
        let worse = plural(worse as u64, "comparison");
        return (worse != "0 comparisons").then(|| format!("In {worse} every run is worse"));
    }
    let ends = told.iter().flat_map(|(_, found)| found.range.map(f64::abs));
    let (least, most) =
        ends.fold((f64::INFINITY, 0.0_f64), |(least, most), end| (least.min(end), most.max(end)));
    let runs: u32 = told.iter().map(|(cell, _)| cell.n[0]).sum();
    let verdict = if direction { Verdict::Higher } else { Verdict::Lower };
    let (word, unit) = (word(verdict, &first.metric, false), split_unit(&first.metric).1);
    let [least, most] = [least, most].map(|end| Decimals::significant(end, 3).text(end));
    let all = match told.len() == contrast.cells.len() {
        true => "All".to_owned(),
        false => format!("In {} of {} comparisons all", told.len(), contrast.cells.len()),
    };
    Some(format!("{all} {runs} runs are {word}, by {least} to {most} {unit}"))
}
