//! The settings of a scenario that give wanted figures, as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::results::SCHEMA;

/// The output of `trackbed fit --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitDocument {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The answer in a sentence or two.
    pub answer: String,
    /// The version of the tool.
    pub trackbed: String,
    /// The scenario's name.
    pub scenario: String,
    /// The root seed.
    pub seed: u64,
    /// The runs of each cell for each setting; as many are made again with another seed to check a solution.
    pub runs: u32,
    /// The number of settings that were tried.
    pub tried: u64,
    /// Settings that met all figures in the search, and then with other random numbers.
    pub met: [u64; 2],
    /// The wanted figures.
    pub figures: Vec<FitFigure>,
    /// Pairs of figures that can each be met, but were not met together.
    pub conflicts: Vec<[usize; 2]>,
    /// The keys that were searched, the one that the figures determine most first.
    pub keys: Vec<FitKey>,
    /// The settings found. If none meets all figures, the nearest ones.
    pub settings: Vec<FitSetting>,
}

/// A wanted figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitFigure {
    /// As it was asked for.
    pub text: String,
    /// The wanted value, in the unit of the metric.
    pub value: f64,
    /// How far off it may be.
    pub tolerance: f64,
    /// The value nearest to it among all settings tried; none if it was never measured.
    pub nearest: Option<f64>,
    /// The standard error of the runs, averaged over the settings found.
    pub standard_error: f64,
}

/// A key that was searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitKey {
    /// Its path in the scenario.
    pub key: String,
    /// Its range or its values, as they were asked for.
    pub over: String,
    /// The ends of a range; none of names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The unit of a range, as it was written.
    pub unit: String,
    /// What the settings found have: the smallest and the largest number, or the values that occur.
    pub found: Vec<String>,
    /// Which share of its range that is, in the scale in which it was searched; the smaller, the better the figures determine it.
    pub share: f64,
    /// The share of each value of a key with names, by importance weight.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitSetting {
    /// The value of each key.
    pub values: BTreeMap<String, String>,
    /// The numbers among them, each in the unit of its key.
    pub numbers: BTreeMap<String, f64>,
    /// Its importance weight; the weights sum to 1.
    pub weight: f64,
    /// What it gave for each figure; none where it has no value.
    pub figures: Vec<Option<f64>>,
}
