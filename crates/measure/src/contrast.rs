//! One run directory held against another, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::results::SCHEMA;

/// How the results of a second run directory differ from those of a first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contrast {
    /// The version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The first directory: what is compared with.
    pub first: Side,
    /// The second one: what is compared.
    pub second: Side,
    /// What else is different between them, which may be why results are.
    pub changes: Vec<Change>,
    /// Whether run k of both had the same seed, so that they were compared run by run.
    pub paired: bool,
    /// How sure intervals and verdicts are: 0.95.
    pub confidence: f64,
    /// What does not matter, as a share of the first mean.
    pub margin: f64,
    /// The comparisons, by the cells of the first directory.
    pub cells: Vec<CellContrast>,
    /// What cells of both directories should have been compared by, and was measured on one side alone
    /// or in no run of both.
    #[serde(default)]
    pub incomparable: Vec<Incomparable>,
    /// Cells of the first directory that the second has not, by their factors.
    pub missing: Vec<Map<String, Value>>,
    /// Cells of the second directory that the first has not.
    pub added: Vec<Map<String, Value>>,
}

/// One of two run directories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Its path as it was given.
    pub directory: String,
    /// The version of the tool that made it.
    pub trackbed: String,
    /// Its scenario's name.
    pub scenario: String,
    /// What it ran on.
    pub substrate: String,
    /// Its root seed.
    pub seed: u64,
    /// Runs of each cell.
    pub runs: u32,
}

/// Something that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// What.
    pub what: String,
    /// How it is in the first directory.
    pub first: String,
    /// How it is in the second.
    pub second: String,
}

/// A metric of a cell on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellContrast {
    /// The cell's factors, the same on both sides.
    pub factors: Map<String, Value>,
    /// Its number on each side.
    pub cells: [u32; 2],
    /// What is compared.
    pub metric: String,
    /// The means: over the pairs of runs if paired.
    pub means: [f64; 2],
    /// The second mean minus the first.
    pub difference: f64,
    /// The interval of the difference, at the confidence of the contrast for this comparison alone.
    pub interval: [f64; 2],
    /// The difference as a percentage of the first mean with its interval, where that makes sense.
    pub percent: Option<[f64; 3]>,
    /// How likely such a difference is by chance, for this comparison alone.
    pub p_value: f64,
    /// The same for all comparisons together (Holm).
    pub p_adjusted: f64,
    /// Runs behind each mean.
    pub n: [u32; 2],
    /// Runs that failed on each side.
    pub failed: [u32; 2],
    /// What this says about a difference.
    pub verdict: ContrastVerdict,
    /// What it says about getting worse; `None` where neither less nor more of the metric is better.
    pub regression: Option<Regression>,
}

/// A metric of a cell that could not be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Incomparable {
    /// The cell's factors, the same on both sides.
    pub factors: Map<String, Value>,
    /// Its number on each side.
    pub cells: [u32; 2],
    /// What it should have been compared by; `None` where no run of either side went through.
    pub metric: Option<String>,
    /// Runs on each side in which the metric was measured.
    pub n: [u32; 2],
    /// Runs that failed on each side.
    pub failed: [u32; 2],
}

/// What a comparison says about a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContrastVerdict {
    /// Every run gave the same.
    Equal,
    /// The means are within the margin.
    Equivalent,
    /// The second mean is lower.
    Lower,
    /// The second mean is higher.
    Higher,
    /// These runs do not tell.
    Undecided,
}

/// What a comparison says about getting worse by more than the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Regression {
    /// It has not.
    NoWorse,
    /// It has.
    Worse,
    /// These runs do not tell.
    Undecided,
}

impl CellContrast {
    /// Whether a larger share of the runs failed than before.
    pub fn fails_more(&self) -> bool {
        fails_more(self.n, self.failed)
    }
}

impl Incomparable {
    /// Whether a larger share of the runs failed than before.
    pub fn fails_more(&self) -> bool {
        fails_more(self.n, self.failed)
    }
}

fn fails_more(n: [u32; 2], failed: [u32; 2]) -> bool {
    let share = |side: usize| f64::from(failed[side]) / f64::from(n[side] + failed[side]).max(1.0);
    share(1) > share(0)
}

impl Contrast {
    /// The comparisons in which the second side is worse by more than the margin, or fails more often.
    pub fn worse(&self) -> impl Iterator<Item = &CellContrast> {
        let is_worse =
            |cell: &&CellContrast| cell.regression == Some(Regression::Worse) || cell.fails_more();
        self.cells.iter().filter(is_worse)
    }

    /// How much is worse: comparisons that show it, and what fails more often and left nothing to
    /// compare.
    pub fn count_worse(&self) -> usize {
        self.worse().count() + self.incomparable.iter().filter(|it| it.fails_more()).count()
    }

    /// Whether it was shown that nothing got worse by more than the margin: of every cell of the first
    /// side, all of its metrics for which less or more is better. What was never measured there cannot
    /// get worse.
    pub fn is_no_worse(&self) -> bool {
        let is_shown = |cell: &CellContrast| {
            cell.regression.is_none_or(|regression| regression == Regression::NoWorse)
        };
        !self.cells.is_empty()
            && self.missing.is_empty()
            && self.incomparable.iter().all(|it| it.n[0] == 0)
            && self.cells.iter().all(is_shown)
            && self.count_worse() == 0
    }
}
