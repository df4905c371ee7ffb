//! The files with the studies' statements and figures: `scenarios/reference/*.toml`.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{IntoDeserializer as _, value};
use serde::{Deserialize, Serialize};
use trackbed_measure::results::CellResult;
use trackbed_scenario::Cell;
use trackbed_stats::Statistic;

use super::outcome::Setting;
use super::verdict::{SAME, Says};

/// A study's statements and figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    pub title: String,
    /// Why the scenario's quick form cannot judge the statements, if it cannot.
    pub quick: Option<String>,
    /// What the study gives.
    #[serde(default)]
    pub given: Vec<Given>,
    /// What it leaves out.
    #[serde(default)]
    pub unknown: Vec<Unknown>,
    pub statement: Vec<ReferenceStatement>,
    /// Cells that need more runs than the scenario's to decide statements.
    #[serde(default)]
    pub runs: Vec<Runs>,
    /// Its figures with factors or samples on the x axis.
    #[serde(default)]
    pub figure: Vec<ReferenceFigure>,
    /// Its figures of a single run.
    #[serde(default)]
    pub over_time: Vec<OverTime>,
}

/// Something that the study states about its set-up, and the scenario takes over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// What it says.
    pub says: String,
    /// Where.
    pub source: String,
}

/// Something that the study does not say.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// What is unknown, in words.
    pub name: String,
    /// The key of the scenario that takes these values ...
    pub(super) key: Option<String>,
    /// ... or the settings of each value ...
    #[serde(default)]
    pub(super) set: Vec<Vec<String>>,
    /// ... or the factor by which the cells of the study are chosen among ours, where they have these factors.
    pub(super) factor: Option<String>,
    #[serde(default)]
    pub(super) of: Selector,
    /// ... or the statistic of the study's figures, where it states one.
    #[serde(default)]
    pub(super) statistic: bool,
    /// The plausible values; the page has the first one.
    pub values: Vec<String>,
    /// Why these.
    pub why: String,
}

/// How many runs cells need.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Runs {
    pub cell: Selector,
    /// At least so many.
    pub least: u32,
}

/// A statement about the value of a metric in a cell, or its difference from another cell.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferenceStatement {
    pub id: String,
    pub source: String,
    pub text: String,
    #[serde(default)]
    pub setting: Setting,
    /// Whether a setting that contradicts it is none of the study's: it is a figure that does not depend on what
    /// the study proposes.
    #[serde(default)]
    pub anchor: bool,
    /// Which of the places in `at` it is about.
    #[serde(skip)]
    pub place: Option<Selector>,
    pub metric: Option<String>,
    #[serde(default)]
    pub statistic: Statistics,
    #[serde(default)]
    pub cell: Selector,
    pub against: Option<Selector>,
    /// The metric of `against`, if it is a different one.
    pub against_metric: Option<String>,
    /// What the study says: one of the following.
    pub value: Option<f64>,
    /// The difference in percent of `against`; 0 if they are equal.
    pub percent: Option<f64>,
    pub direction: Option<Direction>,
    /// Why runs do not count for or against it, even if they give a value.
    pub not_testable: Option<String>,
    /// The allowed deviation: in percentage points, or in the unit of a value. Required for
    /// equality.
    pub margin: Option<f64>,
    /// If set, the statement compares relative differences: this one is larger than the one at
    /// these values of factors, so the gap widens. The tested value is then the change of the ratio
    /// of the two.
    pub beyond: Option<Selector>,
    /// If set, the statement is about these places together: the mean logarithm of the ratio of the
    /// two cells, or the statistic of the samples of all.
    #[serde(default)]
    pub over: Vec<Selector>,
    /// The statement is made once for each of these sets of factors, in addition to the cells' own.
    #[serde(default)]
    pub at: Vec<Selector>,
    /// Why our result differs.
    pub why: Option<String>,
    /// What we chose that the study does not give, and that changes our result; with any verdict.
    pub chosen: Option<String>,
    /// The command that shows either.
    pub evidence: Option<String>,
}

/// A figure or table of the study: a metric over a factor, a curve for each value of another one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferenceFigure {
    /// The study's number for it.
    pub number: String,
    pub title: String,
    pub metric: String,
    #[serde(default)]
    pub statistic: Statistics,
    /// The factor on the x axis, or `SAMPLE`: the samples of a run, in order.
    pub x: String,
    /// The factor whose values are the curves, unless they are listed.
    #[serde(default)]
    pub curves: String,
    #[serde(default)]
    pub curve: Vec<ReferenceCurve>,
    #[serde(default)]
    pub cell: Selector,
    /// If set, milliseconds are drawn as the throughput of so many bits.
    pub bits: Option<f64>,
    /// If set, the curves are the difference from this cell at the same place, in percent.
    pub against: Option<Selector>,
    /// The values that the study prints.
    #[serde(default)]
    pub printed: Vec<Printed>,
}

