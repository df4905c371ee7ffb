//! Results as they are stored and shown: the result of a run, the summary of a cell's runs, and the document
//! with all of them. Plain data, written as JSON in exactly this form. `Document::default()` has `schema` 0: set
//! it to [`SCHEMA`] before writing. `Certificate::default()` is that of a valid run without packets.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::lists::distinct;

/// The version of the results format: of `run.json`, and of the directory around it. It increases when
/// a field is removed, renamed or changes its meaning. A new field does not increase it.
pub const SCHEMA: u32 = 1;

/// The version of results in virtual time: it increases when the same plan and seed give different results.
pub const RESULTS_VERSION: u32 = 4;

/// The version of results that were written before the format had a version.
pub fn first_schema() -> u32 {
    1
}

/// What one run of one cell gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// The cell's place in the plan, from 0.
    pub cell: u32,
    /// The run's number, from 0: run k of every cell has the same seed, so the same losses.
    pub run: u32,
    /// The samples of each metric, or why the run failed.
    pub outcome: Outcome,
    /// Whether the machine kept up, where it had to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
}

impl RunResult {
    /// The machine did not keep up, so that the run says more about it than about protocols.
    pub fn is_invalid(&self) -> bool {
        self.certificate.as_ref().is_some_and(|c| c.verdict == Reliability::Invalid)
    }
}

/// How exactly a run in real time went by: when packets were let go, against when their time was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Certificate {
    /// What to think of the run.
    pub verdict: Reliability,
    /// What the verdict is due to, unless it is valid: `links`, `client`, `server`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
    /// Packets that the links let go.
    pub packets: u64,
    /// How late they were let go, in the median, in microseconds.
    pub late_p50_us: f64,
    /// The same for the latest one in a hundred.
    pub late_p99_us: f64,
    /// The latest of all.
    pub late_max_us: f64,
    /// The share of packets that were more than a millisecond late, in percent.
    pub late_percent: f64,
    /// For how much of the time in which it had something to do a phone waited for the clients' process that
    /// it is in, in the mean, because that worked for others or had no processor, in percent.
    #[serde(default)]
    pub client_wait_percent: f64,
    /// The same for the server's process.
    #[serde(default)]
    pub server_wait_percent: f64,
    /// Packets that were lost because a ring or a socket was full.
    pub overflowed: u64,
    /// Processor time that the links took, in milliseconds.
    pub processor_ms: f64,
    /// Upper bounds of lateness in microseconds, doubling, and the packets up to each.
    pub histogram: Vec<(f64, u64)>,
}

/// What to think of a run in real time.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Reliability {
    /// The machine kept up.
    #[default]
    Valid,
    /// It was late now and then: medians hold, tails may not.
    Suspect,
    /// It did not keep up.
    Invalid,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It went through: the samples of each metric in the order in which they arose.
    Samples(BTreeMap<String, Vec<f64>>),
    /// It did not: the reason in words.
    Failed(String),
}

impl Outcome {
    /// The samples, if the run went through.
    pub fn samples(&self) -> Option<&BTreeMap<String, Vec<f64>>> {
        match self {
            Outcome::Samples(samples) => Some(samples),
            Outcome::Failed(_) => None,
        }
    }
}

/// Everything that `run` found out: the document of `--json` and of `run.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// The version of this form.
    #[serde(default = "first_schema")]
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The version of the tool.
    pub trackbed: String,
    /// The version of results in virtual time: runs of one seed correspond only within a version. 0 for
    /// directories of versions before 0.2.0.
    #[serde(default)]
    pub results_version: u32,
    /// The scenario's name.
    pub scenario: String,
    /// What the runs ran on: `virtual`, `emulated` or `live`.
    pub substrate: String,
    /// What else of the machine bears on the results, by name; nothing where results depend on
    /// no machine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// What of the results comes from a model of a machine and is no measurement, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The root seed.
    pub seed: u64,
    /// Runs that were asked for in each cell.
    pub runs: u32,
    /// The plan's fingerprint: equal plans give equal results.
    pub plan: String,
    /// What the runs say in sentences, one for each condition; none where nothing was compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<Answer>,
    /// The cells, in the plan's order.
    pub cells: Vec<CellResult>,
    /// Paired comparisons between cells.
    pub differences: Vec<Difference>,
    /// What was checked, and how it came out.
    pub checks: Vec<Check>,
}

impl Document {
    /// Whether the seed decides what befalls packets, so that run k of two cells can be told to have met the
    /// same: between two machines the network does.
    pub fn shares_seeds(&self) -> bool {
        self.substrate != LIVE
    }
}

/// A sentence that a user would quote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The part of the scenario that it is about, where the scenario has parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The sentence.
    pub text: String,
    /// The metric by which it ranks cells.
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

