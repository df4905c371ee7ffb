//! From the results of single runs to what a cell's runs say together, and to how cells differ.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

use trackbed_measure::metrics;
use trackbed_measure::results::{
    CellResult, Difference, Failure, MetricSummary, Outcome, RunResult, Verdict,
};
use trackbed_stats::{Bootstrap, PairedDifference, Sample, paired};

use crate::expectation;
use crate::scenario::{Cell, PART, Plan};

/// Summarises the runs of every cell of `plan`. `runs` may be in any order and incomplete.
pub fn cells(plan: &Plan, runs: &[RunResult]) -> Vec<CellResult> {
    let by_cell = sorted_by_cell(plan, runs);
    let cells: Vec<_> = plan.cells.iter().zip(&by_cell).collect();
    on_all_cores(&cells, |(cell, runs)| summarize(cell, runs))
}

/// Compares every cell with the best one under the same conditions: what is to be chosen is
/// compared, a link with loss and one without are not. Where nothing but conditions differs, all
/// cells of a part are compared.
pub fn differences(plan: &Plan, cells: &[CellResult], runs: &[RunResult]) -> Vec<Difference> {
    let by_cell = sorted_by_cell(plan, runs);
    let groups = comparable(&plan.conditions, cells);
    let mut pairs = Vec::new();
    for metric in metrics::COMPARED.iter().map(|compared| compared.name) {
        for group in &groups {
            let Some(best) = best_cell(cells, group) else { continue };
            let others = group.iter().filter(|cell| **cell != best);
            pairs.extend(others.map(|cell| (metric, best, *cell)));
        }
    }
    let difference = |&(metric, best, cell): &(&str, usize, usize)| {
        let means = |cell: usize| run_means(&by_cell[cell], metric, plan.runs);
        let pairs = paired(&means(best), &means(cell)).ok()?;
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
    };
    on_all_cores(&pairs, difference).into_iter().flatten().collect()
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
pub(crate) fn run_means(runs: &[&RunResult], metric: &str, count: u32) -> Vec<Option<f64>> {
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

/// The runs of each cell in order of their number, so that no result depends on which run was
/// finished first.
pub(crate) fn sorted_by_cell<'a>(plan: &Plan, runs: &'a [RunResult]) -> Vec<Vec<&'a RunResult>> {
    let mut by_cell: Vec<Vec<&RunResult>> = vec![Vec::new(); plan.cells.len()];
    for run in runs {
        if let Some(list) = by_cell.get_mut(run.cell as usize) {
            list.push(run);
        }
    }
    for list in &mut by_cell {
        list.sort_by_key(|run| run.run);
    }
    by_cell
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

fn summarize(cell: &Cell, runs: &[&RunResult]) -> CellResult {
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
        Some(((*metric).to_owned(), metric_summary(values, means.get(metric)?)?))
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
fn metric_summary(values: &[f64], means: &[f64]) -> Option<MetricSummary> {
    let (all, means) = (Sample::new(values).ok()?, Sample::new(means).ok()?);
    let quantile = |p: f64| all.quantile(p).ok();
    Some(MetricSummary {
        mean: means.mean(),
        ci95: Bootstrap::default().mean_ci95(&means),
        p50: quantile(0.5)?,
        p95: quantile(0.95)?,
        p99: quantile(0.99)?,
        min: all.min(),
        max: all.max(),
        n: means.len() as u32,
        samples: all.len() as u64,
    })
}

fn failures(runs: &[&RunResult]) -> Vec<Failure> {
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
