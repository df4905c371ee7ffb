//! What a study says, and what runs say about it.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::edge::figure::Figure;

/// A study held against runs of its scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Held {
    /// The study's title and origin.
    pub title: String,
    /// What of the runs is a model's and no measurement, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Everything that the study says, each held against the runs.
    pub statements: Vec<Statement>,
    /// The study's figures, drawn from the runs.
    pub charts: Vec<Chart>,
    /// The values that its tables print beside ours, where it prints them by device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Figure>,
    /// What the metrics are, by their names.
    pub definitions: BTreeMap<String, String>,
}

/// What a study says, and what runs say about it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Statement {
    /// Its number, as docs/studies.md has it. A sentence about several places is a statement for each.
    pub id: String,
    /// Where the study says it: `Fig. 9`, `Table 2`, `text`.
    pub source: String,
    /// What it says, in our words.
    pub text: String,
    /// In whose setting it was tried.
    pub setting: Setting,
    /// What it says as a number, in words: `+21 % (16 to 26)`, `less`.
    pub says: String,
    /// The study's number, in `unit`; none where it gives a direction alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<f64>,
    /// `%` of a difference, or the metric whose unit it is.
    pub unit: String,
    /// Our number, if the cells were run.
    pub ours: Option<f64>,
    /// Its 95 % interval; none where too few runs close it.
    pub ci95: Option<[f64; 2]>,
    /// Runs, or pairs of runs, behind it.
    pub runs: usize,
    /// What the runs say about it.
    pub verdict: Verdict,
    /// How many runs would probably decide it, where it is undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_needed: Option<u64>,
    /// Why it differs, or why it cannot be tested here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The command whose output shows that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl Statement {
    /// Whether the runs gave a number that is a difference in percent.
    pub fn is_difference(&self) -> bool {
        self.unit == "%"
    }
}

/// In whose setting a statement was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The study's: its link, its parameters, as far as it gives them.
    #[default]
    Study,
    /// Ours, to which the study's statement is carried over.
    Ours,
}

/// What runs say about a statement.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, VariantArray,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval lies within the margin around the study's number, or on its side of zero where
    /// it gives a direction alone.
    Confirmed,
    /// The whole interval lies on the study's side of zero, but outside of the margin.
    OtherSize,
    /// The whole interval lies on the other side of zero, or there is a difference where the study has
    /// none, or none (less than 5 % either way) where it has a direction.
    Opposite,
    /// The interval reaches across an edge, or there are too few runs.
    Undecided,
    /// It cannot be tested here.
    NotTestable,
    /// The settings of this campaign left out a cell that it is about.
    NotRun,
}

impl Verdict {
    /// All of them, from the best to the worst.
    pub const ALL: &'static [Verdict] = Verdict::VARIANTS;

    /// In a word or two, for a column.
    pub fn label(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::OtherSize => "same direction, other size",
            Verdict::Opposite => "opposite",
            Verdict::Undecided => "undecided",
            Verdict::NotTestable => "not testable here",
            Verdict::NotRun => "not run",
        }
    }

    /// Whether it asks for an explanation.
    pub fn differs(self) -> bool {
        matches!(self, Verdict::OtherSize | Verdict::Opposite)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// A figure or table of a study: a metric over a factor.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Chart {
    /// As the study numbers it: `Fig. 9`.
    pub number: String,
    /// What it shows.
    pub title: String,
    /// What is along the axis.
    pub x: String,
    /// The metric, which has its unit in its name; or by how many percent it is more than elsewhere.
    pub metric: String,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// A curve of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Its points, in the order of the scenario.
    pub points: Vec<Point>,
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Where along the axis.
    pub x: String,
    /// Our value, if the cell was run.
    pub ours: Option<f64>,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// What the study prints there, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<f64>,
}
