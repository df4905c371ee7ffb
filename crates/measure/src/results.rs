//! Results: of a run, of a cell, and of a campaign (the document). They are written as JSON in exactly this form,
//! and their comments are the descriptions in the JSON Schema. `Document::default()` has `schema` 0: set it to
//! [`SCHEMA`] before writing. `Certificate::default()` is that of a valid run without packets.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::answered::Answered;
use crate::lists::distinct;

pub use crate::factors::{FactorKind, UsefulDifference, has_kin};

/// The version of the results format: of `run.json`, and of the directory around it. It increases when
/// a field is removed, renamed or changes its meaning. A new field does not increase it.
pub const SCHEMA: u32 = 1;

/// The version of results in virtual time: it increases when the same plan and seed give different results.
pub const RESULTS_VERSION: u32 = 11;

/// The version of results that were written before the format had a version.
pub fn first_schema() -> u32 {
    1
}

/// The result of one run of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// The cell's index in the plan, from 0.
    pub cell: u32,
    /// The run's number, from 0. Run k of every cell has the same seed, and so the same losses.
    pub run: u32,
    /// The samples of each metric, or why the run failed.
    pub outcome: Outcome,
    /// Whether the machine was fast enough; only for runs in real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// Which message each sample of `rtt_ms` is of; earlier versions did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<Answered>,
}

impl RunResult {
    /// A run of which only the outcome is known.
    pub fn new(cell: u32, run: u32, outcome: Outcome) -> RunResult {
        RunResult { cell, run, outcome, certificate: None, answered: None }
    }

    /// The same run, as measured twice.
    pub fn agrees(&self, other: &RunResult) -> bool {
        let of =
            |run: &RunResult| (run.cell, run.run, run.outcome.clone(), run.certificate.clone());
        of(self) == of(other)
            && (self.answered == other.answered
                || self.answered.is_none()
                || other.answered.is_none())
    }

    /// Whether the machine was too slow, so that the run measured the machine and not the protocols.
    pub fn is_invalid(&self) -> bool {
        self.certificate.as_ref().is_some_and(|c| c.verdict == Reliability::Invalid)
    }
}

/// How exactly the links of a run in real time sent packets: the delays after their due times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Certificate {
    /// Whether the run is valid.
    pub verdict: Reliability,
    /// The causes of a verdict other than valid: `links`, `client`, `server`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
    /// Packets that the links sent.
    pub packets: u64,
    /// The median delay of packets after their due times, in microseconds.
    pub late_p50_us: f64,
    /// The 99th percentile of these delays, in microseconds.
    pub late_p99_us: f64,
    /// The longest of these delays, in microseconds.
    pub late_max_us: f64,
    /// The share of packets sent more than 1 ms after their due time, in percent.
    pub late_percent: f64,
    /// The mean share of a phone's active time in which it waited for its clients' process, in percent. The
    /// process served other phones meanwhile, or had no processor.
    #[serde(default)]
    pub client_wait_percent: f64,
    /// The same share for the server's process, in percent.
    #[serde(default)]
    pub server_wait_percent: f64,
    /// Packets lost because a ring or a socket buffer was full.
    pub overflowed: u64,
    /// Processor time of the links, in milliseconds.
    pub processor_ms: f64,
    /// A histogram of these delays: upper bounds in microseconds, each twice the one before, and counts of packets.
    pub histogram: Vec<(f64, u64)>,
}

/// The reliability of a run in real time.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Reliability {
    /// The machine was fast enough.
    #[default]
    Valid,
    /// It was late at times: medians are reliable, high percentiles may not be.
    Suspect,
    /// It was too slow.
    Invalid,
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The run succeeded: the samples of each metric in the order of measurement.
    Samples(BTreeMap<String, Vec<f64>>),
    /// The run failed: the reason.
    Failed(String),
}

