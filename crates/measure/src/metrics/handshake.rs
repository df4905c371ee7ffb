//! Handshakes of connections.

use std::collections::BTreeMap;

use trackbed_core::event::{Event, Record};

use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "handshake_ms", durations =>
        "time from the attempt to connect until a request can be sent, per connection; almost zero \
         with early data over QUIC";
    "resumed_ratio", |records| {
        share(records, |event| matches!(event, Event::Secured { resumed: true, .. }))
    } => "share of encrypted connections that resumed an earlier session";
    "early_data_ratio",
        |records| share(records, |event| matches!(event, Event::Secured { early: true, .. })) =>
        "share of encrypted connections whose early data the server accepted";
};

fn durations(records: &[Record]) -> Vec<f64> {
    let mut attempts = BTreeMap::new();
    let mut durations = Vec::new();
    for record in records {
        match record.event {
            Event::ConnectStarted { phone, connection } => {
                attempts.insert((phone, connection), record.at);
            }
            Event::Connected { phone, connection } => {
                if let Some(start) = attempts.remove(&(phone, connection)) {
                    durations.push(ms(record.at - start));
                }
            }
            _ => {}
        }
    }
    durations
}

/// The share of the secured connections for which `wanted` is true.
fn share(records: &[Record], wanted: fn(&Event) -> bool) -> Vec<f64> {
    let secured = records.iter().filter(|r| matches!(r.event, Event::Secured { .. })).count();
    let picked = records.iter().filter(|record| wanted(&record.event)).count();
    if secured == 0 { Vec::new() } else { vec![picked as f64 / secured as f64] }
}
