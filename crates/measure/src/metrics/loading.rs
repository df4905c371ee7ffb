//! How long a viewer's player waits for media.

use std::collections::BTreeMap;

use trackbed_core::Time;
use trackbed_core::event::{Event, Playback, Record};

use super::Metric;

pub(super) const METRICS: &[Metric] = metrics! {
    "loading_delay_ms", loading_delays =>
        "for each piece of media that a viewer waited for, from when it was needed and asked for to its \
         last byte, waiting for a connection and for what is before it included: the first piece of a \
         start or after a jump from its request, a piece fetched ahead that comes too late from when \
         pictures stood still; what is there in time is not counted, nor what a jump leaves";
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
    let mut viewers: BTreeMap<u32, Viewer> = BTreeMap::new();
    let mut delays = Vec::new();
    for record in records {
        let Event::Playback { phone, step } = record.event else { continue };
        let viewer = viewers.entry(phone).or_default();
        match step {
            Playback::Requested { piece, .. } if viewer.asked.is_none_or(|(of, _)| of != piece) => {
                viewer.asked = Some((piece, record.at));
            }
            Playback::Stalled | Playback::Sought { .. } => viewer.needs_since = Some(record.at),
            Playback::Loaded { .. } => {
                if let (Some((_, asked)), Some(needed)) = (viewer.asked, viewer.needs_since.take())
                {
                    delays.push((record.at - needed.max(asked)).as_secs_f64() * 1e3);
                }
            }
            _ => {}
        }
    }
    delays
}

/// Whether the viewer waits for the piece that is to be played at that moment.
struct Viewer {
    /// Since when nothing is there to play.
    needs_since: Option<Time>,
    /// The last piece that was asked for, and when for the first time.
    asked: Option<(u32, Time)>,
}

/// At first a viewer needs a piece.
impl Default for Viewer {
    fn default() -> Viewer {
        Viewer { needs_since: Some(Time::ZERO), asked: None }
    }
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
