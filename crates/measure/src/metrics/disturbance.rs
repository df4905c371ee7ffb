//! What it costs to lose a connection, or an address, on purpose.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Disturbance, Event, Record};

use super::Metric;

pub(super) const RECONNECT_MS: Metric = Metric {
    name: "reconnect_ms",
    help: "for each connection that a phone had to replace, from the disturbance that cost it until \
           a request may be sent over the next one, time-outs and failed attempts included",
    compute: |records| {
        millis(&gather(records), |spell| spell.connected.filter(|_| spell.has_reconnected))
    },
};

pub(super) const INTERRUPTION_MS: Metric = Metric {
    name: "interruption_ms",
    help: "for each disturbance, until the next byte arrives that was not there before: at a phone \
           that fetches, in its order; at the server where a phone that sends had to reconnect",
    compute: |records| millis(&gather(records), |spell| spell.resumed),
};

pub(super) const RECONNECTION_COUNT: Metric = Metric {
    name: "reconnection_count",
    help: "connections that phones lost to disturbances and replaced",
    compute: |records| count(records, |spell| spell.has_reconnected),
};

pub(super) const MIGRATION_COUNT: Metric = Metric {
    name: "migration_count",
    help: "moves to another network that a phone's connection outlived",
    compute: |records| {
        count(records, |spell| spell.what == Disturbance::Move && !spell.has_reconnected)
    },
};

/// A disturbance and what followed until the phone's next one.
struct Spell {
    what: Disturbance,
    at: Time,
    has_reconnected: bool,
    /// When the next connection could be used.
    connected: Option<Time>,
    /// When something new had come.
    resumed: Option<Time>,
}

/// All disturbances in the order in which they came.
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
                connected: None,
                resumed: None,
            });
            continue;
        }
        let (Event::ConnectStarted { phone, .. }
        | Event::Connected { phone, .. }
        | Event::Resumed { phone }) = record.event
        else {
            continue;
        };
        let Some(spell) = last_of.get(&phone).map(|index| &mut spells[*index]) else { continue };
        match record.event {
            Event::Connected { .. } => spell.connected = spell.connected.or(Some(record.at)),
            Event::Resumed { .. } => spell.resumed = spell.resumed.or(Some(record.at)),
            _ => spell.has_reconnected = true,
        }
    }
    spells
}

fn millis(spells: &[Spell], end: impl Fn(&Spell) -> Option<Time>) -> Vec<f64> {
    let span = |spell: &Spell| -> Option<Duration> { Some(end(spell)? - spell.at) };
    spells.iter().filter_map(span).map(|span| span.as_secs_f64() * 1e3).collect()
}

/// One sample for every run with disturbances, also where it is zero.
fn count(records: &[Record], wanted: impl Fn(&Spell) -> bool) -> Vec<f64> {
    let spells = gather(records);
    match spells.is_empty() {
        true => Vec::new(),
        false => vec![spells.iter().filter(|spell| wanted(spell)).count() as f64],
    }
}
