//! Metrics: pure functions from the events of one run to samples.
//!
//! A metric is an entry of [`registry`]; its name ends in its unit. A run has no sample of a
//! metric, one, or many (the round-trip times of its messages). Every metric takes one or two
//! passes over the events, so the cost per event is the same for ten thousand phones as for one.

/// A table of metrics: name, function and help of each.
macro_rules! metrics {
    ($($name:literal, $compute:expr => $help:literal;)*) => {
        &[$(Metric { name: $name, help: $help, compute: $compute }),*]
    };
}

mod account;
mod age;
mod completion;
mod counts;
mod disturbance;
mod flow;
mod handshake;
mod latency;
mod link;
mod load;
mod loading;
pub(crate) mod messages;
mod outcome;
mod page;
mod playing;
mod registry;
pub mod sharing;
mod throughput;
mod transport;
mod verification;

#[cfg(test)]
mod tests;

use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Record};

use crate::lists::distinct;
use crate::results::{CellResult, MIN_RUNS, MetricSummary, UsefulDifference};

pub use account::{Account, account};
pub use outcome::outcome;
pub use registry::{find, registry};

/// A quantity computed from a run's events.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name in results, which ends in the unit.
    pub name: &'static str,
    /// One line for lists and the reference page: what is measured, from when to when.
    pub help: &'static str,
    /// The samples of a run, in a fixed order; none if the run has no such data.
    pub compute: fn(&[Record]) -> Vec<f64>,
}

/// A metric by which cells are compared, paired by run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Its name.
    pub name: &'static str,
    /// What it is called in a sentence.
    pub title: &'static str,
    /// What the best cell is in a sentence: `Fastest`.
    pub best: &'static str,
    /// Whether the cell with less of it is the better one.
    pub less_is_better: bool,
}

impl Compared {
    /// Whether the median is shown and ranks cells. Times have a tail, which would rule a mean; of rates the
    /// mean is what arrives.
    pub fn by_median(&self) -> bool {
        self.name.ends_with("_ms")
    }

    /// Whether it is a share, from 0 to 1.
    pub fn is_share(&self) -> bool {
        self.name.ends_with("_ratio")
    }

    /// The value that is shown, and ranks cells.
    pub fn center(&self, summary: &MetricSummary) -> f64 {
        if self.by_median() { summary.p50 } else { summary.mean }
    }

    /// This value of a cell.
    pub fn of(&self, cell: &CellResult) -> Option<f64> {
        Some(self.center(cell.metrics.get(self.name)?))
    }

    /// Its 95 % interval; none below six runs.
    pub fn interval(&self, summary: &MetricSummary) -> Option<[f64; 2]> {
        match self.by_median() {
            true => summary.p50_ci95,
            false => (summary.n >= MIN_RUNS).then_some(summary.ci95),
        }
    }

    /// The smallest difference from `base` that matters, in the metric's unit.
    pub fn least_useful(&self, base: f64, useful: UsefulDifference) -> f64 {
        let share = useful.percent / 100.0;
        match (self.is_share(), self.by_median()) {
            (true, _) => share,
            (_, true) => (share * base.abs()).max(useful.ms),
            _ => share * base.abs(),
        }
    }
}

/// The metrics by which cells may be ranked. Each workload declares those that rank its cells; this order
/// is that of directories that are older than these declarations.
pub const COMPARED: &[Compared] = &[
    less("completion_ms", "completion time", "Fastest"),
    less("plt_ms", "page load time", "Fastest"),
    less("loading_delay_ms", "loading delay", "Fastest"),
    less("rebuffering_ms", "rebuffering", "Least rebuffering"),
    less("deadline_miss_ratio", "missed deadlines", "Fewest missed deadlines"),
    less("rtt_ms", "round-trip time", "Fastest"),
    less("late_verdict_ratio", "late verdicts", "Fewest late verdicts"),
    less("verdict_ms", "time to a verdict", "Fastest"),
    more("accepted_count", "accepted messages", "Most accepted messages"),
    more("signature_rate_hz", "signature rate", "Highest signature rate"),
    more("throughput_mbps", "throughput", "Highest throughput"),
    more("goodput_mbps", "goodput", "Highest goodput"),
    less("gap_ms", "longest gap", "Shortest gap"),
    less("interruption_ms", "interruption", "Shortest interruption"),
    more("media_bitrate_mbps", "bitrate of the media", "Highest bitrate of the media"),
    more("fps", "frame rate", "Highest frame rate"),
];

