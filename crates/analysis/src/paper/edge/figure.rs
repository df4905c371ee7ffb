//! Figures of the study and of our runs, in the study's terms.

use schemars::JsonSchema;
use serde::Serialize;

/// A quantity in a cell of the study, as the study printed it and as observed here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// The cell.
    pub setting: Place,
    /// The metric, as in results.
    pub metric: String,
    /// `mean`, `p50`, `p95` or `p99`.
    pub statistic: String,
    /// The values the study printed, for each device that has one.
    pub printed: Vec<Printed>,
    /// The value here.
    pub here: f64,
    /// The bounds of its 95 % confidence interval; `None` if open.
    pub ci95: [Option<f64>; 2],
    /// Requests answered per second here, as the context of the value.
    pub answered_hz: Option<f64>,
}

/// A value from the study: a range if its text gives no more.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Printed {
    /// The device.
    pub device: String,
    /// The lower bound.
    pub low: f64,
    /// The upper bound; the same for a single value.
    pub high: f64,
}

/// A cell in the study's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// The load: `low`, one message of 512 B per second, or `high`, 100 of 2,048 B.
    pub load: String,
    /// `https`, `http3`, `mqtt` or `dtls`.
    pub protocol: String,
    /// `aes128gcm`, `aes256gcm` or `chacha20`.
    pub cipher: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Observation {
    pub(super) place: Place,
    /// The metric, as in results.
    pub(super) metric: String,
    /// `mean`, `p50`, `p95` or `p99`.
    pub(super) statistic: String,
    /// Its value; `None` if only a range was published.
    pub(super) value: Option<f64>,
    /// The bounds of its interval, or of the published range; `None` if open.
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl Place {
    pub(super) fn new(load: &str, protocol: &str, cipher: &str) -> Place {
        let [load, protocol, cipher] = [load, protocol, cipher].map(str::to_owned);
        Place { load, protocol, cipher }
    }
}
