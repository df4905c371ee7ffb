//! The workload of one cell, resolved and checked.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Arguments, ByteSize, EventLog, Seed};

use super::client;
use super::schedule::{Intervals, Schedule};
use super::service::TelemetryService;
use crate::contract::{Prepared, Site, Stage, WorkloadError};
use crate::data::pieces;
use crate::warm_up::{self, WithWarmUp};

/// Telemetry with everything resolved.
pub(super) struct Sender(Arc<Plan>);

/// The data shared by the runs of a cell.
pub(super) struct Plan {
    intervals: Intervals,
    period: Duration,
    phones: u32,
    pub(super) content: Bytes,
    answer: u64,
    /// Whether a message waits for the answer to the one before.
    pub(super) is_closed: bool,
    pub(super) duration: Duration,
    pub(super) warm_up: Duration,
    pub(super) deadline: Duration,
    pub(super) patience: Duration,
    pub(super) in_flight: usize,
}

impl Plan {
    /// The times of a phone's messages since the start.
    pub(super) fn schedule(&self, seed: &Seed, phone: u32) -> impl Iterator<Item = Duration> {
        let duration = self.duration;
        let alone = self.phones == 1;
        let schedule = Schedule::new(self.intervals, self.period, seed, (phone, alone));
        // Jitter may move a message past the end, and the next one is not earlier.
        schedule.take_while(move |time| *time < duration)
    }
}

impl Sender {
    pub(super) fn new(arguments: &Arguments) -> Result<Sender, WorkloadError> {
        let period: Duration = arguments.need("rate");
        let duration = time(arguments, "duration", "60 s", DURATION_MAX)?;
        let deadline = time(arguments, "deadline", "1 s", DURATION_MAX)?;
        let patience = time(arguments, "patience", "10 s", DURATION_MAX)?;
        let phones = count(arguments, "phones", PHONES_MAX)?;
        let warm_up: Duration = arguments.need("warm-up");
        if warm_up >= duration {
            let advice = "nothing is left to measure; make it shorter than the duration";
            return Err(WorkloadError::new("warm-up", advice));
        }
        if deadline > patience {
            let advice = "a message would be lost before it is late; write at most the patience";
            return Err(WorkloadError::new("deadline", advice));
        }
        let messages = duration.as_nanos() / period.as_nanos().max(1) * u128::from(phones);
        if messages > MESSAGES_MAX {
            let advice = format!(
                "{messages} messages exceed the limit of a run, {MESSAGES_MAX}; reduce rate, \
                 duration or phones"
            );
            return Err(WorkloadError::new("rate", advice));
        }
        let size = size(arguments, "size", 1)?;
        let mut content = BytesMut::new();
        pieces(0, size).for_each(|piece| content.extend_from_slice(&piece));
        Ok(Sender(Arc::new(Plan {
            intervals: intervals(arguments, period)?,
            period,
            phones,
            content: content.freeze(),
            answer: self::size(arguments, "answer", 0)?,
            is_closed: arguments.need::<&str>("loop") == CLOSED,
            duration,
            warm_up,
            deadline,
            patience,
            in_flight: count(arguments, "in-flight", IN_FLIGHT_MAX)? as usize,
        })))
    }
}

impl Prepared for Sender {
    fn phones(&self) -> u32 {
        self.0.phones
    }

    fn deadline(&self) -> Option<Duration> {
        Some(self.0.deadline)
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        let (size, answer) = (self.0.content.len() as u64, self.0.answer);
        Rc::new(WithWarmUp(TelemetryService { size, answer }))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(client::drive(Arc::clone(&self.0), stage))
    }

    fn site(&self) -> Result<Site, String> {
        match self.0.answer {
            0 => Ok(Site { files: vec![warm_up::site_file()] }),
            _ => Err("only the built-in server can set the size of its answers: remove `answer`"
                .to_owned()),
        }
    }
}

fn intervals(arguments: &Arguments, period: Duration) -> Result<Intervals, WorkloadError> {
    let jitter: Option<Duration> = arguments.get("jitter");
    let name: &str = arguments.need("intervals");
    match (name, jitter) {
        ("jittered", None) => Ok(Intervals::Jittered(period / 2)),
        ("jittered", Some(most)) if most <= period => Ok(Intervals::Jittered(most)),
        ("jittered", Some(_)) => {
            let most = trackbed_core::units::format_duration(period);
            let advice = format!("messages would overtake one another; write at most \"{most}\"");
            Err(WorkloadError::new("jitter", advice))
        }
        (_, Some(_)) => {
            let advice = format!(
                "{name} intervals have no jitter; remove this, or write intervals = \"jittered\""
            );
            Err(WorkloadError::new("jitter", advice))
        }
        ("poisson", None) => Ok(Intervals::Poisson),
        (_, None) => Ok(Intervals::Periodic),
    }
}

fn time(
    arguments: &Arguments,
    parameter: &'static str,
    example: &str,
    most: Duration,
) -> Result<Duration, WorkloadError> {
    let time: Duration = arguments.need(parameter);
    if time.is_zero() || time > most {
        let advice = format!("write a time above zero and up to 24 h, for example \"{example}\"");
        return Err(WorkloadError::new(parameter, advice));
    }
    Ok(time)
}

fn count(arguments: &Arguments, parameter: &'static str, max: u32) -> Result<u32, WorkloadError> {
    let count: u64 = arguments.need(parameter);
    u32::try_from(count)
        .ok()
        .filter(|count| *count <= max)
        .ok_or_else(|| WorkloadError::new(parameter, format!("write at most {max}")))
}

fn size(arguments: &Arguments, parameter: &'static str, min: u64) -> Result<u64, WorkloadError> {
    let size = arguments.need::<ByteSize>(parameter).as_bytes();
    if !(min..=SIZE_MAX).contains(&size) {
        let advice =
            format!("write {min} B to 10 MB; for longer transfers, use the workload `bulk`");
        return Err(WorkloadError::new(parameter, advice));
    }
    Ok(size)
}

/// The value of `loop` with which a message waits for the answer to the one before.
pub(super) const CLOSED: &str = "closed";

/// The limit of a simulation.
const DURATION_MAX: Duration = Duration::from_secs(86_400);

const PHONES_MAX: u32 = 10_000;

/// Each message has two events of about 100 bytes each.
const MESSAGES_MAX: u128 = 20_000_000;

/// The number of MQTT's packet identifiers.
const IN_FLIGHT_MAX: u32 = 65_535;

const SIZE_MAX: u64 = 10_000_000;
