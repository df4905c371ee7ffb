//! How far virtual and emulated agree, as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::results::SCHEMA;

/// What `trackbed agree --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgreementDocument {
    /// The version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of the tool.
    pub trackbed: String,
    /// The scenario's name.
    pub scenario: String,
    /// The root seed.
    pub seed: u64,
    /// Runs of each cell on each substrate.
    pub runs: u32,
    /// What of the machine bears on the emulated runs, by name.
    pub environment: BTreeMap<String, String>,
    /// The cells that both have runs of.
    pub cells: Vec<Agreement>,
}

/// How far two substrates agree about one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// The cell's place in the plan.
    pub cell: u32,
    /// What the cell is, in words.
    pub name: String,
    /// The metric that is compared.
    pub metric: String,
    /// The mean in virtual time, over the runs that both have.
    pub virtually: f64,
    /// The mean on the emulated substrate, over the same runs.
    pub emulated: f64,
    /// How many these are.
    pub pairs: u32,
    /// The second mean over the first.
    pub ratio: f64,
    /// The 90 % interval of the ratio, for two one-sided tests at 5 %.
    pub ci90: [f64; 2],
    /// How far the ratio may be from 1.
    pub margin: f64,
    /// What the interval says.
    pub verdict: AgreementVerdict,
}

/// What an interval says about agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgreementVerdict {
    /// Within the margin.
    Equivalent,
    /// Beyond the margin.
    Different,
    /// Neither, with these runs.
    Undecided,
}
