//! BLEST, Blocking Estimation (Ferlin, Alay, Mehani and Boreli, "BLEST: Blocking Estimation-based
//! MPTCP Scheduler for Heterogeneous Networks", IFIP Networking 2016; `mptcp_blest.c`).
//!
//! When the fastest path is full, a segment goes on a slower one only if the peer's window has
//! room for it and for all that the fastest path could send until it is acknowledged.
//!
//! In the original the smallest and the largest round-trip time of a path never decay, so that one
//! spike at a handover counts for ever. With `memory` only recent ones count.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use trackbed_core::{Time, parameters};

use super::{Action, PathId, PathView, Scheduler, SchedulingAlgorithm, View};

pub(crate) static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "blest",
    summary: "avoids a slow path where it would block the peer's window (Ferlin et al. 2016)",
    source: "Ferlin et al., IFIP Networking 2016; multipath-tcp.org kernel, mptcp_blest.c",
    parameters: parameters! {
        "memory": Time, optional =>
            "how long a minimum or maximum round-trip time is remembered; default: for the whole \
             connection, as in the original";
    },
    build: |arguments, _| Box::new(Blocking::new(arguments.get("memory"))),
};

#[derive(Debug)]
struct Blocking {
    memory: Option<Duration>,
    extremes: BTreeMap<PathId, Extremes>,
    /// The correction of the estimate, in hundredths.
    lambda: u64,
    lambda_at: Time,
    /// The window did block since lambda was set.
    retransmitted: bool,
}

impl Scheduler for Blocking {
    fn next(&mut self, view: &View<'_>) -> Action {
        for path in view.paths.iter().filter(|path| !path.srtt.is_zero()) {
            self.extremes.entry(path.id).or_default().note(path.srtt, view.now, self.memory);
        }
        view.send_or_wait(|fast, slow| self.would_block(view, fast, slow))
    }

    fn on_opportunistic_retransmission(&mut self) {
        self.retransmitted = true;
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.extremes.remove(&path);
    }
}

impl Blocking {
    fn new(memory: Option<Duration>) -> Blocking {
        Blocking {
            memory,
            extremes: BTreeMap::new(),
            lambda: INITIAL_LAMBDA,
            lambda_at: Time::ZERO,
            retransmitted: false,
        }
    }

    /// True if a segment on `slow` would leave too little window for `fast`.
    fn would_block(&mut self, view: &View<'_>, fast: &PathView, slow: &PathView) -> bool {
        self.update_lambda(view.now, slow.id);
        let linger = linger(slow, self.range(slow.id, slow.srtt));
        let (min_f, max_f) = self.range(fast.id, fast.srtt);
        let bytes = segments_in(fast, linger, (min_f + max_f) / 2) * u128::from(fast.mss_bytes);
        let next = u64::from(slow.mss_bytes).min(view.unsent_bytes);
        let held = next + slow.in_flight_bytes() + u64::from(slow.queued_bytes);
        let room = view.window_bytes().saturating_sub(held);
        bytes * u128::from(self.lambda) > u128::from(room) * 100
    }

    /// At most once in the smallest round-trip time of the slow path.
    fn update_lambda(&mut self, now: Time, slow: PathId) {
        let (least, _) = self.range(slow, Duration::ZERO);
        if now - self.lambda_at < least {
            return;
        }
        let lambda = if std::mem::take(&mut self.retransmitted) {
            self.lambda + LAMBDA_RISE
        } else {
            self.lambda - LAMBDA_FALL
        };
        self.lambda = lambda.clamp(MIN_LAMBDA, MAX_LAMBDA);
        self.lambda_at = now;
    }

    /// The smallest and the largest round-trip time of a path, `otherwise` for both if there is
    /// none yet.
    fn range(&self, path: PathId, otherwise: Duration) -> (Duration, Duration) {
        self.extremes.get(&path).and_then(Extremes::range).unwrap_or((otherwise, otherwise))
    }
}

