//! The guidance of the study "Analysis of secure communication overhead for on-device AI", as claims
//! that anybody's results can derive or refute.
//!
//! The study recommends a protocol, and partly a cipher, for each of four purposes. [`judge`] holds what
//! of it can be measured against observations of the same protocols, ciphers and loads: those of a user's
//! runs ([`observe`]), or the study's own tables ([`published`]), which are the paper's and no
//! measurement.

mod figures;
mod published;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trackbed_measure::results::{CellResult, Document, RunResult};
use trackbed_stats::{MIN_PAIRS, Runs, Statistic};

use crate::advise::cells::Cells;
use crate::advise::words;

pub use figures::{Figure, Printed, figures};
pub use published::{TITLE, devices, published};

/// What a cell is, in the study's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// `https`, `http3`, `mqtt` or `dtls`.
    pub protocol: String,
    /// `aes128gcm`, `aes256gcm` or `chacha20`.
    pub cipher: String,
    /// How much is sent.
    pub load: Load,
}

/// How much is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// One message of 512 B a second.
    Low,
    /// 100 messages of 2,048 B a second.
    High,
}

/// Observations of one device, and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Observations {
    /// Where they come from. A paper's figures are never shown without it.
    pub source: Source,
    /// The observations.
    pub all: Vec<Observation>,
}

/// Where observations come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The runs of this directory.
    Measured,
    /// The study's own figures.
    Paper {
        /// Of which of its devices.
        device: String,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Measured => f.write_str("measured in these runs"),
            Source::Paper { device } => write!(f, "not measured: the paper's figures, {device}"),
        }
    }
}

/// A quantity in a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Where.
    pub setting: Setting,
    /// The metric, as results call it.
    pub metric: String,
    /// `mean`, `p50`, `p95` or `p99`.
    pub statistic: String,
    /// Its value; `None` where only a range was published.
    pub value: Option<f64>,
    /// The lower end of its interval, or of the range that was published; `None` if open.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A recommendation and what observations say about it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// Where the figures come from that it was held against.
    pub source: Source,
    /// What the study recommends.
    pub text: &'static str,
    /// What it is taken to say of figures.
    pub reading: &'static str,
    /// What the observations say.
    pub verdict: GuidanceVerdict,
    /// Comparisons in which the recommended setting is better beyond doubt.
    pub better: u32,
    /// Comparisons that do not decide.
    pub undecided: u32,
    /// Those in which the other is better beyond doubt, in words.
    pub against: Vec<String>,
}

/// What observations say about a recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuidanceVerdict {
    /// Every comparison is in its favour.
    Derived,
    /// At least one is against it beyond doubt.
    Refuted,
    /// Some do not decide, and none is against it.
    Undecided,
    /// There is nothing to compare.
    NotMeasured,
}

/// The four recommendations against `observations`: each recommended setting against every rival of the
/// same load and cipher. It is better beyond doubt where the two intervals do not touch.
pub fn judge(observations: &Observations) -> Vec<Recommendation> {
    GUIDANCE.iter().map(|advice| advice.judge(observations)).collect()
}

/// What the runs behind `document` say of the quantities that the guidance is about. `setting` says what a
/// cell is in the study's terms; cells for which it says nothing are left out. On fewer than six runs no
/// interval is given, so that nothing is decided.
pub fn observe(
    document: &Document,
    runs: &[RunResult],
    setting: impl Fn(&CellResult) -> Option<Setting>,
) -> Observations {
    let cells = Cells::new(document, runs);
    let mut all = Vec::new();
    for cell in 0..cells.len() {
        let Some(setting) = setting(cells.get(cell)) else { continue };
        for (metric, statistic) in quantities() {
            let values = cells.values(cell, &metric);
            let runs = Runs::new(values.iter().flatten().copied());
            let Ok(estimate) = runs.and_then(|runs| runs.estimate(statistic)) else { continue };
            // A few runs that were alike would look like certainty.
            let interval = Some(estimate.interval).filter(|_| estimate.runs >= MIN_PAIRS);
            all.push(Observation {
                setting: setting.clone(),
                metric,
                statistic: words::statistic(statistic),
                value: Some(estimate.value),
                low: interval.and_then(|interval| interval.low),
                high: interval.and_then(|interval| interval.high),
            });
        }
    }
    Observations { source: Source::Measured, all }
}

/// What the guidance is about, and what else the study printed, each once.
fn quantities() -> Vec<(String, Statistic)> {
    let claims = GUIDANCE.iter().flat_map(|advice| advice.claims);
    let mut all: Vec<(String, Statistic)> =
        claims.map(|claim| (claim.metric.to_owned(), claim.statistic)).collect();
    let figures = devices().into_iter().flat_map(|device| published(&device).all);
    all.extend(figures.filter_map(|figure| {
        let is = |statistic: &Statistic| words::statistic(*statistic) == figure.statistic;
        Some((figure.metric, STATISTICS.into_iter().find(is)?))
    }));
    let mut once: Vec<(String, Statistic)> = Vec::new();
    for quantity in all {
        if !once.contains(&quantity) {
            once.push(quantity);
        }
    }
    once
}

/// Those that the study prints.
const STATISTICS: [Statistic; 4] = [
    Statistic::Mean,
    Statistic::Quantile(0.5),
    Statistic::Quantile(0.95),
    Statistic::Quantile(0.99),
];

/// A recommendation, and by which figures it stands or falls.
struct Guidance {
    text: &'static str,
    reading: &'static str,
    protocol: &'static str,
    /// The ciphers that it is about; each is compared by itself.
    ciphers: &'static [&'static str],
    rivals: Rivals,
    claims: &'static [Claim],
}

