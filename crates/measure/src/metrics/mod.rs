//! Metrics: pure functions from the events of one run to samples.
//!
//! A metric is an entry of [`registry`]; its name ends in its unit. A run gives a metric no
//! sample, one, or many (the round-trip times of its messages). Every metric takes one or two
//! passes over the events, so a run of ten thousand phones costs no more per event than a run of
//! one.

/// A table of metrics: the name of each, what computes its samples, and its help.
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
mod inference;
mod latency;
mod link;
mod load;
mod loading;
mod messages;
mod outcome;
mod page;
mod playing;
mod registry;
mod throughput;
mod transport;
mod usage;
mod verification;
mod warnings;

#[cfg(test)]
mod tests;

use trackbed_core::event::Record;

pub use account::{Account, account};
pub use outcome::outcome;
pub use registry::{find, registry};

/// A quantity that is computed from a run's events.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// The name under which results hold it; it ends in the unit.
    pub name: &'static str,
    /// One line for lists and the reference page: what is measured, from when to when.
    pub help: &'static str,
    /// The samples of a run, in a fixed order; none where the run has nothing of the kind.
    pub compute: fn(&[Record]) -> Vec<f64>,
}

/// A metric by which cells are compared run by run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Its name.
    pub name: &'static str,
    /// Whether the cell with less of it is the better one.
    pub less_is_better: bool,
}

/// The metrics by which cells are compared, the most telling one first: the first that a cell has
/// ranks it.
pub const COMPARED: &[Compared] = &[
    Compared { name: "completion_ms", less_is_better: true },
    Compared { name: "plt_ms", less_is_better: true },
    Compared { name: "loading_delay_ms", less_is_better: true },
    Compared { name: "rtt_ms", less_is_better: true },
    Compared { name: "verdict_ms", less_is_better: true },
    Compared { name: "signature_rate_hz", less_is_better: false },
    Compared { name: "throughput_mbps", less_is_better: false },
    Compared { name: "goodput_mbps", less_is_better: false },
    Compared { name: "fps", less_is_better: false },
];

/// Whether less of a metric is better, or more of it; `None` where that cannot be said. Times, misses and
/// losses are better if they are less; rates if they are more.
pub fn less_is_better(name: &str) -> Option<bool> {
    let compared = COMPARED.iter().find(|compared| compared.name == name);
    let less = ["_ms", "_miss_ratio", "late_verdict_ratio", "lost_count", "failed_count"];
    let less_too = ["wrong_verdict_count", "rebuffering_count", "loss_percent", "drop_percent"];
    let cost = ["cpu_percent", "retransmission_percent", "memory_bytes", "power_watts"];
    let more = ["_mbps", "_hz", "in_time_count"];
    let ends = |words: &[&str]| words.iter().any(|word| name.ends_with(word));
    match compared {
        Some(compared) => Some(compared.less_is_better),
        None if ends(&less) || ends(&less_too) || ends(&cost) => Some(true),
        None if ends(&more) => Some(false),
        None => None,
    }
}

/// Between which values a metric lies by what it is, in its unit: a time is never below zero, a share never
/// above one.
pub fn range(name: &str) -> [f64; 2] {
    let least = if name.ends_with("_celsius") { f64::NEG_INFINITY } else { 0.0 };
    let most = if name.ends_with("_ratio") { 1.0 } else { f64::INFINITY };
    [least, most]
}
