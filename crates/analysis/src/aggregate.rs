//! From the results of single runs to what a cell's runs say together, and to how cells differ.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

use trackbed_measure::metrics::{self, Compared};
use trackbed_measure::results::{
    CellResult, Check, Difference, Failure, MetricSummary, Outcome, RunResult, Verdict,
};
use trackbed_stats::{PairedDifference, Sample, mean_interval, paired};

use trackbed_archive::{Counted, DirectoryError};
use trackbed_scenario::{Cell, PART, expectation};

/// What the runs of a cell say together, and what is checked about them.
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
        let (runs, invalid) = counted.of(index)?;
        let result = CellResult { invalid, ..summarize(cell, &runs) };
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
) -> Result<Vec<Difference>, DirectoryError> {
    let plan = counted.plan;
    let mut of_each_metric: Vec<Vec<Difference>> = vec![Vec::new(); metrics::COMPARED.len()];
    let compared_means = |cell: usize| -> Result<Vec<Vec<Option<f64>>>, DirectoryError> {
        let (runs, _) = counted.of(cell as u32)?;
        let of = |compared: &Compared| run_means(&runs, compared.name, plan.runs);
        Ok(metrics::COMPARED.iter().map(of).collect())
    };
    for group in comparable(&plan.conditions, cells) {
        let Some(best) = best_cell(cells, &group) else { continue };
        let others: Vec<usize> = group.into_iter().filter(|cell| *cell != best).collect();
        if others.is_empty() {
            continue;
        }
        let means_of_best = compared_means(best)?;
        let compare = |&cell: &usize| -> Result<Vec<Option<Difference>>, DirectoryError> {
            let pairs = means_of_best.iter().zip(compared_means(cell)?).zip(metrics::COMPARED);
            let of = |((against, means), compared): ((&_, _), &Compared)| {
                difference(compared.name, (best, against), (cell, &means))
            };
            Ok(pairs.map(of).collect())
        };
        for found in on_all_cores(&others, compare) {
            of_each_metric.iter_mut().zip(found?).for_each(|(list, found)| list.extend(found));
        }
    }
    Ok(of_each_metric.into_iter().flatten().collect())
}