/// What a recommended setting is compared with.
enum Rivals {
    /// The other protocols, with the same cipher.
    Protocols,
    /// The same protocol with this cipher.
    Cipher(&'static str),
}

/// A quantity in which the recommended setting is to be better than its rivals.
struct Claim {
    load: Load,
    metric: &'static str,
    statistic: Statistic,
    less_is_better: bool,
}

const AES: &[&str] = &["aes128gcm", "aes256gcm"];
const ALL: &[&str] = &["aes128gcm", "aes256gcm", "chacha20"];

const fn rtt(load: Load, p: f64) -> Claim {
    Claim { load, metric: "rtt_ms", statistic: Statistic::Quantile(p), less_is_better: true }
}

const GUIDANCE: &[Guidance] = &[
    Guidance {
        text: "DTLS where frame rate and steady latency matter most",
        reading: "at high load, the highest frame rate and the lowest p99 of the round-trip time",
        protocol: "dtls",
        ciphers: ALL,
        rivals: Rivals::Protocols,
        claims: &[
            Claim {
                load: Load::High,
                metric: "fps",
                statistic: Statistic::Mean,
                less_is_better: false,
            },
            rtt(Load::High, 0.99),
        ],
    },
    Guidance {
        text: "HTTP/3 with AES-GCM where round-trip time matters most",
        reading: "at either load, the lowest median of the round-trip time",
        protocol: "http3",
        ciphers: AES,
        rivals: Rivals::Protocols,
        claims: &[rtt(Load::Low, 0.5), rtt(Load::High, 0.5)],
    },
    Guidance {
        text: "MQTT over TLS for light telemetry",
        reading: "at low load, the least processor time",
        protocol: "mqtt",
        ciphers: ALL,
        rivals: Rivals::Protocols,
        claims: &[Claim {
            load: Load::Low,
            metric: "cpu_percent",
            statistic: Statistic::Mean,
            less_is_better: true,
        }],
    },
    Guidance {
        text: "HTTPS with AES-GCM where compatibility matters",
        reading: "compatibility is no figure; of HTTPS's ciphers, AES-GCM has the lower p99 of the \
                  round-trip time than ChaCha20, at either load",
        protocol: "https",
        ciphers: AES,
        rivals: Rivals::Cipher("chacha20"),
        claims: &[rtt(Load::Low, 0.99), rtt(Load::High, 0.99)],
    },
];

impl Guidance {
    fn judge(&self, observations: &Observations) -> Recommendation {
        let Observations { source, all } = observations;
        let (mut better, mut undecided, mut against) = (0, 0, Vec::new());
        for claim in self.claims {
            for cipher in self.ciphers {
                let own = claim.find(all, |setting| {
                    setting.protocol == self.protocol && setting.cipher == *cipher
                });
                let rivals = claim.find(all, |setting| match self.rivals {
                    Rivals::Protocols => {
                        setting.protocol != self.protocol && setting.cipher == *cipher
                    }
                    Rivals::Cipher(other) => {
                        setting.protocol == self.protocol && setting.cipher == other
                    }
                });
                for (own, rival) in own.iter().flat_map(|own| rivals.iter().map(move |r| (own, r)))
                {
                    match claim.is_better(own, rival) {
                        true => better += 1,
                        false if claim.is_better(rival, own) => {
                            against.push(claim.words(rival, own))
                        }
                        false => undecided += 1,
                    }
                }
            }
        }
        let verdict = match (better, undecided, against.len()) {
            (0, 0, 0) => GuidanceVerdict::NotMeasured,
            (_, 0, 0) => GuidanceVerdict::Derived,
            (_, _, 0) => GuidanceVerdict::Undecided,
            _ => GuidanceVerdict::Refuted,
        };
        let Guidance { text, reading, .. } = *self;
        let source = source.clone();
        Recommendation { source, text, reading, verdict, better, undecided, against }
    }
}

impl Claim {
    fn find<'a>(
        &self,
        observations: &'a [Observation],
        wanted: impl Fn(&Setting) -> bool,
    ) -> Vec<&'a Observation> {
        let statistic = words::statistic(self.statistic);
        let fits = |observation: &&Observation| {
            observation.metric == self.metric
                && observation.statistic == statistic
                && observation.setting.load == self.load
                && wanted(&observation.setting)
        };
        observations.iter().filter(fits).collect()
    }

    /// Whether one is better than the other beyond doubt.
    fn is_better(&self, one: &Observation, other: &Observation) -> bool {
        let (less, more) = if self.less_is_better { (one, other) } else { (other, one) };
        less.high.zip(more.low).is_some_and(|(high, low)| high < low)
    }

    /// That the first is better than the second: `p50 rtt of mqtt aes256gcm 5.96 ms, ...`.
    fn words(&self, one: &Observation, other: &Observation) -> String {
        let load = match self.load {
            Load::Low => "low",
            Load::High => "high",
        };
        let side = |observation: &Observation| {
            let Setting { protocol, cipher, .. } = &observation.setting;
            let end = |end: Option<f64>| end.map_or("-".to_owned(), words::number);
            let (low, high) = (end(observation.low), end(observation.high));
            let range = if low == high { low } else { format!("[{low}, {high}]") };
            format!("{range} with {protocol} {cipher}")
        };
        let statistic = words::statistic(self.statistic);
        let metric = self.metric;
        format!("{statistic} {metric} at {load} load: {}, {}", side(one), side(other))
    }
}
