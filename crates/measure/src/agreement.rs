//! How closely virtual and emulated runs agree, as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::results::SCHEMA;

/// The output of `trackbed agree --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgreementDocument {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The answer in a sentence.
    pub answer: String,
    /// The version of the tool.
    pub trackbed: String,
    /// The scenario's name.
    pub scenario: String,
    /// The root seed.
    pub seed: u64,
    /// Runs of each cell on each substrate.
    pub runs: u32,
    /// Properties of the machine that affect the emulated runs, by name.
    pub environment: BTreeMap<String, String>,
    /// The cells with runs on both substrates.
    pub cells: Vec<Agreement>,
}

/// How closely two substrates agree about one cell.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// The cell's place in the plan.
    pub cell: u32,
    /// The cell in words.
    pub name: String,
    /// The compared metric.
    pub metric: String,
    /// The mean in virtual time, over the runs that both substrates have.
    pub virtually: f64,
    /// The mean on the emulated substrate, over the same runs.
    pub emulated: f64,
    /// The number of these runs.
    pub pairs: u32,
    /// The emulated mean divided by the virtual one.
    pub ratio: f64,
    /// The 90 % confidence interval of the ratio, for two one-sided tests at 5 %. With `--until-decided` it
    /// is so much wider that these tests err in 5 % of cells over all looks together.
    pub ci90: [f64; 2],
    /// The largest accepted deviation of the ratio from 1.
    pub margin: f64,
    /// The correlation of the pairs: 1 if what makes one run slower makes its partner slower. None if a side
    /// does not vary.
    pub correlation: Option<f64>,
    /// The comparison with virtual runs whose ends compute. None if the cell is equivalent without, if
    /// inference shares its processor, if it was interrupted, or if there are no processor times.
    pub with_computing: Option<WithComputing>,
    /// The verdict of both comparisons.
    pub verdict: AgreementVerdict,
    /// How many pairs would probably decide what is undecided. None below six pairs, or if the ratio is at
    /// the margin's limit.
    pub pairs_to_decide: Option<u64>,
}

impl Agreement {
    /// How many pairs would probably decide one of the two comparisons.
    pub fn soonest(&self) -> Option<u64> {
        let with_computing = self.with_computing.as_ref().and_then(|with| with.pairs_to_decide);
        self.pairs_to_decide.into_iter().chain(with_computing).min()
    }
}

/// A comparison with virtual runs in which each packet takes processor time at both ends, and TCP's timers
/// end at ticks of the kernel's clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WithComputing {
    /// Processor time of the phones' program for each packet that it sends or receives, measured in the
    /// emulated runs, in microseconds.
    pub client_us: f64,
    /// The same for the server's.
    pub server_us: f64,
    /// The mean in virtual time.
    pub virtually: f64,
    /// The number of runs that both substrates have.
    pub pairs: u32,
    /// The emulated mean divided by the virtual one.
    pub ratio: f64,
    /// The interval of the ratio, as without computing.
    pub ci90: [f64; 2],
    /// The verdict of this interval: `equivalent`, `different` or `undecided`.
    pub verdict: AgreementVerdict,
    /// How many pairs would probably decide what is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_to_decide: Option<u64>,
}

/// The answer: how many cells agree.
pub fn sentence(cells: &[Agreement]) -> String {
    if cells.is_empty() {
        return "Nothing could be compared: no cell has a judged metric in runs of both substrates.".to_owned();
    }
    let one_each = cells.windows(2).all(|pair| pair[0].cell != pair[1].cell);
    let what = if one_each { "cells" } else { "comparisons" };
    let count = |verdict| cells.iter().filter(|cell| cell.verdict == verdict).count();
    let computing = match count(AgreementVerdict::EquivalentWithComputing) {
        0 => String::new(),
        count => format!(", {count} more with the ends' processor time"),
    };
    format!(
        "Virtual time and the kernel: {} of {} {what} equivalent within the margin{computing}, {} different, {} \
         undecided.",
        count(AgreementVerdict::Equivalent),
        cells.len(),
        count(AgreementVerdict::Different),
        count(AgreementVerdict::Undecided),
    )
}

/// A verdict about agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgreementVerdict {
    /// Within the margin.
    Equivalent,
    /// Within the margin of virtual runs whose ends compute, but not, or not surely, of those that do not.
    EquivalentWithComputing,
    /// Beyond the margin.
    Different,
    /// Undecided with these runs.
    Undecided,
}
