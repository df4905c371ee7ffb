//! Summarises the runs of each cell, and computes the differences between cells.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

use trackbed_measure::lists::grouped;
use trackbed_measure::metrics::{self, Compared};
use trackbed_measure::results::{
    CellResult, Check, Difference, Failure, MIN_RUNS, MedianDifference, MetricSummary, Outcome,
    RunResult, UsefulDifference, Verdict,
};
use trackbed_stats::{Center, Comparison, Runs, Sample, Statistic, mean_interval};

use trackbed_archive::{Counted, DirectoryError};
use trackbed_scenario::{Cell, expectation};

use crate::groups::{SECTIONS, section};
use crate::significance::{CONFIDENCE, bounded, with_best};

/// The summary of a cell's runs, and the checks of their results.
pub(crate) struct Summed {
    pub cell: CellResult,
    pub checks: Vec<Check>,
}

/// Summarises the runs of every cell that count, and has them checked by `check`, in the order of the
/// plan. Each worker has the runs of one cell in memory at a time.
pub(crate) fn cells(
    counted: Counted<'_>,
    check: impl Fn(&Cell, &[RunResult]) -> Vec<Check> + Sync,
) -> Result<Vec<Summed>, DirectoryError> {
    let cells: Vec<(u32, &Cell)> = (0..).zip(&counted.plan.cells).collect();
    let work = |&(index, cell): &(u32, &Cell)| {
        let (runs, left_out) = counted.of(index)?;
        let invalid = left_out.len() as u32;
        let mut result = CellResult { invalid, late: late(&left_out), ..summarize(cell, &runs) };
        if runs.is_empty() {
            // What went wrong in them may not be the machine's fault.
            result.failures = failures(&left_out);
        }
        Ok(Summed { checks: check(cell, &runs), cell: result })
    };
    on_all_cores(&cells, work).into_iter().collect()
}

/// Compares every cell with the best one under the same conditions: what is to be chosen is
/// compared, a link with loss and one without are not. Where nothing but conditions differs, all
/// cells of a part are compared.
pub(crate) fn differences(
    counted: Counted<'_>,
    cells: &[CellResult],
    useful: UsefulDifference,
) -> Result<Vec<Difference>, DirectoryError> {
    let of = |cell| Ok(counted.of(cell)?.0);
    differences_of(&of, &counted.plan.conditions, counted.plan.runs, cells, useful)
}

/// The same for the runs that `runs` gives of each cell, at most `count`.
pub(crate) fn differences_of(
    runs: &(dyn Fn(u32) -> Result<Vec<RunResult>, DirectoryError> + Sync),
    conditions: &[String],
    count: u32,
    cells: &[CellResult],
    useful: UsefulDifference,
) -> Result<Vec<Difference>, DirectoryError> {
    let mut of_each_metric: Vec<Vec<Difference>> = vec![Vec::new(); metrics::COMPARED.len()];
    let of_runs = |cell: usize| -> Result<Vec<OfRuns>, DirectoryError> {
        let runs = runs(cell as u32)?;
        let of = |compared: &Compared| OfRuns::new(&runs, compared, count);
        Ok(metrics::COMPARED.iter().map(of).collect())
    };
    let groups = comparable(conditions, cells);
    for group in &groups {
        let Some(best) = best_cell(cells, &groups, group, useful) else { continue };
        let others: Vec<usize> = group.iter().copied().filter(|cell| *cell != best).collect();
        if others.is_empty() {
            continue;
        }
        let of_best = of_runs(best)?;
        let of_others = on_all_cores(&others, |cell| of_runs(*cell));
        let of_others: Vec<Vec<OfRuns>> = of_others.into_iter().collect::<Result<_, _>>()?;
        let metrics = (0..).zip(metrics::COMPARED);
        for (place, compared) in metrics.filter(|(_, it)| cells[best].metrics.contains_key(it.name))
        {
            let own = of_others.iter().map(|of_runs| &of_runs[place]).collect::<Vec<_>>();
            let found = of_metric(compared, &cells[best], (best, &of_best[place]), (&others, &own));
            of_each_metric[place].extend(found);
        }
    }
    Ok(of_each_metric.into_iter().flatten().collect())
}

