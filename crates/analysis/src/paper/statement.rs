//! A study's statements, and the verdicts of runs on them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::edge::figure::Figure;
use super::outcome::{Setting, Verdict};
use super::over_settings::OverSettings;

/// A study compared with runs of its scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Held {
    /// The study's title and origin.
    pub title: String,
    /// What of the runs comes from a model and is not a measurement, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// All statements of the study, each compared with the runs.
    pub statements: Vec<Statement>,
    /// The study's figures, drawn from the runs.
    pub charts: Vec<Chart>,
    /// The values in its tables beside ours, if the tables list values by device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Figure>,
    /// Definitions of the metrics, by name.
    pub definitions: BTreeMap<String, String>,
}

/// A statement of a study, and the verdict of runs on it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Statement {
    /// Its id, as in docs/studies.md. A sentence about several places becomes one statement for
    /// each.
    pub id: String,
    /// Its place in the study: `Fig. 9`, `Table 2`, `text`.
    pub source: String,
    /// The statement, in our words.
    pub text: String,
    /// The setting in which it was tested.
    pub setting: Setting,
    /// Its value, in words: `+21 % (16 to 26)`, `less`.
    pub says: String,
    /// The study's value, in `unit`; `None` if it gives only a direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<f64>,
    /// `%` for a difference, or the metric whose unit applies.
    pub unit: String,
    /// Our value, if the cells were run.
    pub ours: Option<f64>,
    /// Its 95 % confidence interval; `None` if there are too few runs.
    pub ci95: Option<[f64; 2]>,
    /// Number of runs, or pairs of runs.
    pub runs: usize,
    /// The verdict of the runs.
    pub verdict: Verdict,
    /// The number of runs that would probably decide it, if it is undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_needed: Option<u64>,
    /// What it comes to over all settings that are compatible with the study, where these were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_settings: Option<OverSettings>,
    /// Why our result differs or cannot be tested here, and which of our choices decides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The command whose output shows that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl Statement {
    /// Whether our value is a difference in percent.
    pub fn is_difference(&self) -> bool {
        self.unit == "%"
    }
}

/// A figure or table of a study: a metric over a factor.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Chart {
    /// The study's number for it: `Fig. 9`.
    pub number: String,
    /// What it shows.
    pub title: String,
    /// The name of the x axis.
    pub x: String,
    /// The metric with its unit in the name; or the difference in percent.
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
    /// Its position on the x axis.
    pub x: String,
    /// Our value, if the cell was run.
    pub ours: Option<f64>,
    /// Its 95 % confidence interval.
    pub ci95: Option<[f64; 2]>,
    /// The study's value, if it prints one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<f64>,
}
