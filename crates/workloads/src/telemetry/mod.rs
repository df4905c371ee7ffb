//! Telemetry: each phone sends messages at a rate, whatever happens to the earlier ones (an open
//! loop). In a closed loop a message waits for the answer to the one before, and the schedule waits
//! too, so that fewer are sent if answers take longer than the interval.
//!
//! The round-trip time of a message counts from its scheduled time. If the connection is blocked or
//! being reopened at that time, the message waits, and its wait counts: slowness cannot hide behind
//! messages that were never sent (no coordinated omission). Every message of the measured window is
//! answered in time, late or lost, and the sum of these is the number scheduled.

mod client;
mod plan;
mod schedule;
mod service;
mod session;

use std::sync::Arc;

use trackbed_core::{Parameter, parameters};

use crate::contract::Workload;
use plan::{CLOSED, Plan};

pub(crate) static ENTRY: Workload = Workload {
    name: "telemetry",
    summary: "phones send messages at a rate for a time; each is answered in time, late or lost",
    parameters: || PARAMETERS,
    communicates: true,
    follows_environment: false,
    ranking: &[("", &["deadline_miss_ratio", "rtt_ms"])],
    prepare: |arguments, _| Ok(Box::new(Arc::new(Plan::new(arguments)?))),
};

const PARAMETERS: &[Parameter] = parameters! {
    "rate": Frequency = "1 /s" => "mean message rate of each phone";
    "size": Size = "512 B" =>
        "size of each message, from 1 B to 10 MB; random bytes, which do not compress";
    "duration": Time = "60 s" =>
        "time during which messages are sent, up to 24 h; messages in flight at the end are waited \
         for";
    "warm-up": Time = "5 s" =>
        "first part of the duration, whose messages are sent but not measured";
    "intervals": Choice(&["periodic", "poisson", "jittered"]) = "periodic" =>
        "intervals between messages: periodic, poisson (exponential), or jittered (periodic, each \
         message delayed at random by up to `jitter`)";
    "loop": Choice(&["open", CLOSED]) = "open" =>
        "open: each message is sent at its scheduled time; closed: it also waits for the answer to \
         the one before, so rate is a maximum";
    "jitter": Time, optional =>
        "maximum delay of a message after its scheduled time, with intervals = \"jittered\"; \
         default: half the time between two messages";
    "phones": Count { min: 1 } = "1" =>
        "phones that send, each on a separate host and out of phase with the others, up to 10000";
    "answer": Size = "0 B" =>
        "body size of each answer, up to 10 MB; default: none, only the protocol's \
         acknowledgement, such as an HTTP response without a body";
    "deadline": Time = "1 s" => "an answer later than this after the intended time is late";
    "patience": Time = "10 s" =>
        "a message without an answer for this long after its intended time is lost; also the \
         timeout of an attempt to connect";
    "in-flight": Count { min: 1 } = "1000" =>
        "maximum messages of a phone that wait for their answers; further ones are lost without \
         being sent; up to 65535";
};
