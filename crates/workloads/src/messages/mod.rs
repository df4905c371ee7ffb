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

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::LocalBoxFuture;
use trackbed_connection::Service;
use trackbed_core::{EventLog, Parameter, parameters};

use crate::boards;
use crate::contract::{Expectation, Prepared, Site, Stage, Workload};
use crate::lines::Policy;
use crate::warm_up::{self, WithWarmUp};
use plan::Plan;
use service::MessageService;

pub(crate) static ENTRY: Workload = Workload {
    name: "messages",
    summary: "phones send short messages, such as DENM warnings, and wait for acknowledgements",
    parameters: || PARAMETERS,
    communicates: true,
    follows_environment: false,
    ranking: &[("rate", &["deadline_miss_ratio", "rtt_ms"]), ("", &["completion_ms"])],
    prepare: |arguments, base| Ok(Box::new(Arc::new(Plan::new(arguments, base)?))),
};

impl Prepared for Arc<Plan> {
    fn phones(&self) -> u32 {
        self.phones + self.listeners
    }

    /// Listeners wait for what others have sent, and preparing signed messages takes long.
    fn is_divisible(&self) -> bool {
        self.listeners == 0 && !self.is_signed()
    }

    fn deadline(&self) -> Option<Duration> {
        Some(self.deadline)
    }

    fn service(&self, log: EventLog) -> Rc<dyn Service> {
        Rc::new(WithWarmUp(MessageService::new(self, log)))
    }

    fn drive(&self, stage: Stage) -> LocalBoxFuture<'_, ()> {
        Box::pin(delivery::drive(Arc::clone(self), stage))
    }

    fn site(&self) -> Result<Site, String> {
        if self.is_signed() {
            return Err("only the built-in server verifies signed messages".to_owned());
        }
        if self.listeners > 0 {
            return Err("only the built-in server forwards messages to listeners".to_owned());
        }
        Ok(Site { files: vec![warm_up::site_file()] })
    }

    fn board(&self) -> Option<&str> {
        self.is_signed().then_some(&self.equipment.board.name)
    }

    fn chosen_board(&self) -> Option<&str> {
        self.equipment.chosen.as_deref()
    }

    fn is_extrapolated(&self) -> bool {
        self.is_signed() && self.equipment.board.is_extrapolated(self.equipment.workers)
    }

    fn expectation(&self) -> Option<Expectation> {
        // A roadside unit takes its time before it answers.
        let lockstep = !self.is_signed()
            && self.listeners == 0
            && self.period.is_none()
            && self.phones == 1
            && self.stagger.is_zero();
        if !lockstep {
            return None;
        }
        let connections = match self.policy {
            Policy::One => 1,
            Policy::Each => self.count,
        };
        Some(Expectation { connections, exchanges: self.count, longest: self.payload.longest() })
    }
}

const PARAMETERS: &[Parameter] = parameters! {
    "count": Count { min: 1 } = "10" => "messages per phone";
    "size": Size, optional =>
        "size of each built-in message, from 64 B to 10 MB; default: 355 B, a complete DENM";
    "payload": File, optional =>
        "file sent instead of the built-in message: .json is one JSON message, .jsonl or .ndjson \
         one message per line in turn, any other file one message of any bytes";
    "rate": Frequency, optional =>
        "message rate of each phone, an open loop with latency from the scheduled time; default: a \
         closed loop, in which each message waits for the answer to the one before";
    "connection": Choice(&["one", "each"]) = "one" =>
        "one connection for all messages of a phone, or a new one for each, resumed according to \
         handshake";
    "signed": Flag = "false" =>
        "send signed DENMs (IEEE 1609.2, TS 103 097) to a roadside unit, which verifies each \
         before it answers";
    "signing": Time, optional =>
        "with signed = true: time to sign a message, in virtual time; default: 0.1 ms";
    "board": Described(boards::NAMES), optional =>
        "with signed = true: processors of the roadside unit, as in the workload verification";
    "workers": Count { min: 1 }, optional =>
        "with signed = true, virtual time: cores that verify, up to 64; more than the board has \
         give no benefit; default: all, of a Xeon two; in real time one thread does everything";
    "phones": Count { min: 1 } = "1" =>
        "phones that send at the same time, each on a separate host, up to 10000";
    "listeners": Count { min: 0 } = "0" =>
        "vehicles to which the service forwards every accepted message, each on a separate host \
         and connected in advance by the same protocol, up to 1000";
    "stagger": Time, optional =>
        "time over which the phones' starts are spread at random; default: 0 for one phone, else \
         the time between two messages, or 1 s in a closed loop";
    "deadline": Time = "100 ms" =>
        "an answer later than this after the intended time misses the deadline";
    "timeout": Time = "60 s" =>
        "a message without an answer for this long is given up, and the run fails";
};
