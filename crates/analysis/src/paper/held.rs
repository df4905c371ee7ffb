//! A paper held against runs, whatever it says.

use schemars::JsonSchema;
use serde::Serialize;
use trackbed_measure::reference::Comparison;
use trackbed_measure::results::{Check, Document};

use super::{Study, checks};

/// What `trackbed paper --json` prints: what the runs say, with what is held against the paper among its
/// checks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PaperDocument {
    #[serde(flatten)]
    document: Document,
    /// What the paper says, and what the runs say of that.
    paper: Held,
}

impl PaperDocument {
    /// Of the runs behind `document`.
    pub fn new(mut document: Document, paper: Held) -> PaperDocument {
        document.checks.extend(paper.checks());
        PaperDocument { document, paper }
    }
}

/// What a paper found, held against runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Held {
    /// One that makes claims.
    Claims(Comparison),
    /// One that makes recommendations.
    Guidance(Study),
}

impl Held {
    /// What it says as checks: what is refuted or undecided does not pass.
    pub fn checks(&self) -> Vec<Check> {
        match self {
            Held::Claims(comparison) => checks(comparison),
            Held::Guidance(study) => study.checks(),
        }
    }
}
