//! From the results of single runs to what a cell's runs say together, and to how cells differ.

use std::collections::BTreeMap;

use trackbed_measure::results::{CellResult, Difference, Failure, MetricSummary, RunResult};
use trackbed_stats::{Bootstrap, Sample, paired};

use crate::expectation;
use crate::scenario::{Cell, Plan};

/// The metrics that are compared between cells, run by run.
const COMPARED: [&str; 3] = ["completion_ms", "rtt_ms", "throughput_mbps"];

/// Summarises the runs of every cell of `plan`. `runs` may be in any order and incomplete.
pub fn cells(plan: &Plan, runs: &[RunResult]) -> Vec<CellResult> {
    let by_cell = sorted_by_cell(plan, runs);
    plan.cells.iter().zip(&by_cell).map(|(cell, runs)| summarize(cell, runs)).collect()
}

/// Compares every cell with the one whose first compared metric has the smallest mean.
pub fn differences(plan: &Plan, cells: &[CellResult], runs: &[RunResult]) -> Vec<Difference> {
    let Some(best) = best_cell(cells) else { return Vec::new() };
    let by_cell = sorted_by_cell(plan, runs);
    let mut differences = Vec::new();
    for metric in COMPARED {
        let baseline = run_means(&by_cell[best], metric, plan.runs);
        for cell in (0..cells.len()).filter(|cell| *cell != best) {
            let values = run_means(&by_cell[cell], metric, plan.runs);
            let Ok(pairs) = paired(&baseline, &values) else { continue };
            differences.push(Difference {
                metric: metric.to_owned(),
                cell: cell as u32,
                against: best as u32,
                mean: pairs.mean,
                ci95: pairs.ci95,
                percent: pairs.relative.map(|relative| relative.mean * 100.0),
                n: pairs.n as u32,
            });
        }
    }
    differences
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

fn best_cell(cells: &[CellResult]) -> Option<usize> {
    let metric = COMPARED
        .into_iter()
        .find(|metric| cells.iter().any(|cell| cell.metrics.contains_key(*metric)))?;
    let mean = |cell: &CellResult| cell.metrics.get(metric).map(|summary| summary.mean);
    let means = cells.iter().enumerate().filter_map(|(index, cell)| Some((index, mean(cell)?)));
    means.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
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
        let trackbed_measure::results::Outcome::Failed(reason) = &run.outcome else { continue };
        match failures.iter_mut().find(|failure| failure.reason == *reason) {
            Some(failure) => failure.count += 1,
            None => failures.push(Failure { run: run.run, count: 1, reason: reason.clone() }),
        }
    }
    failures
}
