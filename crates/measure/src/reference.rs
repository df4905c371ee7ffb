//! A paper's figures and claims beside what was measured here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a paper found, for the cells of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The paper's title and origin.
    pub title: String,
    /// Its figures beside ours.
    pub figures: Vec<Figure>,
    /// Its claims, each held against ours.
    pub claims: Vec<Claim>,
    /// What the metrics of both are, by their names.
    #[serde(default)]
    pub definitions: BTreeMap<String, String>,
}

/// A figure of a paper and ours for the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The metric.
    pub metric: String,
    /// The cell's factors in one line.
    pub cell: String,
    /// The paper's value, in the unit that the metric's name ends in.
    pub paper: f64,
    /// Our mean, if the cell was run.
    pub ours: Option<f64>,
    /// The 95 % interval of our mean.
    pub ci95: Option<[f64; 2]>,
}

/// A claim of a paper: one cell against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The claim in words.
    pub text: String,
    /// What the paper says of the difference, in words: `-15 %`, `less`, `0 % (give or take 5)`.
    pub claimed: String,
    /// How far from the paper's value the difference may lie, in percent points; without it, its
    /// sign alone counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_percent: Option<f64>,
    /// Our paired difference in percent, if both cells were run.
    pub ours_percent: Option<f64>,
    /// Its 95 % interval.
    pub ci95_percent: Option<[f64; 2]>,
    /// Whether the claim holds here.
    pub verdict: ClaimVerdict,
}

/// What our runs say about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The whole interval lies where the claim says: on its side of zero, or within its margin.
    Holds,
    /// The whole interval lies elsewhere.
    Contradicted,
    /// It reaches across the edge, or there are too few runs.
    Undecided,
    /// A cell that the claim is about was not run, or had no successful pair.
    NotMeasured,
}