/// How long a segment that is sent on `path` now takes to be acknowledged.
fn linger(path: &PathView, (min, max): (Duration, Duration)) -> Duration {
    let next = path.in_flight_segments.saturating_add(1);
    if next >= path.cwnd_segments {
        return max;
    }
    path.srtt.max(min + (max - min) * next / path.cwnd_segments)
}

/// How many segments `path` can send during `span`, in rounds of `rtt`.
fn segments_in(path: &PathView, span: Duration, rtt: Duration) -> u128 {
    let rounds = span.as_nanos() / rtt.as_nanos().max(1) + 1;
    let cwnd = u128::from(path.cwnd_segments);
    if path.ssthresh_segments == u32::MAX {
        return cwnd * ((1 << rounds.min(MAX_DOUBLINGS)) - 1);
    }
    // The window grows by one a round: (2 w + n - 1) n / 2 in all.
    let window = cwnd.max(u128::from(path.ssthresh_segments) + 1);
    let rounds = rounds.min(MAX_ROUNDS);
    (2 * window + rounds - 1) * rounds / 2
}

/// The smallest and the largest round-trip time of a path: those of spans of a tenth of the
/// memory, the earliest first; without a memory there is one span.
#[derive(Debug, Default)]
struct Extremes {
    spans: VecDeque<(Time, Duration, Duration)>,
}

impl Extremes {
    fn note(&mut self, rtt: Duration, now: Time, memory: Option<Duration>) {
        if let Some(memory) = memory {
            while self.spans.front().is_some_and(|(start, ..)| now - *start > memory) {
                self.spans.pop_front();
            }
        }
        match self.spans.back_mut() {
            Some((start, min, max)) if memory.is_none_or(|memory| now - *start < memory / 10) => {
                (*min, *max) = ((*min).min(rtt), (*max).max(rtt));
            }
            _ => self.spans.push_back((now, rtt, rtt)),
        }
    }

    fn range(&self) -> Option<(Duration, Duration)> {
        let min = self.spans.iter().map(|(_, min, _)| *min).min()?;
        let max = self.spans.iter().map(|(.., max)| *max).max()?;
        Some((min, max))
    }
}

/// Lambda and its steps, in hundredths.
const INITIAL_LAMBDA: u64 = 120;
const MIN_LAMBDA: u64 = 100;
const MAX_LAMBDA: u64 = 130;
const LAMBDA_RISE: u64 = 4;
const LAMBDA_FALL: u64 = 1;
/// Rounds of slow start that are reckoned with.
const MAX_DOUBLINGS: u128 = 16;
/// Beyond any window; only so that numbers stay within their type.
const MAX_ROUNDS: u128 = 1 << 32;

#[cfg(test)]
mod tests {
    use trackbed_core::parameter::Value;

    use super::super::fixture::{MSS, Scene, build, full, path, segment};
    use super::*;

