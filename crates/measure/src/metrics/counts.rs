//! The numbers of accepted, refused and given-up messages.

use trackbed_core::event::{Event, Record};

use super::Metric;
use super::messages::TAKEN;

pub(super) const METRICS: &[Metric] = metrics! {
    "answered_count", |records| {
        count(
            records,
            |event| matches!(event, Event::Answered { status, .. } if TAKEN.contains(status)),
        )
    } => "messages that the server accepted (status 200 to 299)";
    "refused_count", |records| {
        count(
            records,
            |event| matches!(event, Event::Answered { status, .. } if !TAKEN.contains(status)),
        )
    } => "messages that the server refused (any other status), such as malformed ones; a run with any \
          of them is a failed run";
    "failed_count", |records| count(records, |event| matches!(event, Event::Failed { .. })) =>
        "messages, transfers and connections given up; a run with any of them is a failed run";
};

/// One sample for every measured run, also if it is zero.
fn count(records: &[Record], wanted: fn(&Event) -> bool) -> Vec<f64> {
    if !records.iter().any(|record| record.event == Event::Started) {
        return Vec::new();
    }
    vec![records.iter().filter(|record| wanted(&record.event)).count() as f64]
}