/// The differences of `others` from the best cell in one metric.
fn of_metric(
    compared: &Compared,
    best_cell: &CellResult,
    (best, of_best): (usize, &OfRuns),
    (others, of_others): (&[usize], &[&OfRuns]),
) -> Vec<Difference> {
    let judged = |of: fn(&OfRuns) -> Option<&[Option<f64>]>, center| {
        let own: Vec<&[Option<f64>]> = of_others.iter().filter_map(|it| of(it)).collect();
        of(of_best).map(|best| with_best(best, &own, center, compared.less_is_better))
    };
    let means = judged(|it| Some(&it.means), Center::Mean).unwrap_or_default();
    let medians = judged(|it| it.medians.as_deref(), Center::Median).unwrap_or_default();
    let mut medians = medians.into_iter();
    let base = best_cell.metrics.get(compared.name).map_or(0.0, |summary| summary.p50);
    let difference = |(cell, mean): (&usize, Option<(Comparison, Verdict)>)| {
        let median = medians.next().flatten();
        let (pairs, mut verdict) = mean?;
        let ci95 = bounded(compared.name, pairs.difference_interval);
        if verdict == Verdict::Undecided && ci95 == [0.0; 2] {
            verdict = Verdict::Equal;
        }
        Some(Difference {
            metric: compared.name.to_owned(),
            cell: *cell as u32,
            against: best as u32,
            mean: pairs.difference,
            ci95,
            percent: pairs.relative().map(|relative| relative.mean * 100.0),
            n: pairs.n[0] as u32,
            verdict,
            median: median.map(|(found, judged)| MedianDifference {
                value: found.difference,
                ci95: (pairs.n[0] >= MIN_RUNS as usize).then_some(found.difference_interval),
                percent: (base > 0.0).then(|| found.difference / base * 100.0),
                verdict: match judged {
                    Verdict::Undecided if verdict == Verdict::Equal => Verdict::Equal,
                    judged => judged,
                },
            }),
        })
    };
    others.iter().zip(means).filter_map(difference).collect()
}

/// The values of a metric in each run of a cell, by run number; `None` where the run failed or is
/// missing.
pub(crate) struct OfRuns {
    means: Vec<Option<f64>>,
    /// Where the metric is compared by medians.
    medians: Option<Vec<Option<f64>>>,
}

impl OfRuns {
    pub(crate) fn new(runs: &[RunResult], compared: &Compared, count: u32) -> OfRuns {
        OfRuns {
            means: run_means(runs, compared.name, count),
            medians: compared.by_median().then(|| run_medians(runs, compared.name, count)),
        }
    }

    /// Those by which cells are compared.
    pub(crate) fn compared(self) -> Vec<Option<f64>> {
        self.medians.unwrap_or(self.means)
    }
}

/// `work` for each of `items`, in their order. Intervals are computed by resampling, which for
/// hundreds of cells takes many seconds.
fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = items.len().div_ceil(cores).max(1);
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = items
            .chunks(share)
            .map(|chunk| scope.spawn(move || chunk.iter().map(work).collect::<Vec<R>>()))
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join().expect("workers do not panic"));
        joined.flatten().collect()
    })
}

/// Groups cells by the values of the factors called `conditions`, in the order of the plan; if no two cells share
/// these values, without those that an operator chooses; and by part if still none do.
fn comparable(conditions: &[String], cells: &[CellResult]) -> Vec<Vec<usize>> {
    let of_same = |factors: &[String]| -> Vec<Vec<usize>> {
        let values = |cell: &CellResult| -> Vec<String> {
            factors.iter().map(|name| cell.factor_text(name)).collect()
        };
        let groups = grouped(cells.iter().map(values).zip(0..));
        groups.into_iter().map(|(_, group)| group).collect()
    };
    let chosen = |name: &&String| CHOSEN.iter().any(|end| name.ends_with(end));
    let given: Vec<String> = conditions.iter().filter(|name| !chosen(name)).cloned().collect();
    let tried = [conditions, &given].map(of_same).into_iter();
    let mut shared = tried.filter(|groups| groups.iter().any(|group| group.len() > 1));
    shared.next().unwrap_or_else(|| of_same(&SECTIONS.map(str::to_owned)))
}

