//! A delay from a trace file.

use std::sync::Arc;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_core::units;

use super::{OVERTAKING, Timetable, delay_with_order};
use crate::models::schedule::parse_rows;
use crate::spec::{ModelEntry, SpecError};

pub(crate) static ENTRY: ModelEntry = ModelEntry {
    name: "delay-trace",
    summary: "a delay that follows a trace file",
    parameters: &[
        Parameter::required(
            "trace",
            Kind::File,
            "a file with one line per change: the time since the start and the delay from then on, \
             both in milliseconds, decimals allowed; the first time is 0, and the last delay holds \
             until the end; lines that begin with # are comments",
        ),
        OVERTAKING,
    ],
    has_queue: false,
    example: &[("trace", "0 10\n250.5 12.125\n")],
    read: |arguments| {
        let text: Arc<str> = arguments.need("trace");
        Ok(Arc::new(delay_with_order(parse_delay_trace(&text)?, arguments)))
    },
};

/// Reads a trace of delays: on each line the time since the start and the delay from then on, both in
/// milliseconds with at most six decimals.
///
/// # Errors
/// If a line is not two such numbers, or the times do not begin at zero and rise.
pub fn parse_delay_trace(text: &str) -> Result<Timetable, SpecError> {
    Timetable::new(parse_rows(text, "250.5 12", Some("ms"), units::parse_duration)?)
}