    fn ms(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    /// Fast and full at 20 ms in congestion avoidance (threshold 5, window 10), slow and empty at
    /// 100 ms, and a window of the peer of this size.
    fn scene(window: u64) -> Scene {
        let fast = PathView { ssthresh_segments: 5, ..full(0, 20) };
        let mut scene = Scene::new(vec![fast, path(1, 100)]);
        scene.window_room_bytes = window;
        scene
    }

    #[test]
    fn the_fast_path_counts_in_rounds() {
        let avoiding = &scene(0).paths[0];
        // 100/20 + 1 = 6 rounds: (10 + 5/2) * 6 = 75.
        assert_eq!(segments_in(avoiding, ms(100), ms(20)), 75);
        assert_eq!(segments_in(avoiding, ms(19), ms(20)), 10);
        // A threshold above the window: (20 + 5/2) * 6.
        let below = PathView { ssthresh_segments: 19, ..avoiding.clone() };
        assert_eq!(segments_in(&below, ms(100), ms(20)), 135);
        // The first slow start: 10 (2^6 - 1).
        assert_eq!(segments_in(&full(0, 20), ms(100), ms(20)), 630);
        assert_eq!(segments_in(&full(0, 20), ms(100_000), ms(20)), 655_350);
    }

    #[test]
    fn the_window_must_hold_what_both_send() {
        // 75 segments at lambda = 1.19 (it falls by 0.01 at its first update) are 89,250 bytes,
        // and 1,000 for the segment itself.
        let choose = |window| build(&ENTRY, &[]).next(&scene(window).view());
        assert_eq!(choose(90_250), segment(1));
        assert_eq!(choose(90_249), Action::WAIT);
        let mut with_flight = scene(93_249);
        with_flight.paths[1].queued_bytes = 1_000;
        with_flight.paths[1].in_flight_segments = 2;
        // Now 4,000 bytes would be held up.
        assert_eq!(build(&ENTRY, &[]).next(&with_flight.view()), Action::WAIT);
        with_flight.window_room_bytes += 1;
        assert_eq!(build(&ENTRY, &[]).next(&with_flight.view()), segment(1));
    }

    #[test]
    fn what_is_out_belongs_to_the_window() {
        let mut scene = scene(80_250);
        scene.next_offset = 10_000;
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), segment(1));
    }

    #[test]
    fn a_full_slow_path_lingers_longest() {
        let range = (ms(50), ms(150));
        let slow = |in_flight| PathView { in_flight_segments: in_flight, ..path(1, 80) };
        // 50 + 100 * 1/10 = 60 ms is less than the smoothed time; 50 + 100 * 8/10 is more.
        assert_eq!(linger(&slow(0), range), ms(80));
        assert_eq!(linger(&slow(7), range), ms(130));
        assert_eq!(linger(&slow(9), range), ms(150));
        assert_eq!(linger(&slow(10), range), ms(150));
    }

    #[test]
    fn lambda_follows_what_really_blocked() {
        let mut blest = Blocking::new(None);
        let mut scene = scene(1 << 30);
        let mut lambda = |blest: &mut Blocking, ms| {
            scene.now = Time::from_millis(ms);
            blest.next(&scene.view());
            blest.lambda
        };
        assert_eq!(lambda(&mut blest, 1_000), 119);
        // Not twice in 100 ms.
        blest.on_opportunistic_retransmission();
        assert_eq!(lambda(&mut blest, 1_099), 119);
        assert_eq!(lambda(&mut blest, 1_100), 123);
        assert_eq!(lambda(&mut blest, 1_200), 122);
        for round in 0..5 {
            blest.on_opportunistic_retransmission();
            lambda(&mut blest, 1_300 + round * 100);
        }
        assert_eq!(blest.lambda, 130);
        for round in 0..60 {
            lambda(&mut blest, 2_000 + round * 100);
        }
        assert_eq!(blest.lambda, 100);
    }

    #[test]
    fn a_spike_counts_for_ever_or_for_a_while() {
        let memory = Value::Time(Duration::from_secs(10));
        for (given, blocked) in [(vec![], true), (vec![("memory", memory)], false)] {
            let mut scheduler = build(&ENTRY, &given);
            let mut scene = scene(1 << 30);
            scene.paths[1].srtt = Duration::from_secs(3);
            scheduler.next(&scene.view());
            scene.paths[1].srtt = ms(100);
            for second in 2..=20 {
                scene.now = Time::from_millis(second * 1_000);
                scheduler.next(&scene.view());
            }
            // The next segment fills the slow path: it lingers for 100 ms, or for 3 s, in which
            // the fast path sends 151 rounds: (10 + 75) * 151 segments.
            scene.paths[1].in_flight_segments = 9;
            scene.window_room_bytes = 12_000 * u64::from(MSS);
            let expected = if blocked { Action::WAIT } else { segment(1) };
            assert_eq!(scheduler.next(&scene.view()), expected);
        }
    }
}