/// Ends of the names of factors that describe a link, but are a choice of who runs it.
const CHOSEN: [&str; 2] = ["queue", "priority"];

/// The mean of a metric in each run, by run number; `None` where the run failed or is missing.
pub(crate) fn run_means(runs: &[RunResult], metric: &str, count: u32) -> Vec<Option<f64>> {
    run_values(runs, metric, count, |sample| Some(sample.mean()))
}

pub(crate) fn run_medians(runs: &[RunResult], metric: &str, count: u32) -> Vec<Option<f64>> {
    run_values(runs, metric, count, |sample| sample.quantile(0.5).ok())
}

/// What the samples of each run come to, by run number.
pub(crate) fn run_values(
    runs: &[RunResult],
    metric: &str,
    count: u32,
    of: impl Fn(&Sample) -> Option<f64>,
) -> Vec<Option<f64>> {
    let mut all = vec![None; count as usize];
    for run in runs {
        let samples = run.outcome.samples().and_then(|samples| samples.get(metric));
        let value = samples.and_then(|values| of(&Sample::new(values).ok()?));
        if let Some(slot) = all.get_mut(run.run as usize) {
            *slot = value;
        }
    }
    all
}

/// The best cell of `group`, one of the `groups`, by the metric that ranks all cells of its part. One with failed
/// runs or refused messages is the best only if the others have no fewer: the rest are a selection of the easier
/// ones. A bound is no choice, unless there is nothing else.
fn best_cell(
    cells: &[CellResult],
    groups: &[Vec<usize>],
    group: &[usize],
    useful: UsefulDifference,
) -> Option<usize> {
    let part = section(&cells[*group.first()?]);
    let of = |group: &Vec<usize>| group.iter().map(|index| &cells[*index]).collect();
    let groups: Vec<Vec<&CellResult>> = groups.iter().map(of).collect();
    let is_here = |group: &Vec<&CellResult>| section(group[0]) == part;
    let groups: Vec<Vec<&CellResult>> = groups.into_iter().filter(is_here).collect();
    let compared = metrics::headline(&groups, useful)?;
    let rank = |index: &usize| {
        let cell = &cells[*index];
        let summary = cell.metrics.get(compared.name)?;
        let costs = match compared.by_median() {
            true => [summary.p50, summary.p95, summary.mean],
            // Of equal shares of missed deadlines, the shorter time decides.
            false => {
                let mut times =
                    ["rtt_ms", "verdict_ms"].iter().filter_map(|name| cell.metrics.get(*name));
                let time = times.next().filter(|_| compared.is_share());
                let [median, tail] = time.map_or([0.0; 2], |time| [time.p50, time.p95]);
                [summary.mean, median, tail]
            }
        };
        let costs = costs.map(|cost| if compared.less_is_better { cost } else { -cost });
        Some(((cell.is_bound, cell.spoiled()), costs, *index))
    };
    let by_costs = |a: &[f64; 3], b: &[f64; 3]| {
        a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne())
    };
    let best = group.iter().filter_map(rank).min_by(|a, b| {
        let order = a.0.0.cmp(&b.0.0).then(a.0.1.total_cmp(&b.0.1));
        order.then(by_costs(&a.1, &b.1).unwrap_or(std::cmp::Ordering::Equal))
    });
    best.map(|(.., index)| index)
}

fn summarize(cell: &Cell, runs: &[RunResult]) -> CellResult {
    let expected = expectation::of(cell);
    CellResult {
        factors: cell.factors.iter().map(|(name, value)| (name.clone(), value.to_json())).collect(),
        ranking: cell.ranking.iter().map(ToString::to_string).collect(),
        expected_round_trips: expected.map(|expected| expected.round_trips),
        expected_completion_ms: expected.map(|expected| expected.completion.as_secs_f64() * 1e3),
        is_bound: cell.radio.as_ref().is_some_and(|radio| radio.foresight().is_bound()),
        ..summary(runs)
    }
}

