//! Figures of the study and of our runs, in its terms.

use schemars::JsonSchema;
use serde::Serialize;

/// A quantity in a cell of the study, as the study printed it and as it was observed here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// Where.
    pub setting: Place,
    /// The metric, as results call it.
    pub metric: String,
    /// `mean`, `p50`, `p95` or `p99`.
    pub statistic: String,
    /// What the study printed, for each of its devices that has it.
    pub printed: Vec<Printed>,
    /// The value here.
    pub here: f64,
    /// The ends of its 95 % interval; `None` where it is open.
    pub ci95: [Option<f64>; 2],
    /// Requests that were answered in a second here: what the figure was paid for with.
    pub answered_hz: Option<f64>,
}

/// A figure of the study: a range where its text gives no more.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Printed {
    /// Of which device.
    pub device: String,
    /// The lower end.
    pub low: f64,
    /// The upper end; the same where it is a value.
    pub high: f64,
}

/// What a cell is, in the study's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// How much is sent: `low`, one message of 512 B a second, or `high`, 100 of 2,048 B.
    pub load: String,
    /// `https`, `http3`, `mqtt` or `dtls`.
    pub protocol: String,
    /// `aes128gcm`, `aes256gcm` or `chacha20`.
    pub cipher: String,
}

/// A quantity in a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Observation {
    pub(super) place: Place,
    /// The metric, as results call it.
    pub(super) metric: String,
    /// `mean`, `p50`, `p95` or `p99`.
    pub(super) statistic: String,
    /// Its value; `None` where only a range was published.
    pub(super) value: Option<f64>,
    /// The ends of its interval, or of the range that was published; `None` if open.
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl Place {
    pub(super) fn new(load: &str, protocol: &str, cipher: &str) -> Place {
        let [load, protocol, cipher] = [load, protocol, cipher].map(str::to_owned);
        Place { load, protocol, cipher }
    }
}