impl Outcome {
    /// The samples, if the run succeeded.
    pub fn samples(&self) -> Option<&BTreeMap<String, Vec<f64>>> {
        match self {
            Outcome::Samples(samples) => Some(samples),
            Outcome::Failed(_) => None,
        }
    }
}

/// The results of a campaign: the document of `run --json` and of `run.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// The version of this format.
    #[serde(default = "first_schema")]
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of the tool.
    pub trackbed: String,
    /// The version of results in virtual time. Runs with the same seed can be paired only within a version. 0 for
    /// directories of versions before 0.2.0.
    #[serde(default)]
    pub results_version: u32,
    /// The scenario's name.
    pub scenario: String,
    /// The substrate: `virtual`, `emulated` or `live`.
    pub substrate: String,
    /// Properties of the machine that affect the results, by name; absent if results do not depend on the machine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The results that come from a model of a machine instead of a measurement; absent if none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The root seed.
    pub seed: u64,
    /// The requested runs of each cell.
    pub runs: u32,
    /// The digest of the plan. Equal plans give equal results in virtual time.
    pub plan: String,
    /// The conclusions, a text for each condition; none if nothing was compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<Answer>,
    /// The smallest difference between cells that matters.
    #[serde(default)]
    pub useful_difference: UsefulDifference,
    /// The factors of the cells, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub factors: BTreeMap<String, FactorKind>,
    /// The cells, in the plan's order.
    pub cells: Vec<CellResult>,
    /// Comparisons between cells, paired by run.
    pub differences: Vec<Difference>,
    /// The results of checks against arithmetic.
    pub checks: Vec<Check>,
}

impl Document {
    /// What the values of a factor are.
    pub fn factor(&self, name: &str) -> FactorKind {
        self.factors.get(name).cloned().unwrap_or_else(|| FactorKind::named(name))
    }

    /// Whether the seed determines losses and delays, so that run k of two cells can be paired. Between two
    /// machines the network determines them.
    pub fn shares_seeds(&self) -> bool {
        self.substrate != LIVE
    }
}

/// A conclusion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The part or group of the scenario; absent if the scenario has neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The text.
    pub text: String,
    /// The metric that ranks cells.
    #[serde(default)]
    pub metric: String,
}

/// The substrate of two machines and the network between them.
pub const LIVE: &str = "live";

/// The name of virtual time in results.
pub const VIRTUAL: &str = "virtual";

/// The name of the emulated substrate in results.
pub const EMULATED: &str = "emulated";

/// The name of virtual time in tests of other projects (`trackbed-test`), which leave the summary of
/// their runs to the reader.
pub const TEST: &str = "test";

/// What ran the models of object detectors, as [`Document::environment`] names it.
pub const RUNTIME: &str = "inference runtime";

/// The summary of all runs with one combination of factors.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellResult {
    /// The factors by name, in the order of the scenario: numbers, words, or true and false.
    #[schemars(schema_with = "factors")]
    pub factors: serde_json::Map<String, serde_json::Value>,
    /// The metrics that rank the cell, the most significant first: those of its workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranking: Vec<String>,
    /// A summary of each metric that has samples.
    pub metrics: BTreeMap<String, MetricSummary>,
    /// Failed runs. No metric includes them.
    pub failed: u32,
    /// Runs for which the machine was too slow. No metric includes them, except with `--keep-invalid`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid: u32,
    /// In how many of these the `links`, the `client` or the `server` were late.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub late: BTreeMap<String, u32>,
    /// The distinct reasons of failed runs.
    pub failures: Vec<Failure>,
    /// Round trips that the protocols' specifications require until the end; absent if they are not known beforehand.
    pub expected_round_trips: Option<u32>,
    /// `expected_round_trips` times the path's round-trip time, without serialisation and losses; absent between two
    /// machines, whose path is not the scenario's.
    pub expected_completion_ms: Option<f64>,
    /// Whether the cell is a bound that no real system reaches, because it knows the future (`foresight = "oracle"`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
    /// Whether the cell has a model's figures for more cores than were measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_extrapolated: bool,
    /// The unit that verifies a crossing's messages; absent where none does.
    pub unit: Option<VerifyingUnit>,
}