/// The metric called `name`, if cells are compared by it.
pub fn compared(name: &str) -> Option<&'static Compared> {
    COMPARED.iter().find(|compared| compared.name == name)
}

/// The declared metrics that all of `cells` have, less those whose runs all failed.
pub fn declared<'a>(cells: impl Iterator<Item = &'a CellResult> + Clone) -> Vec<&'static Compared> {
    let names = distinct(cells.clone().flat_map(|cell| &cell.ranking));
    let declared = names.into_iter().filter_map(|name| compared(name));
    declared.filter(|one| is_common(one, cells.clone())).collect()
}

/// The metric that ranks cells: of those declared and common to all cells the first in which cells of one of
/// the `groups` differ usefully, or else the first. Where none of them is common, all that can rank are tried.
pub fn headline(
    groups: &[Vec<&CellResult>],
    useful: UsefulDifference,
) -> Option<&'static Compared> {
    let cells = groups.iter().flatten().copied();
    let mut order = declared(cells.clone());
    if order.is_empty() {
        order = COMPARED.iter().filter(|one| is_common(one, cells.clone())).collect();
    }
    let differs = |compared: &&Compared| {
        groups.iter().any(|group| {
            let centers = || group.iter().filter_map(|cell| compared.of(cell));
            let least = centers().fold(f64::INFINITY, f64::min);
            centers().any(|center| center - least > compared.least_useful(least, useful))
        })
    };
    order.iter().copied().find(|one| differs(one)).or(order.first().copied())
}

/// Whether all cells with successful runs have a metric.
fn is_common<'a>(compared: &Compared, cells: impl Iterator<Item = &'a CellResult>) -> bool {
    let mut having = cells.filter(|cell| !cell.metrics.is_empty()).peekable();
    having.peek().is_some() && having.all(|cell| cell.metrics.contains_key(compared.name))
}

/// A metric's name and its unit: `completion` and `ms`.
pub fn split_unit(metric: &str) -> (&str, &str) {
    metric.rsplit_once('_').unwrap_or((metric, ""))
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

/// When the first such event happened.
pub(crate) fn time_of(records: &[Record], event: &Event) -> Option<Time> {
    records.iter().find(|record| record.event == *event).map(|record| record.at)
}

const fn less(name: &'static str, title: &'static str, best: &'static str) -> Compared {
    Compared { name, title, best, less_is_better: true }
}

const fn more(name: &'static str, title: &'static str, best: &'static str) -> Compared {
    Compared { name, title, best, less_is_better: false }
}

/// Whether less of a metric is better, or more of it; `None` if neither is. Less is better for
/// times, misses and losses; more is better for rates.
pub fn less_is_better(name: &str) -> Option<bool> {
    let compared = compared(name);
    let less = ["_ms", "_miss_ratio", "late_verdict_ratio", "lost_count", "failed_count"];
    let less_too = ["wrong_verdict_count", "rebuffering_count", "loss_percent", "drop_percent"];
    let late = ["late_count", "unsent_count", "dropped_count", "wire_bytes", "filler_percent"];
    let cost = ["cpu_percent", "retransmission_percent", "memory_bytes", "power_watts"];
    let more = ["_mbps", "_hz", "in_time_count", "answered_count", "fairness_ratio"];
    let ends = |words: &[&str]| words.iter().any(|word| name.ends_with(word));
    match compared {
        Some(compared) => Some(compared.less_is_better),
        None if [&less[..], &less_too, &late, &cost].into_iter().any(ends) => Some(true),
        None if ends(&more) => Some(false),
        None => None,
    }
}

/// The possible range of a metric in its unit: a time is never below zero, a share never above one.
pub fn range(name: &str) -> [f64; 2] {
    let least = if name.ends_with("_celsius") { f64::NEG_INFINITY } else { 0.0 };
    let of_all = ["loss", "drop", "retransmission", "filler", "share", "utilisation"];
    let most = match name.strip_suffix("_percent") {
        Some(what) if of_all.iter().any(|word| what.ends_with(word)) => 100.0,
        _ if name.ends_with("_ratio") => 1.0,
        _ => f64::INFINITY,
    };
    [least, most]
}
