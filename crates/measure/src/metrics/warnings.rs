//! How soon listeners are warned.

use trackbed_core::event::{Event, Record};

use super::messages::gather;
use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "warning_ms", |records| {
        let messages = gather(records);
        let told = |record: &Record| match record.event {
            Event::Warned { phone, message, .. } => {
                let intended = messages.get(&(phone, message))?.intended;
                Some(ms(record.at.since(intended)))
            }
            _ => None,
        };
        records.iter().filter_map(told).collect()
    } =>
        "time of each accepted message from its intended time until it has arrived completely, for \
         each listener";
};
