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

use trackbed_core::parameter::Kind;
use trackbed_core::{Arguments, Parameter};

use crate::boards;
use crate::contract::{Prepared, Workload, WorkloadError};

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
        Ok(Box::new(plan::Messenger::new(arguments, base)?))
    }
}

const PARAMETERS: &[Parameter] = &[
    Parameter::with_default(
        "count",
        Kind::Count { min: 1 },
        "10",
        "messages that each phone sends",
    ),
    Parameter::optional(
        "size",
        Kind::Size,
        "bytes of each built-in message, from 64 B to 10 MB; 355 B, a complete DENM, where \
         neither this nor a payload is given",
    ),
    Parameter::optional(
        "payload",
        Kind::File,
        "a file to send in place of the built-in message: .json is one JSON message, .jsonl \
         or .ndjson one message in each line, taken in turn, anything else one message of \
         any bytes",
    ),
    Parameter::optional(
        "rate",
        Kind::Frequency,
        "how often each phone sends (open loop: it does not wait for answers, and latency \
         counts from the scheduled time); without it each message waits for the answer to \
         the one before (closed loop)",
    ),
    Parameter::with_default(
        "connection",
        Kind::Choice(&["one", "each"]),
        "one",
        "one connection for all messages of a phone, or a new one for each, resumed where \
         the handshake says so",
    ),
    Parameter::with_default(
        "signed",
        Kind::Flag,
        "false",
        "messages are DENMs as they go on the air, signed (IEEE 1609.2, TS 103 097), and the service is \
         a roadside unit that verifies each before it answers",
    ),
    Parameter::optional(
        "signing",
        Kind::Time,
        "with signed = true, what signing takes a phone in virtual time, 0.1 ms unless this says so; in \
         real time it takes what it takes",
    ),
    Parameter::optional(
        "board",
        Kind::Choice(boards::NAMES),
        "with signed = true, the roadside unit's processors, of those that the workload verification \
         knows; here unless this says so",
    ),
    Parameter::optional(
        "workers",
        Kind::Count { min: 1 },
        "with signed = true, cores of the board that verify, up to 64, where more than it has gain nothing; \
         as many as it has, of a Xeon two, unless this says so; in real time one thread does everything",
    ),
    Parameter::with_default(
        "phones",
        Kind::Count { min: 1 },
        "1",
        "phones that send at once, each on a host of its own, up to 10000",
    ),
    Parameter::with_default(
        "listeners",
        Kind::Count { min: 0 },
        "0",
        "vehicles that the service tells of every message it has accepted, each on a host of its own and \
         connected beforehand by the same protocol, up to 1000",
    ),
    Parameter::optional(
        "stagger",
        Kind::Time,
        "the span over which the phones' starts are spread at random; without it 0 for one \
         phone, and for several the time between two messages, or 1 s in a closed loop",
    ),
    Parameter::with_default(
        "deadline",
        Kind::Time,
        "100 ms",
        "an answer later than this after the intended time misses the deadline",
    ),
    Parameter::with_default(
        "timeout",
        Kind::Time,
        "60 s",
        "a message without an answer after this long is given up, and the run has failed",
    ),
];
