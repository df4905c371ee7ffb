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
use super::service;
use crate::arguments::{at_most, ensure, recordable, warm_up_before};
use crate::contract::{Prepared, Site, Stage, WorkloadError};
use crate::data::pieces;
use crate::warm_up::{self, WithWarmUp};

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
    pub(super) fn new(arguments: &Arguments) -> Result<Plan, WorkloadError> {
        let period: Duration = arguments.need("rate");
        let duration = time(arguments, "duration", "60 s")?;
        let deadline = time(arguments, "deadline", "1 s")?;
        let patience = time(arguments, "patience", "10 s")?;
        let phones = at_most(arguments, "phones", PHONES_MAX)?;
        let warm_up = warm_up_before(arguments, duration)?;
        let advice = "a message would be lost before it is late; write at most the patience";
        ensure(deadline <= patience, "deadline", advice)?;
        recordable(duration, ("rate", period), phones, "messages")?;
        let mut content = BytesMut::new();
        let size = size(arguments, "size", 1)?;
        pieces(0, size).for_each(|piece| content.extend_from_slice(&piece));
        Ok(Plan {
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
            in_flight: at_most(arguments, "in-flight", IN_FLIGHT_MAX)? as usize,
        })
    }

    /// The times of a phone's messages since the start.
    pub(super) fn schedule(&self, seed: &Seed, phone: u32) -> impl Iterator<Item = Duration> {
        let duration = self.duration;
        let alone = self.phones == 1;
        let schedule = Schedule::new(self.intervals, self.period, seed, (phone, alone));
        // Jitter may move a message past the end, and the next one is not earlier.
        schedule.take_while(move |time| *time < duration)
    }
}

impl Prepared for Arc<Plan> {
    fn phones(&self) -> u32 {
        self.phones
    }

    fn deadline(&self) -> Option<Duration> {
        Some(self.deadline)
    }

    fn service(&self, _: EventLog) -> Rc<dyn Service> {
        let (size, answer) = (self.content.len() as u64, self.answer);
        Rc::new(WithWarmUp(service::service(size, answer)))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(client::drive(Arc::clone(self), stage))
    }

    fn site(&self) -> Result<Site, String> {
        match self.answer {
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
) -> Result<Duration, WorkloadError> {
    let time: Duration = arguments.need(parameter);
    let advice = format!("write a time above zero and up to 24 h, for example \"{example}\"");
    ensure(!time.is_zero() && time <= DURATION_MAX, parameter, advice).map(|()| time)
}

fn size(arguments: &Arguments, parameter: &'static str, min: u64) -> Result<u64, WorkloadError> {
    let size = arguments.need::<ByteSize>(parameter).as_bytes();
    let advice = format!("write {min} B to 10 MB; for longer transfers, use the workload `bulk`");
    ensure((min..=SIZE_MAX).contains(&size), parameter, advice).map(|()| size)
}

/// The value of `loop` with which a message waits for the answer to the one before.
pub(super) const CLOSED: &str = "closed";

const DURATION_MAX: Duration = Duration::from_secs(86_400);

const PHONES_MAX: u32 = 10_000;

/// The number of MQTT's packet identifiers.
const IN_FLIGHT_MAX: u32 = 65_535;

const SIZE_MAX: u64 = 10_000_000;
