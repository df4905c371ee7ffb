//! Telemetry: each phone sends messages at a rate, whatever becomes of those before (an open loop). In a
//! closed loop a message waits for the answer to the one before, and the schedule with it, so that fewer
//! are sent where answers take longer than the time between two.
//!
//! The round-trip time of a message counts from when the schedule wanted it sent. One whose turn
//! comes while the connection is blocked, or is being opened again, waits, and its wait counts: what
//! is slow cannot hide behind messages that were never sent (no coordinated omission). Every message
//! of the measured window is answered in time, or late, or lost, and the sum of these is what the
//! schedule sent.

mod client;
mod plan;
mod schedule;
mod service;
mod session;

use std::path::Path;

use trackbed_core::{Arguments, Parameter, parameters};

use plan::CLOSED;

use crate::contract::{Prepared, Workload, WorkloadError};

/// The entry of the registry.
pub(crate) struct Telemetry;

impl Workload for Telemetry {
    fn name(&self) -> &'static str {
        "telemetry"
    }

    fn summary(&self) -> &'static str {
        "phones send messages at a rate for a time; each is answered in time, late or lost"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn prepare(&self, arguments: &Arguments, _: &Path) -> Result<Box<dyn Prepared>, WorkloadError> {
        Ok(Box::new(plan::Sender::new(arguments)?))
    }
}

const PARAMETERS: &[Parameter] = parameters! {
    "rate": Frequency = "1 /s" => "how many messages each phone sends, on average";
    "size": Size = "512 B" =>
        "bytes of each message, from 1 B to 10 MB; random ones, so that nothing compresses them";
    "duration": Time = "60 s" =>
        "how long messages are sent, up to 24 h; those on their way at the end are waited for";
    "warm-up": Time = "5 s" =>
        "the first part of the duration, whose messages are sent and not measured";
    "intervals": Choice(&["periodic", "poisson", "jittered"]) = "periodic" =>
        "between messages: always the same, exponential (a Poisson process), or the same with \
         each message delayed at random by up to `jitter`";
    "loop": Choice(&["open", CLOSED]) = "open" =>
        "open: a message goes at its turn, whatever has become of those before; closed: it also waits \
         for the answer to the one before, so that the rate is the most that is sent";
    "jitter": Time, optional =>
        "the most by which a message is behind its turn, with intervals = \"jittered\"; without \
         it half the time between two";
    "phones": Count { min: 1 } = "1" =>
        "phones that send, each on a host of its own and out of step with the others, up to 10000";
    "answer": Size = "0 B" =>
        "bytes in the body of each answer, up to 10 MB; without any the answer is the bare \
         acknowledgement of the protocol, as an HTTP response without a body";
    "deadline": Time = "1 s" => "an answer later than this after the intended time is late";
    "patience": Time = "10 s" =>
        "a message without an answer this long after its intended time is lost, and so is an \
         attempt to connect that takes as long";
    "in-flight": Count { min: 1 } = "1000" =>
        "messages of a phone that wait for their answer at once; one whose turn comes when there \
         are as many is lost without being sent; up to 65535";
};