/// What runs show, whatever their cell is.
pub(crate) fn summary(runs: &[RunResult]) -> CellResult {
    let mut of_runs: BTreeMap<&str, Vec<&[f64]>> = BTreeMap::new();
    for samples in runs.iter().filter_map(|run| run.outcome.samples()) {
        for (metric, values) in samples.iter().filter(|(_, values)| !values.is_empty()) {
            of_runs.entry(metric).or_default().push(values);
        }
    }
    let metrics = of_runs
        .iter()
        .filter_map(|(name, values)| Some(((*name).to_owned(), metric_summary(name, values)?)));
    CellResult {
        metrics: metrics.collect(),
        failed: runs.iter().filter(|run| run.outcome.samples().is_none()).count() as u32,
        failures: failures(runs),
        ..CellResult::default()
    }
}

/// Which parts of the rig were late in how many of the runs.
fn late(left_out: &[RunResult]) -> BTreeMap<String, u32> {
    let mut late = BTreeMap::new();
    let certificates = left_out.iter().filter_map(|run| run.certificate.as_ref());
    for part in certificates.flat_map(|certificate| &certificate.late) {
        *late.entry(part.clone()).or_default() += 1;
    }
    late
}

/// Quantiles over all samples, the mean and its interval over the runs' means: the samples of one
/// run share its seed and are not independent.
///
/// The interval of the mean ends at [`limits`]: if one of the runs took long, it would include times
/// below zero, or below the shortest that is possible.
fn metric_summary(name: &str, runs: &[&[f64]]) -> Option<MetricSummary> {
    let of_each: Option<Vec<f64>> =
        runs.iter().map(|values| Some(Sample::new(values).ok()?.mean())).collect();
    let (all, means) = (Sample::new(&runs.concat()).ok()?, Sample::new(&of_each?).ok()?);
    let quantile = |p: f64| all.quantile(p).ok();
    let [least, most] = limits(&means, metrics::range(name));
    let is_wanted = metrics::compared(name).is_some_and(Compared::by_median);
    let grouped = (is_wanted && runs.len() >= MIN_RUNS as usize)
        .then(|| Runs::new(runs.iter().copied()).ok())
        .flatten();
    let interval =
        |p: f64| grouped.as_ref()?.estimate(Statistic::Quantile(p)).ok()?.interval.closed();
    Some(MetricSummary {
        mean: means.mean(),
        ci95: mean_interval(&means, CONFIDENCE).ok()?.map(|end| end.clamp(least, most)),
        p50: quantile(0.5)?,
        p50_ci95: interval(0.5),
        p95: quantile(0.95)?,
        p95_ci95: interval(0.95),
        p99: quantile(0.99)?,
        p99_ci95: interval(0.99),
        min: all.min(),
        max: all.max(),
        n: means.len() as u32,
        samples: all.len() as u64,
    })
}

/// Where the interval of a mean ends at the latest: where the metric does, which does not change the
/// coverage; and from ten runs on at the outermost run, on the side on which the runs are closer together.
/// The mean is beyond that run only if all ten are on its other side: in 0.2 % of sets of ten normal values,
/// and in 0.6 % of log-normal ones.
pub(crate) fn limits(means: &Sample, [least, most]: [f64; 2]) -> [f64; 2] {
    let [below, above] = [means.mean() - means.min(), means.max() - means.mean()];
    match (means.len() >= 10, below < above) {
        (false, _) => [least, most],
        (true, true) => [means.min(), most],
        (true, false) => [least, means.max()],
    }
}

fn failures(runs: &[RunResult]) -> Vec<Failure> {
    let failed = runs.iter().filter_map(|run| match &run.outcome {
        Outcome::Failed(reason) => Some((reason, run.run)),
        Outcome::Samples(_) => None,
    });
    let failure = |(reason, runs): (&String, Vec<u32>)| Failure {
        run: runs[0],
        count: runs.len() as u32,
        reason: reason.clone(),
    };
    grouped(failed).into_iter().map(failure).collect()
}

#[cfg(test)]
mod tests;
