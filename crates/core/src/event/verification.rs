//! What becomes of messages whose signatures are verified.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Time;

/// A step of a unit that verifies what it hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Verification {
    /// It has come to a decision about a message.
    Judged {
        /// When the message came.
        heard: Time,
        /// Whether it was from whom it says.
        genuine: bool,
        /// The decision.
        judgement: Judgement,
    },
    /// It has come to the same decision about so many messages of a flood of forgeries, which are not
    /// recorded one by one.
    Repelled {
        /// How many.
        messages: u64,
        /// The decision.
        judgement: Judgement,
    },
    /// Its own account, at the end.
    Accounted(UnitAccount),
}

/// What a unit has heard, done and used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitAccount {
    /// From the first message heard to the last decision.
    pub span: Duration,
    /// Messages of vehicles that came in the measured window, counted as they came.
    pub heard: u64,
    /// Signatures that were verified.
    pub signatures: u64,
    /// Processor time of verification and of all checks around it.
    pub busy: Duration,
    /// Cores that the unit has.
    pub cores: u32,
    /// The most signatures that waited at once.
    pub waiting_max: u64,
    /// The most memory that tables of keys may have taken, in bytes.
    pub tables_bytes: u64,
}

/// What a unit decides about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Judgement {
    /// To be believed.
    Accepted,
    /// Its signature, or its certificate's, is not valid.
    BadSignature,
    /// It names a certificate that the unit has not heard yet.
    UnknownSigner,
    /// Refused for anything else: form, time, place, permission, revocation.
    Refused,
    /// Not looked at: too many waited already.
    Overflow,
    /// Not looked at: its deadline had passed before it was its turn.
    Late,
}
