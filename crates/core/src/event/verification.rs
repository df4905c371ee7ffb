//! The outcome of messages whose signatures are verified.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Time;

/// A step of a unit that verifies received messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the texts describe the fields")]
pub enum Verification {
    /// It has made these decisions, in their order; a unit hears millions of messages, so one takes 24 bytes.
    Judged(Vec<Decision>),
    /// It has made the same decision about a number of messages of a flood of forgeries, which are
    /// not recorded individually.
    Repelled { messages: u64, judgement: Judgement },
    /// Its counters, at the end.
    Accounted(UnitAccount),
}

/// A decision about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// When it was made.
    pub at: Time,
    /// When the message arrived.
    pub heard: Time,
    /// Whether the message came from the claimed sender.
    pub genuine: bool,
    /// What was decided.
    pub judgement: Judgement,
}

/// What a unit has received, done and used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitAccount {
    /// From the first message received to the last decision.
    pub span: Duration,
    /// Messages of vehicles that arrived in the measured window, counted on arrival.
    pub heard: u64,
    /// Verified signatures.
    pub signatures: u64,
    /// Processor time of verification and of all its checks.
    pub busy: Duration,
    /// The unit's cores.
    pub cores: u32,
    /// The maximum number of signatures in the queue.
    pub waiting_max: u64,
    /// The peak memory of tables of keys, in bytes.
    pub tables_bytes: u64,
}

/// A unit's decision about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Judgement {
    /// Accepted.
    Accepted,
    /// Its signature, or its certificate's, is not valid.
    BadSignature,
    /// It names a certificate that the unit has not received yet.
    UnknownSigner,
    /// Refused for another reason: form, time, place, permission.
    Refused,
    /// Not examined: the queue was full.
    Overflow,
    /// Not examined: its deadline had passed before its turn.
    Late,
}
