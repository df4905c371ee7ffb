//! The workload of one cell, resolved and checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use trackbed_core::Arguments;

use super::payload::Payload;
use super::roadside::Equipment;
use crate::arguments::{absent, ensure, few, positive};
use crate::boards;
use crate::contract::WorkloadError;
use crate::lines::Policy;

pub(super) struct Plan {
    pub(super) count: u32,
    pub(super) phones: u32,
    /// Clients, numbered after these, to which accepted messages are forwarded.
    pub(super) listeners: u32,
    pub(super) payload: Arc<Payload>,
    /// The time between two messages; `None` in a closed loop.
    pub(super) period: Option<Duration>,
    pub(super) policy: Policy,
    pub(super) stagger: Duration,
    pub(super) deadline: Duration,
    pub(super) timeout: Duration,
    pub(super) signing: Duration,
    pub(super) equipment: Equipment,
}

impl Plan {
    pub(super) fn new(arguments: &Arguments, base: &Path) -> Result<Plan, WorkloadError> {
        let phones = few("phones", arguments.need("phones"), PHONES_MAX)?;
        let period: Option<Duration> = arguments.get("rate");
        let stagger = arguments.get("stagger").unwrap_or(match (phones, period) {
            (1, _) => Duration::ZERO,
            (_, Some(period)) => period,
            (_, None) => STAGGER_CLOSED_LOOP,
        });
        let policy = match arguments.need("connection") {
            "each" => Policy::Each,
            _ => Policy::One,
        };
        Ok(Plan {
            count: few("count", arguments.need("count"), u32::MAX)?,
            phones,
            listeners: few("listeners", arguments.need("listeners"), LISTENERS_MAX)?,
            signing: signing(arguments)?,
            equipment: equipment(arguments, base)?,
            payload: Arc::new(payload(arguments, base)?),
            period,
            policy,
            stagger,
            deadline: positive(arguments, "deadline", "1 s")?,
            timeout: positive(arguments, "timeout", "1 s")?,
        })
    }

    pub(super) fn is_signed(&self) -> bool {
        matches!(*self.payload, Payload::Signed(_))
    }
}

fn payload(arguments: &Arguments, base: &Path) -> Result<Payload, WorkloadError> {
    if arguments.need("signed") {
        let advice = "signed messages are built in, and have a fixed size; remove this, or write \
                      signed = false";
        absent(arguments, &["payload", "size"], advice)?;
        return Ok(Payload::Signed(Arc::default()));
    }
    match (arguments.get::<PathBuf>("payload"), arguments.get("size")) {
        (Some(_), Some(_)) => {
            let advice = "a message from a file has the file's size; remove `size` or `payload`";
            Err(WorkloadError::new("size", advice))
        }
        (Some(file), None) => Payload::read(&base.join(file)),
        (None, size) => Payload::built_in(size),
    }
}

fn signing(arguments: &Arguments) -> Result<Duration, WorkloadError> {
    if !arguments.need::<bool>("signed") {
        let advice = "messages are not signed; remove this, or write signed = true";
        let parameters = &["signing", "board", "workers"];
        return absent(arguments, parameters, advice).map(|()| Duration::ZERO);
    }
    let span = arguments.get("signing").unwrap_or(SIGNING);
    ensure(span <= SIGNING_MAX, "signing", "write a time up to \"1 s\"").map(|()| span)
}

fn equipment(arguments: &Arguments, base: &Path) -> Result<Equipment, WorkloadError> {
    let (board, chosen) = boards::find(arguments, base)?;
    Ok(Equipment {
        board,
        chosen,
        workers: boards::workers(arguments)?,
        deadline: positive(arguments, "deadline", "1 s")?,
    })
}

/// The limit of the fixed-width fields in built-in messages, and of a reasonable run.
const PHONES_MAX: u32 = 10_000;

/// Each has a connection with a pending request.
const LISTENERS_MAX: u32 = 1_000;

/// About the time that this program takes to sign in software on a fast core: 0.17 ms on a Zen 4.
const SIGNING: Duration = Duration::from_micros(100);
const SIGNING_MAX: Duration = Duration::from_secs(1);

const STAGGER_CLOSED_LOOP: Duration = Duration::from_secs(1);
