//! How many messages were taken, refused and given up: together, all of them.

use trackbed_core::event::{Event, Record};

use super::Metric;
use super::messages::{REFUSED, TAKEN};

pub(super) const ANSWERED_COUNT: Metric = Metric {
    name: "answered_count",
    help: "messages that the server took (status 200 to 299)",
    compute: |records| {
        count(
            records,
            |event| matches!(event, Event::Answered { status, .. } if TAKEN.contains(status)),
        )
    },
};

pub(super) const REFUSED_COUNT: Metric = Metric {
    name: "refused_count",
    help: "messages that the server refused (status 400 to 499), such as malformed ones",
    compute: |records| {
        count(
            records,
            |event| matches!(event, Event::Answered { status, .. } if REFUSED.contains(status)),
        )
    },
};

pub(super) const FAILED_COUNT: Metric = Metric {
    name: "failed_count",
    help: "messages, transfers and connections that were given up; a run with any is a failed run",
    compute: |records| count(records, |event| matches!(event, Event::Failed { .. })),
};

/// One sample for every run that was measured at all, also where it is zero.
fn count(records: &[Record], wanted: fn(&Event) -> bool) -> Vec<f64> {
    if !records.iter().any(|record| record.event == Event::Started) {
        return Vec::new();
    }
    vec![records.iter().filter(|record| wanted(&record.event)).count() as f64]
}
