//! What the loss of single packets costs, as data.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::results::SCHEMA;

/// The output of `trackbed drops --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DropsDocument {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The answer in a sentence.
    pub answer: String,
    /// The version of the tool.
    pub trackbed: String,
    /// The scenario's name.
    pub scenario: String,
    /// The root seed.
    pub seed: u64,
    /// The substrate of the runs.
    pub substrate: String,
    /// What happened to the chosen packets: `loss`, `duplication` or `delay`.
    pub fault: String,
    /// The cells, without those that differ in their random loss only.
    pub cells: Vec<DropsCell>,
}

/// A cell and what its packets are worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DropsCell {
    /// The cell's place in the plan.
    pub cell: u32,
    /// The cell in words.
    pub name: String,
    /// The time from the first packet to the first answer, in milliseconds.
    pub round_trip_ms: f64,
    /// The completion time without a fault, in milliseconds.
    pub completion_ms: f64,
    /// The packets of the run without a fault, in order.
    pub packets: Vec<Passed>,
    /// What each fault costs, in the order of the packets.
    pub patterns: Vec<Pattern>,
}

/// A packet that entered the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passed {
    /// Which one.
    #[serde(flatten)]
    pub place: Place,
    /// When, in milliseconds since the first packet.
    pub at_ms: f64,
    /// Its size, IP header included.
    pub bytes: u64,
}

/// A packet by its content.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Place {
    /// Whether a phone sent it, and not the server.
    pub up: bool,
    /// What it shows without keys.
    pub content: String,
    /// Its number among the packets with this content in this direction, from 1.
    pub number: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = if self.up { "client" } else { "server" };
        write!(f, "{from} {} {}", self.content, self.number)
    }
}

/// One or two packets that met a fault, and what that led to.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pattern {
    /// The packets, in the order in which they were sent.
    pub packets: Vec<Place>,
    /// How that ended.
    pub verdict: DropVerdict,
    /// How much later the work was complete than without a fault, in milliseconds.
    pub later_ms: Option<f64>,
    /// The time that the standard gives for the recovery, in milliseconds; none where no timer decides.
    pub bound_ms: Option<f64>,
    /// The timer and the section that defines it.
    pub rule: Option<String>,
    /// Why the run did not complete.
    pub reason: Option<String>,
}

/// How a fault ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropVerdict {
    /// The work was complete in the time that the standard gives.
    InTime,
    /// It was complete, and no timer bounds how late.
    Completes,
    /// It was complete later than that.
    Late,
    /// A sender that had no sample yet sent again sooner than the standard allows.
    Early,
    /// Both ends waited without end.
    Stalls,
    /// The work failed.
    Fails,
    /// The packet did not occur.
    NotMet,
    /// A second run ended otherwise.
    NotReproducible,
}

impl DropVerdict {
    /// Whether it is a fault of the ends.
    pub fn is_red(self) -> bool {
        matches!(
            self,
            DropVerdict::Late | DropVerdict::Early | DropVerdict::Stalls | DropVerdict::Fails
        )
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            DropVerdict::InTime => "in time",
            DropVerdict::Completes => "completes",
            DropVerdict::Late => "LATE",
            DropVerdict::Early => "EARLY",
            DropVerdict::Stalls => "STALLS",
            DropVerdict::Fails => "FAILS",
            DropVerdict::NotMet => "not met",
            DropVerdict::NotReproducible => "not reproducible",
        }
    }
}

impl Pattern {
    /// The packets in words.
    pub fn words(&self) -> String {
        self.packets.iter().map(Place::to_string).collect::<Vec<_>>().join(", then ")
    }
}
