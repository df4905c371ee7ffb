//! How many messages were taken, refused and given up: together, all of them.

use trackbed_core::event::{Event, Record};

use super::Metric;
use super::messages::{REFUSED, TAKEN};

pub(super) const METRICS: &[Metric] = metrics! {
    "answered_count", |records| {
        count(
            records,
            |event| matches!(event, Event::Answered { status, .. } if TAKEN.contains(status)),
        )
    } => "messages that the server took (status 200 to 299)";
    "refused_count", |records| {
        count(
            records,
            |event| matches!(event, Event::Answered { status, .. } if REFUSED.contains(status)),
        )
    } => "messages that the server refused (status 400 to 499), such as malformed ones";
    "failed_count", |records| count(records, |event| matches!(event, Event::Failed { .. })) =>
        "messages, transfers and connections that were given up; a run with any is a failed run";
};

/// One sample for every run that was measured at all, also where it is zero.
fn count(records: &[Record], wanted: fn(&Event) -> bool) -> Vec<f64> {
    if !records.iter().any(|record| record.event == Event::Started) {
        return Vec::new();
    }
    vec![records.iter().filter(|record| wanted(&record.event)).count() as f64]
}
