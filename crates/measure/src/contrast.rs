//! The comparison of two run directories, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::results::{SCHEMA, Verdict};

/// How the results of a second run directory differ from those of a first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contrast {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The answer in a sentence.
    #[serde(default)]
    pub answer: String,
    /// The first directory: the baseline.
    pub first: Side,
    /// The second directory.
    pub second: Side,
    /// Other differences between the directories, which may explain different results.
    pub changes: Vec<Change>,
    /// Whether run k of both had the same seed, so that the comparison is paired by run.
    pub paired: bool,
    /// Whether run k of both is the same journey: paired, in virtual time. Then what changed in these runs
    /// is a fact.
    #[serde(default)]
    pub same_runs: bool,
    /// The confidence level of intervals and verdicts: 0.95.
    pub confidence: f64,
    /// The largest negligible difference, as a share of the first value.
    pub margin: f64,
    /// The same for times, in milliseconds; the larger of the two holds.
    #[serde(default)]
    pub margin_ms: f64,
    /// Why no comparison can be decided, if so many comparisons need more runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_few: Option<String>,
    /// The comparisons, by the cells of the first directory.
    pub cells: Vec<CellContrast>,
    /// Cells of both directories whose metric was measured on one side only, or in no run of both.
    #[serde(default)]
    pub incomparable: Vec<Incomparable>,
    /// Cells that only the first directory has, by their factors.
    pub missing: Vec<Map<String, Value>>,
    /// Cells that only the second directory has.
    pub added: Vec<Map<String, Value>>,
}

/// One of two run directories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Its path as given.
    pub directory: String,
    /// The version of the tool that made it.
    pub trackbed: String,
    /// Its scenario's name.
    pub scenario: String,
    /// Its substrate.
    pub substrate: String,
    /// Its root seed.
    pub seed: u64,
    /// Runs of each cell.
    pub runs: u32,
    /// The version of its results: pairs need the same version.
    #[serde(default)]
    pub results_version: u32,
}

/// A difference between the two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What differs.
    pub what: String,
    /// Its value in the first directory.
    pub first: String,
    /// Its value in the second.
    pub second: String,
}

/// A metric of a cell on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellContrast {
    /// The cell's factors, the same on both sides.
    pub factors: Map<String, Value>,
    /// Its number on each side.
    pub cells: [u32; 2],
    /// The compared metric.
    pub metric: String,
    /// What is compared of the runs' values: `median` for times, else `mean`.
    #[serde(default)]
    pub statistic: String,
    /// The means or medians: of the paired runs if paired.
    pub means: [f64; 2],
    /// The second minus the first; of medians, the median of the differences.
    pub difference: f64,
    /// The confidence interval of the difference, for this comparison alone; none of too few runs.
    pub interval: Option<[f64; 2]>,
    /// The difference as a percentage of the first value with its interval, if that is meaningful.
    pub percent: Option<[f64; 3]>,
    /// What changed in these very runs, where both sides have the same ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_these_runs: Option<InTheseRuns>,
    /// The probability of such a difference by chance, for this comparison alone.
    pub p_value: f64,
    /// The p-value adjusted for all comparisons together (Holm).
    pub p_adjusted: f64,
    /// The number of runs of each mean.
    pub n: [u32; 2],
    /// Failed runs on each side.
    pub failed: [u32; 2],
    /// Whether a larger share of the runs failed than before.
    pub fails_more: bool,
    /// The verdict about a difference.
    pub verdict: Verdict,
    /// The verdict about a regression; `None` if neither less nor more of the metric is better.
    pub regression: Option<Regression>,
}

/// How the runs of a cell changed: no estimate, but what happened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InTheseRuns {
    /// Runs with a lower value than before.
    pub lower: u32,
    /// Runs with a higher one.
    pub higher: u32,
    /// The smallest and the largest change, with signs.
    pub range: [f64; 2],
    /// Every run is worse, and the difference exceeds the margin.
    pub is_worse: bool,
}

/// A metric of a cell that could not be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Incomparable {
    /// The cell's factors, the same on both sides.
    pub factors: Map<String, Value>,
    /// Its number on each side.
    pub cells: [u32; 2],
    /// The metric it should have been compared by; `None` if no run of either side succeeded.
    pub metric: Option<Box<str>>,
    /// Runs on each side in which the metric was measured.
    pub n: [u32; 2],
    /// Failed runs on each side.
    pub failed: [u32; 2],
    /// Whether a larger share of the runs failed than before.
    pub fails_more: bool,
}

/// A verdict about a regression by more than the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Regression {
    /// No regression.
    NoWorse,
    /// A regression.
    Worse,
    /// Undecided with these runs.
    Undecided,
}

impl CellContrast {
    /// Whether the second side is significantly worse by more than the margin, is worse in every run that
    /// both have, or fails more often.
    pub fn is_worse(&self) -> bool {
        let is_fact = self.in_these_runs.is_some_and(|found| found.is_worse);
        is_fact || self.regression == Some(Regression::Worse) || self.fails_more
    }
}

impl Contrast {
    /// The number of regressions: comparisons that show one, and cells that fail more often and
    /// cannot be compared.
    pub fn count_worse(&self) -> usize {
        let worse = self.cells.iter().filter(|cell| cell.is_worse()).count();
        worse + self.incomparable.iter().filter(|it| it.fails_more).count()
    }

    /// Whether the runs are too few for a verdict that is missing.
    pub fn is_undecided(&self) -> bool {
        let is_open = |cell: &CellContrast| cell.verdict == Verdict::Undecided;
        self.too_few.is_some() && self.cells.iter().any(is_open)
    }

    /// Whether there is proof that nothing is worse by more than the margin: for every cell of the
    /// first side, all metrics for which less or more is better. A metric that was never measured
    /// there cannot get worse.
    pub fn is_no_worse(&self) -> bool {
        let is_shown = |cell: &CellContrast| {
            cell.regression.is_none_or(|regression| regression == Regression::NoWorse)
        };
        self.cells.iter().any(|cell| cell.regression.is_some())
            && self.missing.is_empty()
            && self.incomparable.iter().all(|it| it.n[0] == 0)
            && self.cells.iter().all(is_shown)
            && self.count_worse() == 0
    }
}
