//! How long a viewer's player waits for media.

use std::collections::BTreeMap;

use trackbed_core::Time;
use trackbed_core::event::{Event, Playback, Record};

use super::Metric;

pub(super) const METRICS: &[Metric] = metrics! {
    "loading_delay_ms", loading_delays =>
        "for each piece of media that arrived, from the request for it to its last byte: waiting \
         for what is before it and for a connection, and the transfer; a piece that is asked for \
         again on a new connection counts from the first time";
    "startup_delay_ms", |records| {
        let begins = |event: &Event| match event {
            Event::ConnectStarted { phone, connection: 0 } => Some(*phone),
            _ => None,
        };
        until_playing(records, begins, false)
    } => "for each player, from its first attempt to connect until pictures move";
    "seek_delay_ms", |records| {
        let begins = |event: &Event| match event {
            Event::Playback { phone, step: Playback::Sought { .. } } => Some(*phone),
            _ => None,
        };
        until_playing(records, begins, true)
    } =>
        "for each jump of the viewer that came to play, from the jump until pictures move again; \
         of jumps in a row the last one counts";
};

fn loading_delays(records: &[Record]) -> Vec<f64> {
    let mut requests = BTreeMap::new();
    let mut delays = Vec::new();
    for record in records {
        let Event::Playback { phone, step } = record.event else { continue };
        match step {
            Playback::Requested { piece, .. } => {
                requests.entry((phone, piece)).or_insert(record.at);
            }
            Playback::Loaded { piece, .. } => {
                if let Some(asked) = requests.remove(&(phone, piece)) {
                    delays.push((record.at - asked).as_secs_f64() * 1e3);
                }
            }
            _ => {}
        }
    }
    delays
}

/// From what `begins` picks, for a phone, to the next time that its pictures move. Where
/// something begins twice before that, the last one counts if `latest`, else the first.
fn until_playing(
    records: &[Record],
    begins: impl Fn(&Event) -> Option<u32>,
    latest: bool,
) -> Vec<f64> {
    let mut begun: BTreeMap<u32, Time> = BTreeMap::new();
    let mut spans = Vec::new();
    for record in records {
        if let Some(phone) = begins(&record.event) {
            match latest {
                true => begun.insert(phone, record.at),
                false => Some(*begun.entry(phone).or_insert(record.at)),
            };
        }
        if let Event::Playback { phone, step: Playback::Playing } = record.event
            && let Some(start) = begun.remove(&phone)
        {
            spans.push((record.at - start).as_secs_f64() * 1e3);
        }
    }
    spans
}
