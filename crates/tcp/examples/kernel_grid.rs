//! Compares the engine with the measured kernel, condition by condition, and writes the table
//! `kernel-agreement.md`.
//!
//! `cargo run --release -p trackbed-tcp --example kernel_grid`

#[path = "../tests/engine/track/mod.rs"]
mod track;

use std::fmt::Write as _;
use std::time::Duration;

use track::kernel::{Condition, Outcome, conditions};

fn main() -> std::io::Result<()> {
    let all = conditions();
    let (lossless, lossy): (Vec<_>, Vec<_>) = all.iter().partition(|c| c.is_lossless());
    let mut table = INTRODUCTION.to_owned();
    write_lossless(&mut table, &lossless);
    write_lossy(&mut table, &lossy);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernel-agreement.md");
    std::fs::write(path, &table)?;
    println!("wrote {path}");
    Ok(())
}

fn write_lossless(table: &mut String, conditions: &[&Condition]) {
    let mut rows = String::new();
    let mut notes = String::new();
    let mut agreeing = 0;
    for condition in conditions {
        let ours = condition.run_without_loss();
        let mean = condition.mean();
        let (low, high) = condition.range();
        let agrees = condition.agrees(ours);
        agreeing += usize::from(agrees);
        let _ = writeln!(
            rows,
            "| {} | {mean:.1} | {low:.1} to {high:.1} | {:.1} | {:.1} | {:.0} | {:+.1} % | {} |",
            name(condition),
            condition.retransmissions(),
            ours.completion_ms,
            ours.retransmissions,
            condition.deviation(ours) / mean * 100.0,
            if agrees { "yes" } else { "no" },
        );
        if !agrees {
            note(&mut notes, condition, ours);
        }
    }
    let _ = write!(
        table,
        "## Without loss\n\n{agreeing} of {} conditions agree: the deviation is at most 3 %, or the spread of \
         the kernel's repetitions where that is larger.\n\n{START_COST}\n\n\
         | condition | kernel ms | range | rtx | ours ms | rtx | deviation | agrees |\n\
         | --- | --: | --: | --: | --: | --: | --: | --- |\n{rows}\n\
         ### The conditions that deviate\n\n{DEVIATIONS}\n{notes}\n",
        conditions.len(),
    );
}

/// Shows how much the result of a deviating condition depends on the timing of the machine.
fn note(notes: &mut String, condition: &Condition, ours: Outcome) {
    let jittered: Vec<f64> =
        (0..JITTER_SEEDS).map(|seed| condition.run(seed, JITTER).completion_ms).collect();
    let low = jittered.iter().copied().fold(f64::MAX, f64::min);
    let high = jittered.iter().copied().fold(0.0, f64::max);
    let _ = writeln!(
        notes,
        "- {}: {:+.1} ms. When each packet is taken off the link up to 0.1 ms late, ours ranges from {low:.1} \
         to {high:.1} ms.",
        name(condition).replace(" | ", ", "),
        condition.deviation(ours),
    );
}

fn write_lossy(table: &mut String, conditions: &[&Condition]) {
    let mut rows = String::new();
    let (mut ratios, mut overlapping) = (Vec::new(), 0);
    for condition in conditions {
        let runs: Vec<Outcome> =
            (0..LOSSY_SEEDS).map(|seed| condition.run(seed, Duration::ZERO)).collect();
        let ours: Vec<f64> = runs.iter().map(|run| run.completion_ms).collect();
        let kernel: Vec<f64> = condition.samples.iter().map(|sample| sample.0).collect();
        let (mean, error) = mean_and_error(&kernel);
        let (our_mean, our_error) = mean_and_error(&ours);
        let overlaps = (our_mean - mean).abs() <= error + our_error;
        overlapping += usize::from(overlaps);
        ratios.push(our_mean / mean);
        let our_retransmissions =
            runs.iter().map(|run| run.retransmissions).sum::<f64>() / runs.len() as f64;
        let _ = writeln!(
            rows,
            "| {} | {mean:.0} ± {error:.0} | {:.1} | {our_mean:.0} ± {our_error:.0} | {our_retransmissions:.1} \
             | {:+.1} % | {} |",
            name(condition),
            condition.retransmissions(),
            (our_mean / mean - 1.0) * 100.0,
            if overlaps { "yes" } else { "no" },
        );
    }
    let mean = |ratios: &[f64]| (ratios.iter().sum::<f64>() / ratios.len() as f64 - 1.0) * 100.0;
    let within = |ratios: &[f64]| ratios.iter().filter(|it| (**it - 1.0).abs() <= 0.1).count();
    let _ = write!(
        table,
        "## With random loss\n\nMeans over the kernel's 11 or 12 repetitions (2 or 3 of the 100 MB transfers) and over \
         {LOSSY_SEEDS} seeds of ours, with 95 % intervals.\n\n\
         - Over the grid, our mean deviates by {:+.1} %.\n\
         - {} of {} conditions lie within 10 %. The intervals of {overlapping} overlap.\n\n\
         {LOSSY_NOTE}\n\n\
         | condition | kernel ms | rtx | ours ms | rtx | deviation | overlap |\n\
         | --- | --: | --: | --: | --: | --: | --- |\n{rows}",
        mean(&ratios),
        within(&ratios),
        ratios.len(),
    );
}

/// The mean, and half the width of its 95 % interval.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let student = match values.len() {
        ..=2 => 12.7,
        3 => 4.30,
        4..=12 => 2.23,
        _ => 1.98,
    };
    (mean, student * (variance / n).sqrt())
}

fn name(condition: &Condition) -> String {
    let Condition { rate_mbps, delay_ms, loss, queue, size, congestion, .. } = condition;
    let size = match size {
        1_000_000.. => format!("{} MB", size / 1_000_000),
        _ => format!("{} kB", size / 1_000),
    };
    let loss = if loss.is_zero() { String::new() } else { format!("loss {loss}, ") };
    format!("{rate_mbps} Mbit/s, {delay_ms} ms, {loss}queue {queue}, {size}, {congestion}")
}

const JITTER: Duration = Duration::from_micros(100);
const JITTER_SEEDS: u64 = 50;
const LOSSY_SEEDS: u64 = 100;

const INTRODUCTION: &str = include_str!("kernel-grid/introduction.txt");
const DEVIATIONS: &str = include_str!("kernel-grid/deviations.txt");
const START_COST: &str = include_str!("kernel-grid/start-cost.txt");
const LOSSY_NOTE: &str = include_str!("kernel-grid/lossy-note.txt");
