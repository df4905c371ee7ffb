//! How soon listeners know.

use trackbed_core::event::{Event, Record};

use super::Metric;
use super::messages::gather;

pub(super) const METRICS: &[Metric] = metrics! {
    "warning_ms", |records| {
        let messages = gather(records);
        let told = |record: &Record| match record.event {
            Event::Warned { phone, message, .. } => {
                let intended = messages.get(&(phone, message))?.intended;
                Some(record.at.since(intended).as_secs_f64() * 1e3)
            }
            _ => None,
        };
        records.iter().filter_map(told).collect()
    } =>
        "for each accepted message and each listener, from the time at which it was to be sent \
         until all of it had arrived there";
};
