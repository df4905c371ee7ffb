//! How long a viewer's player waits for media.

use std::collections::BTreeMap;

use trackbed_core::Time;
use trackbed_core::event::{Event, Playback, Record};

use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "loading_delay_ms", loading_delays =>
        "waiting time for each piece of media not there in time, from its request (at a start or \
         after a jump) or from the stall until its last byte, connection included; pieces \
         abandoned by a jump do not count";
    "startup_delay_ms", |records| {
        let begins = |event: &Event| match event {
            Event::ConnectStarted { phone, connection: 0 } => Some(*phone),
            _ => None,
        };
        until_playing(records, begins, false)
    } => "time from each player's first attempt to connect until playback starts";
    "seek_delay_ms", |records| {
        let begins = |event: &Event| match event {
            Event::Playback { phone, step: Playback::Sought { .. } } => Some(*phone),
            _ => None,
        };
        until_playing(records, begins, true)
    } =>
        "time from each jump of the viewer until playback resumes; of successive jumps the last \
         counts";
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
                let needed = viewer.asked.zip(viewer.needs_since.take());
                delays.extend(needed.map(|((_, asked), needed)| ms(record.at - needed.max(asked))));
            }
            _ => {}
        }
    }
    delays
}

/// Whether the viewer waits for the piece to be played next.
struct Viewer {
    /// Since when there is nothing to play.
    needs_since: Option<Time>,
    /// The last requested piece, and the time of its first request.
    asked: Option<(u32, Time)>,
}

/// At first a viewer needs a piece.
impl Default for Viewer {
    fn default() -> Viewer {
        Viewer { needs_since: Some(Time::ZERO), asked: None }
    }
}

/// For each phone, the time from an event that `begins` picks to the next start of playback. If
/// several come first, the last one counts if `latest`, else the first.
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
            spans.push(ms(record.at - start));
        }
    }
    spans
}