/// One combination of factors and what its runs say together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellResult {
    /// The factors by name, in the order of the scenario: numbers, or words.
    #[schemars(schema_with = "factors")]
    pub factors: serde_json::Map<String, serde_json::Value>,
    /// A summary of each metric that has samples.
    pub metrics: BTreeMap<String, MetricSummary>,
    /// Runs that failed; they are in no metric.
    pub failed: u32,
    /// Runs that went through while the machine did not keep up; they are in no metric unless
    /// that was asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid: u32,
    /// In how many of them the links, the client or the server were late.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub late: BTreeMap<String, u32>,
    /// The different reasons for which runs failed, each with the command that replays one.
    pub failures: Vec<Failure>,
    /// Round trips that the protocols' specifications ask for until the end, where that can be
    /// said beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_round_trips: Option<u32>,
    /// `expected_round_trips` times the path's round-trip time, without serialisation and losses; `None` too
    /// where that is not the scenario's (between two machines).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_completion_ms: Option<f64>,
    /// The cell is a bound that nothing real reaches: it knows the future (`foresight = "oracle"`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
}

impl CellResult {
    /// The runs in which the machine did not keep up, with what was late: `3 runs (client 2, links 1)`.
    pub fn left_out(&self) -> String {
        let late: Vec<String> =
            self.late.iter().map(|(part, runs)| format!("{part} {runs}")).collect();
        let runs = format!("{} {}", self.invalid, if self.invalid == 1 { "run" } else { "runs" });
        if late.is_empty() { runs } else { format!("{runs} ({})", late.join(", ")) }
    }

    /// A factor's value as text; empty where the cell has no such factor.
    pub fn factor_text(&self, name: &str) -> String {
        self.factors.get(name).map(plain).unwrap_or_default()
    }

    /// The values of the factors `names` in one line: `http2 1.2 new`.
    pub fn name(&self, names: &[String]) -> String {
        let texts = names.iter().map(|name| self.factor_text(name));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
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
    let names = distinct(cells.into_iter().flat_map(|cell| cell.factors.keys()));
    names.into_iter().cloned().collect()
}

/// A reason for which runs failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The first run that failed so.
    pub run: u32,
    /// How many runs failed so.
    pub count: u32,
    /// Why, in words.
    pub reason: String,
}

/// A metric's distribution over a cell's runs.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ci95: Option<[f64; 2]>,
    /// The 95th percentile over all samples.
    pub p95: f64,
    /// The 99th percentile over all samples.
    pub p99: f64,
    /// The smallest sample.
    pub min: f64,
    /// The largest sample.
    pub max: f64,
    /// Runs that gave samples.
    pub n: u32,
    /// Samples in all, where a run gives more than one.
    pub samples: u64,
}

impl MetricSummary {
    /// The farthest percentile that so many samples tell, with its name.
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

/// How much one cell differs from another in the same runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The metric that is compared.
    pub metric: String,
    /// The cell that is looked at, by its place in `cells`.
    pub cell: u32,
    /// The cell that it is compared with.
    pub against: u32,
    /// The mean of `cell` minus `against`, run by run.
    pub mean: f64,
    /// The 95 % interval of that mean.
    pub ci95: [f64; 2],
    /// The mean difference as a percentage of the mean of `against`, where that is above zero.
    pub percent: Option<f64>,
    /// Pairs of runs in which both went through.
    pub n: u32,
    /// Whether the pairs suffice to say that it is a difference at all.
    pub verdict: Verdict,
    /// The same for the median, where the metric ranks cells by their median (times).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<MedianDifference>,
}

/// How much one cell typically differs from another in the same runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MedianDifference {
    /// The median of `cell` minus `against`, run by run; of several samples in a run, their median counts.
    pub value: f64,
    /// Its 95 % interval by order statistics; none below six pairs.
    pub ci95: Option<[f64; 2]>,
    /// The difference as a percentage of the median of `against`, where that is above zero.
    pub percent: Option<f64>,
    /// What the interval says.
    pub verdict: Verdict,
}

impl Difference {
    /// What is shown of it first: the median where there is one, else the mean.
    pub fn headline(&self) -> MedianDifference {
        self.median.unwrap_or(MedianDifference {
            value: self.mean,
            ci95: (self.n >= MIN_RUNS).then_some(self.ci95),
            percent: self.percent,
            verdict: self.verdict,
        })
    }
}

/// Fewer runs have no interval: no two of five values enclose the median in 95 %.
pub const MIN_RUNS: u32 = 6;

/// What pairs of runs say about a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval lies below zero: the cell has less than the one that it is compared with.
    Lower,
    /// The interval lies above zero: it has more.
    Higher,
    /// All pairs are equal.
    Equal,
    /// The interval includes zero, or there are too few pairs.
    Undecided,
}

/// A claim that was checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What was claimed.
    pub name: String,
    /// It holds.
    pub pass: bool,
    /// What was found, with figures.
    pub detail: String,
}