/// The size of a unit's task, and of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyingUnit {
    /// Vehicles whose messages it verifies; zero for those of a file.
    pub vehicles: u64,
    /// Its cores.
    pub cores: u64,
}

/// A cell of which more runs failed, or more messages were refused or had no answer, is no answer.
pub const SPOILED_MOST: f64 = 0.5;

impl CellResult {
    /// The mean of a metric, if it has one.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        self.metrics.get(metric).map(|summary| summary.mean)
    }

    /// Whether all of its runs failed, so that it has no values.
    pub fn is_lost(&self) -> bool {
        self.failed > 0 && self.metrics.is_empty()
    }

    /// The runs in which the machine did not keep up, with what was late: `3 runs (client 2, links 1)`.
    pub fn left_out(&self) -> String {
        let late: Vec<String> =
            self.late.iter().map(|(part, runs)| format!("{part} {runs}")).collect();
        let runs = format!("{} {}", self.invalid, if self.invalid == 1 { "run" } else { "runs" });
        if late.is_empty() { runs } else { format!("{runs} ({})", late.join(", ")) }
    }

    /// The share of its runs that failed, or of its messages that were refused, or had no answer if that is more
    /// than half of them (fewer are missed deadlines): the largest.
    pub fn spoiled(&self) -> f64 {
        let mean = |name: &str| self.mean(name).unwrap_or_default();
        let share = |part: f64, rest: f64| if part > 0.0 { part / (part + rest) } else { 0.0 };
        let refused = share(mean("refused_count"), mean("answered_count"));
        let lost = mean("lost_count") - mean("unsent_count");
        let unanswered = share(lost, mean("answered_count") + mean("refused_count"));
        let unanswered = if unanswered > SPOILED_MOST { unanswered } else { 0.0 };
        refused.max(unanswered).max(share(self.failed.into(), self.ran().into()))
    }

    /// Successful runs: the most that any metric has.
    pub fn ran(&self) -> u32 {
        self.metrics.values().map(|summary| summary.n).max().unwrap_or(0)
    }

    /// A factor's value as text; empty where the cell has no such factor.
    pub fn factor_text(&self, name: &str) -> String {
        self.factors.get(name).map(plain).unwrap_or_default()
    }

    /// The values of the factors `names` in one line: `http2 1.2 new loss 0.01`.
    pub fn name(&self, names: &[String]) -> String {
        let text = |name: &String| match self.factors.get(name)? {
            serde_json::Value::String(text) if text.is_empty() => None,
            serde_json::Value::String(text) if has_kin(name, names) => {
                Some(format!("{name} {text}"))
            }
            serde_json::Value::String(text) => Some(text.clone()),
            bare => Some(format!("{name} {bare}")),
        };
        names.iter().filter_map(text).collect::<Vec<_>>().join(" ")
    }
}

/// A factor's value as text.
pub fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(crate) fn factors(_: &mut SchemaGenerator) -> Schema {
    let value = json_schema!({ "type": ["number", "string", "boolean"] });
    json_schema!({ "type": "object", "additionalProperties": value })
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The names of all factors, in the order in which the cells list them.
pub fn factor_names<'a>(cells: impl IntoIterator<Item = &'a CellResult>) -> Vec<String> {
    distinct(cells.into_iter().flat_map(|cell| cell.factors.keys())).into_iter().cloned().collect()
}

/// A reason for which runs failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The number of the first such run.
    pub run: u32,
    /// The number of such runs.
    pub count: u32,
    /// The reason.
    pub reason: String,
}

