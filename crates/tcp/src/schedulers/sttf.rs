//! STTF, Shortest Transfer Time First (Hurtig, Grinnemo, Brunstrom, Ferlin, Alay and Kuhn,
//! "Low-Latency Scheduling in MPTCP", IEEE/ACM ToN 2019).
//!
//! For the next segment the time is estimated at which each path would have it at the peer,
//! behind what is queued there, with a window that grows as the sender's state says. The path need
//! not have room in its window now.

use std::time::Duration;

use super::{Action, PathView, Recovery, Scheduler, SchedulingAlgorithm, View};

pub(crate) static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "sttf",
    summary: "the path that would deliver the segment first, queues included (Hurtig et al. 2019)",
    source: "Hurtig et al., IEEE/ACM Transactions on Networking 2019",
    parameters: &[],
    build: |_, _| Box::new(Shortest),
};

#[derive(Debug)]
struct Shortest;

impl Scheduler for Shortest {
    fn next(&mut self, view: &View<'_>) -> Action {
        if view.sendable_bytes() == 0 {
            return Action::WAIT;
        }
        let able = view.candidates().filter(|path| path.recovery != Recovery::TimedOut);
        match able.min_by_key(|path| transfer_time(path)) {
            Some(path) if path.room_bytes > 0 => view.send_segment(path.id),
            _ => Action::WAIT,
        }
    }
}

fn transfer_time(path: &PathView) -> Duration {
    let mut waiting = path.queued_bytes.div_ceil(path.mss_bytes.max(1)) + 1;
    let free = path.cwnd_segments.saturating_sub(path.in_flight_segments);
    if waiting <= free {
        return path.srtt / 2;
    }
    waiting -= free;
    let mut cwnd = path.cwnd_segments.max(1);
    let mut rounds = 1;
    loop {
        cwnd = if cwnd < path.ssthresh_segments {
            cwnd.saturating_mul(2).min(path.ssthresh_segments)
        } else {
            cwnd.saturating_add(1)
        };
        if waiting <= cwnd {
            return path.srtt * rounds + path.srtt / 2;
        }
        waiting -= cwnd;
        rounds += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, build, full, path, segment};
    use super::*;

    fn time(ssthresh: u32, in_flight: u32, queued: u32) -> u64 {
        let path = PathView {
            ssthresh_segments: ssthresh,
            in_flight_segments: in_flight,
            queued_bytes: queued * 1_000,
            ..path(0, 20)
        };
        transfer_time(&path).as_millis() as u64
    }

    #[test]
    fn rounds_are_counted_with_the_window_that_grows() {
        // Window 10. What fits goes at once and takes half a round trip.
        assert_eq!(time(5, 0, 0), 10);
        assert_eq!(time(5, 4, 5), 10);
        // The next round has 11 in congestion avoidance, then 12.
        assert_eq!(time(5, 4, 6), 30);
        assert_eq!(time(5, 10, 10), 30);
        assert_eq!(time(5, 10, 11), 50);
        assert_eq!(time(5, 10, 22), 50);
        assert_eq!(time(5, 10, 23), 70);
        // Slow start up to 30: 20, 30, 31.
        assert_eq!(time(30, 10, 19), 30);
        assert_eq!(time(30, 10, 49), 50);
        assert_eq!(time(30, 10, 80), 70);
        assert_eq!(time(30, 10, 81), 90);
    }

    #[test]
    fn a_full_fast_path_may_still_be_the_first() {
        // 30 ms behind a full window at 20 ms, against 40 ms on the empty one at 80 ms.
        let mut scene = Scene::new(vec![full(0, 20), path(1, 80)]);
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), segment(0));
        scene.paths[1] = path(1, 59);
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), segment(1));
        scene.paths[1] = path(1, 80);
        scene.paths[0].room_bytes = 0;
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), Action::WAIT);
    }

    #[test]
    fn a_queue_is_shared_as_both_would_finish() {
        // In congestion avoidance 11 segments of the next round at 20 ms (30 ms) go before the
        // ten at once at 80 ms (40 ms), and those before the rounds that follow (50 ms).
        let fast = PathView { ssthresh_segments: 1, ..full(0, 20) };
        let mut scene = Scene::new(vec![fast, path(1, 80)]);
        let mut scheduler = build(&ENTRY, &[]);
        let order: Vec<Action> = (0..22).map(|_| scene.step(&mut *scheduler)).collect();
        assert_eq!(order[..11], [segment(0); 11]);
        assert_eq!(order[11..21], [segment(1); 10]);
        assert_eq!(order[21], segment(0));
    }
}
