//! Messages: each phone sends short messages to the server, which checks and acknowledges them.

mod delivery;
mod denm;
mod forwarding;
mod listener;
mod moment;
mod payload;
mod plan;
mod roadside;
mod service;
mod signed;
mod walk;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{Arguments, EventLog, Parameter, parameters};

use crate::boards;
use crate::contract::{Expectation, Prepared, Site, Stage, Workload, WorkloadError};
use crate::lines::Policy;
use crate::warm_up::{self, WithWarmUp};
use payload::Payload;
use plan::Plan;
use service::MessageService;

/// The entry of the registry.
pub(crate) struct Messages;

impl Workload for Messages {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn summary(&self) -> &'static str {
        "phones send short messages, such as DENM warnings, and wait for the acknowledgements"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn prepare(
        &self,
        arguments: &Arguments,
        base: &Path,
    ) -> Result<Box<dyn Prepared>, WorkloadError> {
        Ok(Box::new(Messenger(Arc::new(Plan::new(arguments, base)?))))
    }
}

/// Messages with everything resolved.
struct Messenger(Arc<Plan>);

impl Prepared for Messenger {
    fn phones(&self) -> u32 {
        self.0.phones + self.0.listeners
    }

    fn deadline(&self) -> Option<Duration> {
        Some(self.0.deadline)
    }

    fn service(&self, log: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(MessageService::new(
            Arc::clone(&self.0.payload),
            &self.0.equipment,
            self.0.listeners > 0,
            log,
        )))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(delivery::drive(Arc::clone(&self.0), stage))
    }

    fn site(&self) -> Result<Site, String> {
        if let Payload::Signed(_) = *self.0.payload {
            return Err("signed messages are verified by Trackbed's own server alone".to_owned());
        }
        if self.0.listeners > 0 {
            return Err("nobody but Trackbed's own server tells listeners".to_owned());
        }
        Ok(Site { files: vec![warm_up::site_file()] })
    }

    fn board(&self) -> Option<&'static str> {
        let plan = &self.0;
        matches!(*plan.payload, Payload::Signed(_)).then_some(plan.equipment.board.name)
    }

    fn expectation(&self) -> Option<Expectation> {
        let plan = &self.0;
        // A roadside unit takes its time before it answers.
        let signed = matches!(*plan.payload, Payload::Signed(_));
        let lockstep = !signed
            && plan.listeners == 0
            && plan.period.is_none()
            && plan.phones == 1
            && plan.stagger.is_zero();
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

/// What fits the first flight of every transport with headers and encryption: the initial window
/// is at least 10 segments of TCP (RFC 6928), and 12,000 bytes of QUIC (RFC 9002 section 7.2).
const FIRST_FLIGHT_BYTES: u64 = 10_000;

const PARAMETERS: &[Parameter] = parameters! {
    "count": Count { min: 1 } = "10" => "messages that each phone sends";
    "size": Size, optional =>
        "bytes of each built-in message, from 64 B to 10 MB; 355 B, a complete DENM, where \
         neither this nor a payload is given";
    "payload": File, optional =>
        "a file to send in place of the built-in message: .json is one JSON message, .jsonl or \
         .ndjson one message in each line, taken in turn, anything else one message of any bytes";
    "rate": Frequency, optional =>
        "how often each phone sends (open loop: it does not wait for answers, and latency counts \
         from the scheduled time); without it each message waits for the answer to the one before \
         (closed loop)";
    "connection": Choice(&["one", "each"]) = "one" =>
        "one connection for all messages of a phone, or a new one for each, resumed where the \
         handshake says so";
    "signed": Flag = "false" =>
        "messages are DENMs as they go on the air, signed (IEEE 1609.2, TS 103 097), and the \
         service is a roadside unit that verifies each before it answers";
    "signing": Time, optional =>
        "with signed = true, what signing takes a phone in virtual time, 0.1 ms unless this says \
         so; in real time it takes what it takes";
    "board": Choice(boards::NAMES), optional =>
        "with signed = true, the roadside unit's processors, of those that the workload \
         verification knows; here unless this says so";
    "workers": Count { min: 1 }, optional =>
        "with signed = true, cores of the board that verify, up to 64, where more than it has \
         gain nothing; as many as it has, of a Xeon two, unless this says so; in real time one \
         thread does everything";
    "phones": Count { min: 1 } = "1" =>
        "phones that send at once, each on a host of its own, up to 10000";
    "listeners": Count { min: 0 } = "0" =>
        "vehicles that the service tells of every message it has accepted, each on a host of its \
         own and connected beforehand by the same protocol, up to 1000";
    "stagger": Time, optional =>
        "the span over which the phones' starts are spread at random; without it 0 for one phone, \
         and for several the time between two messages, or 1 s in a closed loop";
    "deadline": Time = "100 ms" =>
        "an answer later than this after the intended time misses the deadline";
    "timeout": Time = "60 s" =>
        "a message without an answer after this long is given up, and the run has failed";
};
