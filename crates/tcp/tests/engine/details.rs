//! Acknowledgments, small segments, old timestamps, idle periods and the end of slow start.

use trackbed_tcp::config::HyStart;

use crate::track::*;

/// Two connections that have moved a megabyte, which is past every quick mode, and are at rest.
fn seasoned(config: &Config) -> Track {
    let mut track = Track::alike(config.clone(), [link(), link()]);
    request(&mut track, 1_000_000);
    run_for(&mut track, Duration::from_millis(150));
    track
}

/// Full segments from the server, not yet delivered.
fn full_segments(track: &mut Track, count: usize) -> Vec<Segment> {
    let now = track.now;
    track.server().set_nagle(now, false);
    track.write(1, &vec![0; 1_448 * count])
}

#[test]
fn every_second_full_segment_is_acknowledged_and_a_single_one_after_40_ms() {
    let mut track = seasoned(&Config { batching: false, ..Config::default() });
    let mut segments = full_segments(&mut track, 6);
    assert_eq!(segments.len(), 6);
    let last = segments.pop().unwrap();
    let now = track.now;
    let mut answers = Vec::new();
    for segment in segments {
        answers.push(track.hear(0, [segment]).len());
        track.read_all(0);
        assert!(drain(track.client(), now).is_empty());
    }
    assert_eq!(answers, [0, 1, 0, 1, 0]);
    assert_eq!(track.client().poll_timeout(), Some(now + Duration::from_millis(40)));
    track.client().handle_timeout(now + Duration::from_millis(40));
    assert_eq!(drain(track.client(), now).len(), 1);
    // The end of what was written carries PSH, and is acknowledged as soon as it has been read.
    assert!(last.has(Flags::PSH));
    assert!(track.hear(0, [last]).is_empty());
    track.read_all(0);
    assert_eq!(drain(track.client(), now).len(), 1);
}

#[test]
fn without_delay_every_segment_is_acknowledged() {
    let mut track = seasoned(&Config { delayed_ack: false, ..Config::default() });
    for segment in full_segments(&mut track, 3) {
        assert_eq!(track.hear(0, [segment]).len(), 1);
    }
}

#[test]
fn data_behind_a_hole_is_reported_at_once_with_the_newest_range_first() {
    let mut track = seasoned(&Config::default());
    let segments = full_segments(&mut track, 6);
    let mut report = |at: usize| {
        let answers = track.hear(0, [segments[at].clone()]);
        assert_eq!(answers.len(), 1);
        let blocks = answers[0].options.sack;
        blocks.as_slice().iter().map(|block| (block.start, block.end)).collect::<Vec<_>>()
    };
    let range = |from: usize, to: usize| (segments[from].sequence, segments[to].end());
    assert_eq!(report(1), [range(1, 1)]);
    assert_eq!(report(3), [range(3, 3), range(1, 1)]);
    assert_eq!(report(5), [range(5, 5), range(3, 3), range(1, 1)]);
    // A duplicate comes first (RFC 2883 section 4), followed by the range that it lies in.
    assert_eq!(report(1), [range(1, 1), range(1, 1), range(5, 5)]);
    assert_eq!(report(0), [range(5, 5), range(3, 3)]);
}

#[test]
fn a_second_small_segment_waits_for_the_first() {
    let mut track = seasoned(&Config::default());
    let now = track.now;
    assert_eq!(track.write(1, b"one").len(), 1);
    assert!(track.write(1, b"two").is_empty());
    track.server().set_nagle(now, false);
    assert_eq!(drain(track.server(), now).len(), 1);
}

#[test]
fn an_old_timestamp_marks_a_segment_from_the_past() {
    let mut track = seasoned(&Config::default());
    let old = full_segments(&mut track, 1).remove(0);
    let mut forged = old.clone();
    let stamps = forged.options.timestamps.as_mut().unwrap();
    stamps.value = stamps.value.wrapping_sub(1_000);
    let before = track.client().stats().bytes_received;
    assert_eq!(track.hear(0, [forged]).len(), 1, "it is answered by an acknowledgment");
    assert_eq!(track.client().stats().bytes_received, before);
    track.hear(0, [old]);
    assert_eq!(track.client().stats().bytes_received, before + 1_448);
}

#[test]
fn the_window_halves_for_every_timeout_of_silence() {
    for (after_idle, expected) in [(true, [2, 4, 8]), (false, [1, 1, 1])] {
        for (timeouts, divisor) in (1..=3).zip(expected) {
            let config = Config { slow_start_after_idle: after_idle, ..Config::default() };
            let mut track = Track::alike(config, [link(), link()]);
            request(&mut track, 2_000_000);
            run_for(&mut track, Duration::from_millis(50));
            let stats = track.server().stats();
            let last_sent = track.now - Duration::from_millis(50);
            let now = last_sent + stats.rto * timeouts + stats.rto / 2;
            track.server().write(now, b"again").unwrap();
            drain(track.server(), now);
            let expected = (stats.cwnd_segments / divisor).max(10);
            assert!(track.server().stats().cwnd_segments.abs_diff(expected) <= 1);
        }
    }
}

#[test]
fn hystart_leaves_slow_start_before_a_loss_or_with_fewer_losses() {
    let run = |hystart| {
        let config = Config { hystart, ..Config::default() };
        let link = || Link::new(50, 40, 2_000);
        let mut track = Track::alike(config, [link(), link()]);
        Exchange::begin(&mut track, usize::MAX).run_until(Time::from_millis(2_000));
        (track.links[1].dropped, track.server().stats())
    };
    let (dropped_without, _) = run(HyStart::Off);
    assert!(dropped_without > 500, "{dropped_without}");
    // The path holds 333 packets. The train of acknowledgments shows when half of it is filled, in
    // the round after.
    let (dropped, stats) = run(HyStart::Linux);
    assert_eq!(dropped, 0);
    assert!((333..666).contains(&stats.ssthresh_segments), "{stats:?}");
    // The rise of the delay, which is all that RFC 9406 looks at, comes one round later, and then
    // the window still grows by a quarter in each of five rounds.
    let (dropped, _) = run(HyStart::Rfc9406);
    assert!(dropped * 3 < dropped_without, "{dropped} of {dropped_without}");
}
