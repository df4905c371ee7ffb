//! The runs of a plan, before they start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::results::{SCHEMA, factors};

/// The output of `trackbed plan --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDocument {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of the tool.
    pub trackbed: String,
    /// The scenario's name.
    pub scenario: String,
    /// The plan's fingerprint: equal plans give equal results.
    pub plan: String,
    /// The root seed.
    pub seed: u64,
    /// Runs of each cell.
    pub runs: u32,
    /// The cells, in the plan's order.
    pub cells: Vec<PlannedCell>,
}

/// One combination of factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedCell {
    /// The factors by name, in the order of the scenario: numbers, or words.
    #[schemars(schema_with = "factors")]
    pub factors: Map<String, Value>,
}