/// A metric's distribution over a cell's runs.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricSummary {
    /// The mean of the runs' means.
    pub mean: f64,
    /// The 95 % interval of that mean over runs (Student's t, corrected for skewness: `docs/statistics.md`).
    pub ci95: [f64; 2],
    /// The median over all samples of all runs.
    pub p50: f64,
    /// The 95 % interval of the median by order statistics, for metrics that rank cells by their median
    /// (times); none below six runs.
    pub p50_ci95: Option<[f64; 2]>,
    /// The 95th percentile over all samples.
    pub p95: f64,
    /// Its 95 % interval, as `p50_ci95`; none below 72 independent samples.
    pub p95_ci95: Option<[f64; 2]>,
    /// The 99th percentile over all samples.
    pub p99: f64,
    /// Its 95 % interval; none below 368 independent samples.
    pub p99_ci95: Option<[f64; 2]>,
    /// The smallest sample.
    pub min: f64,
    /// The largest sample.
    pub max: f64,
    /// Runs with samples.
    pub n: u32,
    /// Samples of all runs.
    pub samples: u64,
}

impl MetricSummary {
    /// The highest percentile that this number of samples can estimate, with its name.
    pub fn tail(&self) -> Option<(&'static str, f64)> {
        let p99 = self.known_p99().map(|value| ("p99", value));
        p99.or_else(|| self.known_p95().map(|value| ("p95", value)))
    }

    /// The 95th percentile, if there are enough samples for it.
    pub fn known_p95(&self) -> Option<f64> {
        (self.samples >= P95_FROM).then_some(self.p95)
    }

    /// The 99th percentile, if there are enough samples for it.
    pub fn known_p99(&self) -> Option<f64> {
        (self.samples >= P99_FROM).then_some(self.p99)
    }
}

/// From so many independent samples on the interval of the 99th percentile has an upper end.
pub const P99_FROM: u64 = 368;

/// Of fewer samples, the 95th percentile is hardly more than the largest one.
pub const P95_FROM: u64 = 20;

/// The difference between two cells, paired by run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The metric that is compared.
    pub metric: String,
    /// The index of the cell in `cells`.
    pub cell: u32,
    /// The index of the cell that it is compared with.
    pub against: u32,
    /// The mean of the differences, `cell` minus `against`.
    pub mean: f64,
    /// The 95 % interval of that mean.
    pub ci95: [f64; 2],
    /// The mean difference as a percentage of the mean of `against`, where that is above zero.
    pub percent: Option<f64>,
    /// Pairs of runs that both succeeded.
    pub n: u32,
    /// Whether the mean difference is significant, judged together with the metric's other differences under the
    /// same condition (Holm).
    pub verdict: Verdict,
    /// The median of the differences, for metrics that rank cells by their median (times).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<MedianDifference>,
}

/// The median difference between two cells, paired by run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MedianDifference {
    /// The median of the differences, `cell` minus `against`. A run with several samples counts by their median.
    pub value: f64,
    /// Its 95 % interval by order statistics; none below six pairs.
    pub ci95: Option<[f64; 2]>,
    /// The difference as a percentage of the median of `against`, where that is above zero.
    pub percent: Option<f64>,
    /// Whether the median difference is significant, judged as that of the mean.
    pub verdict: Verdict,
}

impl Difference {
    /// The median difference if there is one, else the mean difference.
    pub fn headline(&self) -> MedianDifference {
        self.median.unwrap_or(MedianDifference {
            value: self.mean,
            ci95: (self.n >= MIN_RUNS).then_some(self.ci95),
            percent: self.percent,
            verdict: self.verdict,
        })
    }
}

/// The smallest number of runs with an interval: no two of five values enclose the median with 95 % confidence.
pub const MIN_RUNS: u32 = 6;

/// The verdict on a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The cell, or the second directory, has the lower value.
    Lower,
    /// It has the higher value.
    Higher,
    /// All values are equal.
    Equal,
    /// The difference is within the margin of a comparison of directories.
    Equivalent,
    /// No significant difference, or too few runs for one.
    Undecided,
}

/// A check of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// Whether it holds.
    pub pass: bool,
    /// The expected and the actual value.
    pub detail: String,
}
