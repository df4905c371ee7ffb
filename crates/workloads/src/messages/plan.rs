//! The workload of one cell: every value resolved and checked.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_core::{Arguments, EventLog};
use trackbed_protocols::Service;

use super::delivery;
use super::payload::Payload;
use super::service::MessageService;
use crate::contract::{Expectation, Prepared, Site, Stage, WorkloadError};
use crate::lines::Policy;
use crate::warm_up::{self, WithWarmUp};

/// Messages with everything resolved.
pub(super) struct Messenger(Arc<Plan>);

/// What the runs of a cell share.
pub(super) struct Plan {
    pub(super) count: u32,
    pub(super) phones: u32,
    pub(super) payload: Arc<Payload>,
    /// The time from one message to the next; `None` in a closed loop.
    pub(super) period: Option<Duration>,
    pub(super) policy: Policy,
    pub(super) stagger: Duration,
    pub(super) deadline: Duration,
    pub(super) timeout: Duration,
}

impl Messenger {
    pub(super) fn new(arguments: &Arguments, base: &Path) -> Result<Messenger, WorkloadError> {
        let phones = count_up_to(arguments, "phones", PHONES_MAX)?;
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
        Ok(Messenger(Arc::new(Plan {
            count: count_up_to(arguments, "count", u32::MAX)?,
            phones,
            payload: Arc::new(payload(arguments, base)?),
            period,
            policy,
            stagger,
            deadline: span(arguments, "deadline")?,
            timeout: span(arguments, "timeout")?,
        })))
    }
}

impl Prepared for Messenger {
    fn phones(&self) -> u32 {
        self.0.phones
    }

    fn service(&self, log: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(MessageService::new(Arc::clone(&self.0.payload), log)))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(delivery::drive(Arc::clone(&self.0), stage))
    }

    fn site(&self) -> Result<Site, String> {
        Ok(Site { files: vec![warm_up::site_file()] })
    }

    fn expectation(&self) -> Option<Expectation> {
        let plan = &self.0;
        let lockstep = plan.period.is_none() && plan.phones == 1 && plan.stagger.is_zero();
        if !lockstep || plan.payload.longest() > FIRST_FLIGHT_BYTES {
            return None;
        }
        let connections = match plan.policy {
            Policy::One => 1,
            Policy::Each => plan.count,
        };
        Some(Expectation { connections, exchanges: plan.count })
    }
}

fn payload(arguments: &Arguments, base: &Path) -> Result<Payload, WorkloadError> {
    match (arguments.get::<PathBuf>("payload"), arguments.get("size")) {
        (Some(_), Some(_)) => Err(WorkloadError::new(
            "size",
            "the size of a message from a file is the file's; leave out `size` or `payload`",
        )),
        (Some(file), None) => Payload::read(&base.join(file)),
        (None, size) => Payload::built_in(size),
    }
}

fn count_up_to(
    arguments: &Arguments,
    parameter: &'static str,
    max: u32,
) -> Result<u32, WorkloadError> {
    let count: u64 = arguments.need(parameter);
    u32::try_from(count).ok().filter(|count| *count <= max).ok_or_else(|| {
        WorkloadError::new(parameter, format!("{count} is too many; write at most {max}"))
    })
}

fn span(arguments: &Arguments, parameter: &'static str) -> Result<Duration, WorkloadError> {
    let span: Duration = arguments.need(parameter);
    match span.is_zero() {
        true => {
            let advice = "no answer comes within no time; write for example \"1 s\"";
            Err(WorkloadError::new(parameter, advice))
        }
        false => Ok(span),
    }
}

/// What a built-in message can number in its fields of fixed width, and a sensible run can hold.
const PHONES_MAX: u32 = 10_000;

const STAGGER_CLOSED_LOOP: Duration = Duration::from_secs(1);

/// What fits the first flight of every transport with headers and encryption: the initial window
/// is at least 10 segments of TCP (RFC 6928), and 12,000 bytes of QUIC (RFC 9002 section 7.2).
const FIRST_FLIGHT_BYTES: u64 = 10_000;
