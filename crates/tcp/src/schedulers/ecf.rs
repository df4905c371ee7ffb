//! ECF, Earliest Completion First (Lim, Nahum, Towsley and Gibbens, "ECF: An MPTCP Path Scheduler
//! to Manage Heterogeneous Paths", CoNEXT 2017; `mptcp_ecf.c`).
//!
//! When the fastest path is full, it estimates whether the unsent data completes sooner by waiting
//! for it or by using the next one.
//!
//! For the deviation sigma of the round-trip time the kernel's module takes half its `rttvar`,
//! which is four mean deviations, and at least 200 ms. Here sigma is half of RTTVAR as in RFC 6298:
//! the margin shrinks with the jitter, as in the paper.

use super::{Action, PathView, Scheduler, SchedulingAlgorithm, View};

pub(crate) static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "ecf",
    summary: "waits for the fastest path if the transfer then completes earlier (Lim et al. 2017)",
    source: "Lim et al., CoNEXT 2017; multipath-tcp.org kernel, mptcp_ecf.c",
    parameters: &[],
    build: |_, _| Box::new(Earliest { waiting: false }),
};

#[derive(Debug)]
struct Earliest {
    /// It waits for the fastest path, and goes on doing so more readily.
    waiting: bool,
}

impl Scheduler for Earliest {
    fn next(&mut self, view: &View<'_>) -> Action {
        view.send_or_wait(|fast, slow| self.waits(view.unsent_bytes, fast, slow))
    }
}

impl Earliest {
    /// True if waiting for `fast` is better than sending on `slow` now.
    fn waits(&mut self, unsent: u64, fast: &PathView, slow: &PathView) -> bool {
        let [rtt_f, rtt_s] = [fast, slow].map(|path| path.srtt.as_nanos());
        let [cwnd_f, cwnd_s] = [fast, slow].map(|path| u128::from(path.cwnd_bytes()));
        let [x_f, x_s] = [cwnd_f, cwnd_s].map(|cwnd| cwnd.max(u128::from(unsent)));
        let delta = fast.rttvar.max(slow.rttvar).as_nanos() / 2;
        // 1 + beta while waiting, in units of beta.
        let patience = INVERSE_BETA + u128::from(self.waiting);
        let sooner_on_fast =
            INVERSE_BETA * rtt_f * (x_f + cwnd_f) < cwnd_f * (rtt_s + delta) * patience;
        if !sooner_on_fast {
            self.waiting = false;
            return false;
        }
        let slow_is_late = rtt_s * x_s >= cwnd_s * (2 * rtt_f + delta);
        self.waiting |= slow_is_late;
        slow_is_late
    }
}

/// 1/beta, with beta = 0.25 (section 4 of the paper).
const INVERSE_BETA: u128 = 4;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::fixture::{Scene, build, full, path, segment};
    use super::super::{PathId, PathView};
    use super::*;

    /// Fast and full at 20 ms, slow and empty at `slow_ms`; both windows 10 kB.
    fn scene(slow_ms: u64, unsent: u64) -> Scene {
        let mut scene = Scene::new(vec![full(0, 20), path(1, slow_ms)]);
        scene.unsent_bytes = unsent;
        scene
    }

    fn choice(scene: &Scene) -> Action {
        build(&ENTRY, &[]).next(&scene.view())
    }

    #[test]
    fn the_end_of_a_transfer_waits_for_the_fast_path() {
        // k = 5 kB, so that X = 10 kB: C1: 20 (10 + 10) < 10 * 100; C2: 100 * 10 >= 10 * 40.
        assert_eq!(choice(&scene(100, 5_000)), Action::WAIT);
        // C1 fails: 20 * 20 < 10 * 39 is false.
        assert_eq!(choice(&scene(39, 5_000)), segment(1));
        // 20 * 20 < 10 * 41, and C2: 41 * 10 >= 10 * 40.
        assert_eq!(choice(&scene(41, 5_000)), Action::WAIT);
    }

    #[test]
    fn much_data_uses_both() {
        // C1: 20 (40 + 10) < 10 * 100 is false; with 39 kB it holds.
        assert_eq!(choice(&scene(100, 40_000)), segment(1));
        assert_eq!(choice(&scene(100, 39_000)), Action::WAIT);
    }

    #[test]
    fn a_fast_path_with_room_is_taken_at_once() {
        let mut scene = scene(100, 5_000);
        scene.paths[0] = path(0, 20);
        assert_eq!(choice(&scene), segment(0));
    }

    #[test]
    fn jitter_makes_the_estimates_uncertain() {
        // sigma = 12 ms / 2: C1: 20 * 20 < 10 (38 + 6); C2: 38 * 10 >= 10 (40 + 6) fails.
        let mut scene = scene(38, 5_000);
        scene.paths[1] = PathView { rttvar: Duration::from_millis(12), ..scene.paths[1].clone() };
        assert_eq!(choice(&scene), segment(1));
    }

    #[test]
    fn who_waits_goes_on_waiting_a_little_longer() {
        let mut scheduler = build(&ENTRY, &[]);
        // Waiting: (1 + 1/4) * 1000 = 1250 against 20 (k + 10).
        assert_eq!(scheduler.next(&scene(100, 39_000).view()), Action::WAIT);
        assert_eq!(scheduler.next(&scene(100, 52_000).view()), Action::WAIT);
        assert_eq!(scheduler.next(&scene(100, 53_000).view()), segment(1));
        // That ended it.
        assert_eq!(scheduler.next(&scene(100, 40_000).view()), segment(1));
    }

    #[test]
    fn sending_although_the_fast_path_is_sooner_leaves_the_patience_as_it_was() {
        let mut scheduler = Earliest { waiting: true };
        let mut scene = scene(39, 5_000);
        // C1 with patience: 400 < 390 * 1.25; C2: 39 * 10 >= 400 fails.
        let [fast, slow] = [PathId(0), PathId(1)].map(|id| scene.view().path(id).unwrap().clone());
        assert!(!scheduler.waits(5_000, &fast, &slow));
        assert!(scheduler.waiting);
        scene.paths[1].srtt = Duration::from_millis(30);
        assert_eq!(scheduler.next(&scene.view()), segment(1));
        assert!(!scheduler.waiting);
    }
}
