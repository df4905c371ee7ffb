//! Playback quality: interruptions and resolution.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::Time;
use trackbed_core::event::{Event, Playback, Record};

use super::{Metric, ms};

pub(super) const METRICS: &[Metric] = metrics! {
    "rebuffering_ms", |records| {
        let players = gather(records).into_values();
        players.map(|player| ms(player.stalled)).collect()
    } =>
        "total time that each player stalled because its buffer was empty; waits at the start and \
         after a jump do not count";
    "rebuffering_count",
        |records| gather(records).into_values().map(|player| player.stalls.into()).collect() =>
        "number of times that each player's buffer ran empty";
    "resolution_switch_count",
        |records| gather(records).into_values().map(|player| player.switches.into()).collect() =>
        "number of times that a player's piece had a different resolution from the one before";
    "media_bitrate_mbps", |records| {
        let players = gather(records).into_values().filter(|player| player.pieces > 0);
        players.map(|player| player.bytes as f64 * 8.0 / f64::from(player.pieces) / 1e6).collect()
    } =>
        "mean bit rate of each player's received pieces of one second, in 10^6 bit/s";
    "seek_count",
        |records| gather(records).into_values().map(|player| player.seeks.into()).collect() =>
        "number of jumps by each viewer";
};

#[derive(Default)]
struct Player {
    seeks: u32,
    stalled: Duration,
    stalls: u32,
    stalled_since: Option<Time>,
    switches: u32,
    pieces: u32,
    bytes: u64,
    /// The resolution of the piece in progress, and of the last one that arrived.
    asked_lines: Option<u32>,
    lines: Option<u32>,
}

impl Player {
    fn note(&mut self, at: Time, step: Playback) {
        match step {
            Playback::Requested { lines, .. } => self.asked_lines = Some(lines),
            Playback::Loaded { bytes, .. } => {
                self.pieces += 1;
                self.bytes += bytes;
                self.switches += u32::from(self.lines.is_some() && self.lines != self.asked_lines);
                self.lines = self.asked_lines;
            }
            Playback::Stalled => {
                self.stalls += 1;
                self.stalled_since = Some(at);
            }
            Playback::Playing | Playback::Sought { .. } | Playback::Ended { .. } => {
                self.seeks += u32::from(matches!(step, Playback::Sought { .. }));
                if let Some(since) = self.stalled_since.take() {
                    self.stalled += at - since;
                }
            }
            _ => {}
        }
    }
}

fn gather(records: &[Record]) -> BTreeMap<u32, Player> {
    let mut players: BTreeMap<u32, Player> = BTreeMap::new();
    for record in records {
        if let Event::Playback { phone, step } = record.event {
            players.entry(phone).or_default().note(record.at, step);
        }
    }
    players
}
