//! A session of a player, written by hand.

use std::time::Duration;

use trackbed_core::event::{Disturbance, Event, Playback, Record};

use super::{at, close, compute, connect};

fn step(millis: u64, step: Playback) -> Record {
    at(millis, Event::Playback { phone: 0, step })
}

fn requested(millis: u64, piece: u32, lines: u32) -> Record {
    step(millis, Playback::Requested { piece, second: piece, lines })
}

fn loaded(millis: u64, piece: u32, bytes: u64) -> Record {
    step(millis, Playback::Loaded { piece, bytes })
}

/// Connects by 20 ms; three pieces; stalls once for 300 ms, once until a jump 100 ms later; loses
/// its connection while the piece after the jump is under way.
fn session() -> Vec<Record> {
    let mut records = vec![at(0, Event::Started)];
    records.extend(connect(0, 20, (0, 0)));
    records.extend([
        requested(0, 0, 720),
        loaded(100, 0, 1_000_000),
        step(100, Playback::Playing),
        requested(100, 1, 1440),
        step(1_100, Playback::Stalled),
        loaded(1_400, 1, 4_000_000),
        step(1_400, Playback::Playing),
        requested(1_400, 2, 1440),
        step(2_400, Playback::Stalled),
        step(2_500, Playback::Sought { second: 50 }),
        step(2_500, Playback::Abandoned { piece: 2 }),
        requested(2_500, 3, 720),
        step(2_600, Playback::Sought { second: 70 }),
        step(2_600, Playback::Abandoned { piece: 3 }),
        requested(2_600, 4, 720),
        at(2_700, Event::Disturbed { phone: 0, disturbance: Disturbance::Reconnection }),
    ]);
    records.extend(connect(2_700, 2_730, (0, 1)));
    records.extend([
        requested(2_700, 4, 720),
        loaded(2_900, 4, 1_000_000),
        step(2_900, Playback::Playing),
        step(3_900, Playback::Ended { played: Duration::from_secs(3) }),
        at(3_900, Event::Finished),
    ]);
    records
}

#[test]
fn a_session_has_the_figures_that_its_steps_add_up_to() {
    let records = session();
    for (metric, expected) in [
        ("loading_delay_ms", &[100.0, 300.0, 300.0][..]),
        ("startup_delay_ms", &[100.0]),
        ("seek_delay_ms", &[300.0]),
        ("rebuffering_ms", &[400.0]),
        ("rebuffering_count", &[2.0]),
        ("resolution_switch_count", &[2.0]),
        ("media_bitrate_mbps", &[16.0]),
        ("seek_count", &[2.0]),
        ("reconnection_count", &[1.0]),
        ("reconnect_ms", &[30.0]),
        ("handshake_ms", &[20.0, 30.0]),
    ] {
        close(&compute(metric, &records), expected);
    }
}

#[test]
fn runs_without_players_have_none_of_these_figures() {
    let records = super::ten_messages();
    for metric in ["loading_delay_ms", "startup_delay_ms", "rebuffering_ms", "seek_count"] {
        close(&compute(metric, &records), &[]);
    }
}
