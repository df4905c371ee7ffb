//! A delay from a trace file.

use std::sync::Arc;
use std::time::Duration;

use trackbed_core::parameter::{Kind, Parameter};
use trackbed_core::{Time, units};

use super::{OVERTAKING, Timetable, delay_with_order};
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

/// Reads a trace of delays: on each line the time since the start and the delay from then on,
/// both in milliseconds with at most six decimals. Empty lines and lines that begin with `#` are
/// skipped.
///
/// # Errors
/// If a line is not two such numbers, or the times do not begin at zero and rise; the message
/// names the line.
pub fn parse_delay_trace(text: &str) -> Result<Timetable, SpecError> {
    let mut rows: Vec<(Time, Duration)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let refuse = |why: &str| {
            SpecError::new(format!(
                "line {} of the delay trace {why}; write the time and the delay in milliseconds, \
                 as \"250.5 12\"",
                index + 1
            ))
        };
        let mut words = line.split_whitespace().map(milliseconds);
        let (Some(Some(time)), Some(Some(delay)), None) =
            (words.next(), words.next(), words.next())
        else {
            return Err(refuse("is not two numbers"));
        };
        let time = Time::ZERO + time;
        match rows.last() {
            None if time > Time::ZERO => {
                return Err(refuse("is the first line, and its time is not 0"));
            }
            Some((last, _)) if *last >= time => {
                return Err(refuse("is not later than the line before"));
            }
            _ => rows.push((time, delay)),
        }
    }
    Timetable::new(rows)
}

fn milliseconds(word: &str) -> Option<Duration> {
    units::parse_duration(&format!("{word} ms")).ok()
}