/// By how much a cell differs from the best one, each given with its runs' means.
fn difference(
    metric: &str,
    (best, against): (usize, &Vec<Option<f64>>),
    (cell, means): (usize, &Vec<Option<f64>>),
) -> Option<Difference> {
    let pairs = paired(against, means).ok()?;
    Some(Difference {
        metric: metric.to_owned(),
        cell: cell as u32,
        against: best as u32,
        mean: pairs.mean,
        ci95: pairs.ci95,
        percent: pairs.relative.map(|relative| relative.mean * 100.0),
        n: pairs.n as u32,
        verdict: verdict(&pairs),
    })
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

fn verdict(pairs: &PairedDifference) -> Verdict {
    match pairs.verdict {
        trackbed_stats::Verdict::Faster => Verdict::Lower,
        trackbed_stats::Verdict::Slower => Verdict::Higher,
        trackbed_stats::Verdict::Undecided if pairs.ci95 == [0.0, 0.0] => Verdict::Equal,
        trackbed_stats::Verdict::Undecided => Verdict::Undecided,
    }
}

/// Cells by the values of the factors called `conditions`, in the order of the plan.
fn comparable(conditions: &[String], cells: &[CellResult]) -> Vec<Vec<usize>> {
    let groups = grouped(conditions, cells);
    match groups.iter().any(|group| group.len() > 1) {
        true => groups,
        false => grouped(&[PART.to_owned()], cells),
    }
}

/// Cells that have the same values of these factors.
fn grouped(factors: &[String], cells: &[CellResult]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let key: Vec<String> = factors.iter().map(|name| cell.factor_text(name)).collect();
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(index),
            None => groups.push((key, vec![index])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The mean of a metric in each run, by run number; `None` where the run failed or is not there.
pub(crate) fn run_means(runs: &[RunResult], metric: &str, count: u32) -> Vec<Option<f64>> {
    let mut means = vec![None; count as usize];
    for run in runs {
        let samples = run.outcome.samples().and_then(|samples| samples.get(metric));
        let mean = samples.and_then(|values| Sample::new(values).ok()).map(|s| s.mean());
        if let Some(slot) = means.get_mut(run.run as usize) {
            *slot = mean;
        }
    }
    means
}

/// The best cell of `group`. One with failed runs is the best only if all have some: its other
/// runs are a selection of the easier ones.
fn best_cell(cells: &[CellResult], group: &[usize]) -> Option<usize> {
    let has = |metric: &str| group.iter().any(|cell| cells[*cell].metrics.contains_key(metric));
    let compared = metrics::COMPARED.iter().find(|compared| has(compared.name))?;
    let rank = |index: &usize| {
        let mean = cells[*index].metrics.get(compared.name)?.mean;
        let cost = if compared.less_is_better { mean } else { -mean };
        Some((cells[*index].failed > 0, cost, *index))
    };
    let ranks = group.iter().filter_map(rank);
    ranks.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(.., index)| index)
}

fn summarize(cell: &Cell, runs: &[RunResult]) -> CellResult {
    let mut pooled: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut means: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for samples in runs.iter().filter_map(|run| run.outcome.samples()) {
        for (metric, values) in samples {
            if let Ok(sample) = Sample::new(values) {
                means.entry(metric).or_default().push(sample.mean());
                pooled.entry(metric).or_default().extend(values);
            }
        }
    }
    let metrics = pooled.iter().filter_map(|(metric, values)| {
        Some(((*metric).to_owned(), metric_summary(metric, values, means.get(metric)?)?))
    });
    let expected = expectation::of(cell);
    CellResult {
        factors: cell.factors.iter().map(|(name, value)| (name.clone(), value.to_json())).collect(),
        metrics: metrics.collect(),
        failed: runs.iter().filter(|run| run.outcome.samples().is_none()).count() as u32,
        invalid: 0,
        failures: failures(runs),
        expected_round_trips: expected.map(|expected| expected.round_trips),
        expected_completion_ms: expected.map(|expected| expected.completion.as_secs_f64() * 1e3),
    }
}

/// Quantiles over all samples, the mean and its interval over the runs' means: the samples of one
/// run share its misfortunes and are not independent.
///
/// The interval of the mean ends where the metric does: few runs of which one took long say nothing of
/// times below zero, and what cannot be is left out at no cost to how often the interval is right.
fn metric_summary(name: &str, values: &[f64], means: &[f64]) -> Option<MetricSummary> {
    let (all, means) = (Sample::new(values).ok()?, Sample::new(means).ok()?);
    let quantile = |p: f64| all.quantile(p).ok();
    let [least, most] = metrics::range(name);
    Some(MetricSummary {
        mean: means.mean(),
        ci95: mean_interval(&means, CONFIDENCE).ok()?.map(|end| end.clamp(least, most)),
        p50: quantile(0.5)?,
        p95: quantile(0.95)?,
        p99: quantile(0.99)?,
        min: all.min(),
        max: all.max(),
        n: means.len() as u32,
        samples: all.len() as u64,
    })
}

/// Of intervals, as `ci95` says.
const CONFIDENCE: f64 = 0.95;

fn failures(runs: &[RunResult]) -> Vec<Failure> {
    let mut failures: Vec<Failure> = Vec::new();
    for run in runs {
        let Outcome::Failed(reason) = &run.outcome else { continue };
        match failures.iter_mut().find(|failure| failure.reason == *reason) {
            Some(failure) => failure.count += 1,
            None => failures.push(Failure { run: run.run, count: 1, reason: reason.clone() }),
        }
    }
    failures
}

#[cfg(test)]
mod tests;