/// A figure of the study that shows what arrives in a run, over time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OverTime {
    /// The study's number for it.
    pub number: String,
    pub title: String,
    /// The number of the run in its cells.
    pub run: u32,
    pub curve: Vec<ReferenceCurve>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferenceCurve {
    pub name: String,
    pub cell: Selector,
    /// Over time: the curves of the run's throughput that are summed.
    #[serde(default)]
    pub of: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Printed {
    pub curve: String,
    pub x: String,
    pub value: f64,
}

/// Instead of a factor: the samples of a run, counted from 1.
pub(super) const SAMPLE: &str = "sample";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Statistics {
    #[default]
    Mean,
    Median,
    P95,
    P99,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    Less,
    More,
}

/// Factors and values that identify a cell, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(super) struct Selector(toml::Table);

impl Statistics {
    /// As it is written in the files.
    pub fn named(name: &str) -> Option<Statistics> {
        Statistics::deserialize(name.into_deserializer()).map_err(|_: value::Error| ()).ok()
    }

    pub fn statistic(self) -> Statistic {
        match self {
            Statistics::Mean => Statistic::Mean,
            Statistics::Median => Statistic::Quantile(0.5),
            Statistics::P95 => Statistic::Quantile(0.95),
            Statistics::P99 => Statistic::Quantile(0.99),
        }
    }
}

impl Reference {
    /// # Panics
    /// If the file is invalid; it is built in.
    pub fn parse(text: &str) -> Reference {
        toml::from_str(text).expect("the built-in reference is valid")
    }
}

impl ReferenceStatement {
    /// The number it states; `None` if it cannot be tested.
    pub fn says(&self) -> Option<Says> {
        let margin = self.margin;
        Some(match (self.value, self.percent, self.direction) {
            (Some(value), ..) => Says::value(value, margin),
            (_, Some(0.0), _) => Says::Equal { margin: margin? },
            (_, Some(percent), _) => Says::size(percent, margin),
            (.., Some(Direction::Less)) => Says::Less { margin: margin.unwrap_or(SAME) },
            (.., Some(Direction::More)) => Says::More { margin: margin.unwrap_or(SAME) },
            (None, None, None) => return None,
        })
    }

    /// What tells it from all others: `web-2`, `web-2 (loss 0.2)`.
    pub fn id_and_place(&self) -> String {
        match &self.place {
            Some(place) => format!("{} ({place})", self.id),
            None => self.id.clone(),
        }
    }

    /// The individual statements that this entry stands for.
    pub fn each(&self) -> Vec<ReferenceStatement> {
        if self.at.is_empty() {
            return vec![self.clone()];
        }
        let at = |place: &Selector| ReferenceStatement {
            text: format!("{} (at {place})", self.text),
            cell: self.cell.with(place),
            against: self.against.as_ref().map(|against| against.with(place)),
            at: Vec::new(),
            place: Some(place.clone()),
            ..self.clone()
        };
        self.at.iter().map(at).collect()
    }
}

impl Selector {
    /// One factor.
    pub fn of(name: &str, value: &str) -> Selector {
        Selector(toml::Table::from_iter([(name.to_owned(), value.into())]))
    }

    /// The same with the factors of `more` added or replaced.
    pub fn with(&self, more: &Selector) -> Selector {
        let mut all = self.0.clone();
        all.extend(more.0.iter().map(|(name, value)| (name.clone(), value.clone())));
        Selector(all)
    }

    /// The value of a factor, if it is included.
    pub fn factor(&self, name: &str) -> Option<String> {
        self.0.get(name).map(plain)
    }

    /// Whether a cell has all of the factors.
    pub fn fits(&self, cell: &CellResult) -> bool {
        self.0.iter().all(|(name, value)| cell.factor_text(name) == plain(value))
    }

    /// Whether a planned cell has all of the factors.
    pub fn fits_planned(&self, cell: &Cell) -> bool {
        self.0.iter().all(|(name, value)| {
            let own = cell.factors.iter().find(|(own, _)| own == name);
            own.is_some_and(|(_, own)| own.to_string() == plain(value))
        })
    }

    /// Whether it has all of these factors and values.
    pub fn has(&self, other: &Selector) -> bool {
        other.0.iter().all(|(name, value)| self.0.get(name).map(plain) == Some(plain(value)))
    }

    /// The first planned cell that has all of the factors.
    pub fn find_planned(&self, cells: &[Cell]) -> Option<usize> {
        cells.iter().position(|cell| self.fits_planned(cell))
    }

    /// The first cell that has all of the factors.
    pub fn find(&self, cells: &[CellResult]) -> Option<usize> {
        cells.iter().position(|cell| self.fits(cell))
    }
}

/// `loss 0.2, delay_ms 100`
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.0.iter().map(|(name, value)| format!("{name} {}", plain(value)));
        f.write_str(&pairs.collect::<Vec<_>>().join(", "))
    }
}

/// As in results: without quotes, whole numbers without a decimal point.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
