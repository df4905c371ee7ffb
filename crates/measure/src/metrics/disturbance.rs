//! The cost of losing a connection, or an address, on purpose.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Disturbance, Event, Record};

use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "reconnect_ms", |records| millis(&gather(records), |spell| spell.reconnected) =>
        "time from the disturbance that breaks a phone's connection until the next one can send a \
         request, timeouts and failed attempts included";
    "interruption_ms", |records| millis(&gather(records), |spell| spell.interruption) =>
        "time without new in-order data at the receiver after each disturbance: until the first \
         byte over the next connection or, if the connection survives, the longest gap before the \
         next disturbance";
    "reconnection_count", |records| count(records, |spell| spell.has_reconnected) =>
        "connections broken by disturbances and replaced";
    "migration_count", |records| {
        count(records, |spell| spell.what == Disturbance::Move && !spell.has_reconnected)
    } => "moves to another network that a phone's connection survived";
};

/// A disturbance and its consequences until the phone's next one.
struct Spell {
    what: Disturbance,
    at: Time,
    has_reconnected: bool,
    /// The time until the next connection could be used.
    reconnected: Option<Duration>,
    interruption: Option<Duration>,
}

/// All disturbances in order of time.
fn gather(records: &[Record]) -> Vec<Spell> {
    let mut spells: Vec<Spell> = Vec::new();
    let mut last_of = BTreeMap::new();
    for record in records {
        if let Event::Disturbed { phone, disturbance } = record.event {
            last_of.insert(phone, spells.len());
            spells.push(Spell {
                what: disturbance,
                at: record.at,
                has_reconnected: false,
                reconnected: None,
                interruption: None,
            });
            continue;
        }
        let (Event::ConnectStarted { phone, .. }
        | Event::Connected { phone, .. }
        | Event::Resumed { phone }
        | Event::Outlived { phone, .. }) = record.event
        else {
            continue;
        };
        let Some(spell) = last_of.get(&phone).map(|index| &mut spells[*index]) else { continue };
        let passed = || Some(record.at - spell.at);
        match record.event {
            Event::Connected { .. } => spell.reconnected = spell.reconnected.or_else(passed),
            Event::Resumed { .. } => spell.interruption = spell.interruption.or_else(passed),
            Event::Outlived { silence, .. } => {
                spell.interruption = spell.interruption.or(Some(silence));
            }
            _ => spell.has_reconnected = true,
        }
    }
    spells
}

fn millis(spells: &[Spell], span: impl Fn(&Spell) -> Option<Duration>) -> Vec<f64> {
    spells.iter().filter_map(span).map(ms).collect()
}

/// One sample for every run with disturbances, also if it is zero.
fn count(records: &[Record], wanted: impl Fn(&Spell) -> bool) -> Vec<f64> {
    let spells = gather(records);
    match spells.is_empty() {
        true => Vec::new(),
        false => vec![spells.iter().filter(|spell| wanted(spell)).count() as f64],
    }
}
