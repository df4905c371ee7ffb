//! Handover-aware scheduling, around any scheduler: the inner scheduler does not see blocked paths
//! and chooses among the others. If no other path is usable, it sees them all.
//!
//! Proactively (PHA; "Proactive Handover-Aware Packet Scheduling for MPTCP with Multiple Cellular
//! Networks on High-Speed Trains", Journal of KICS 2024) a predictor marks a path as
//! [`PathView::blocked`] before trouble, and removes the mark afterwards: a handover table with a
//! position, or an oracle that knows the true times. Reactively, as a baseline, the path is marked
//! when its handover begins, and what is in flight on it is sent again on the others
//! ([`MultipathConfig::reactive`](crate::multipath::MultipathConfig::reactive)).
//!
//! While nothing is blocked, the inner scheduler sees exactly what it would see without this
//! wrapper.

use super::{Action, Outstanding, PathAcked, PathId, PathView, Reinjection, Scheduler, View};

/// A scheduler that honours [`PathView::blocked`].
#[derive(Debug)]
pub struct HandoverAware {
    inner: Box<dyn Scheduler>,
    shown: Vec<PathView>,
}

impl HandoverAware {
    /// Hides blocked paths from `inner`.
    pub fn new(inner: Box<dyn Scheduler>) -> HandoverAware {
        HandoverAware { inner, shown: Vec::new() }
    }
}

impl Scheduler for HandoverAware {
    fn next(&mut self, view: &View<'_>) -> Action {
        self.inner.next(&without_blocked(&mut self.shown, view))
    }

    fn reinject(&mut self, view: &View<'_>, data: &Outstanding) -> Option<PathId> {
        self.inner.reinject(&without_blocked(&mut self.shown, view), data)
    }

    fn repeat_oldest(&mut self, view: &View<'_>) -> Option<PathId> {
        self.inner.repeat_oldest(&without_blocked(&mut self.shown, view))
    }

    fn reinjection(&self) -> Reinjection {
        self.inner.reinjection()
    }

    fn on_acked(&mut self, acked: &PathAcked) {
        self.inner.on_acked(acked);
    }

    fn on_opportunistic_retransmission(&mut self) {
        self.inner.on_opportunistic_retransmission();
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.inner.on_path_removed(path);
    }
}

/// The view without the blocked paths; unchanged if no usable path would be left.
fn without_blocked<'a>(shown: &'a mut Vec<PathView>, view: &View<'a>) -> View<'a> {
    let free = |path: &&PathView| !path.blocked;
    let all_free = view.paths.iter().all(|path| free(&path));
    if all_free || !view.paths.iter().filter(free).any(PathView::is_usable) {
        return *view;
    }
    shown.clear();
    shown.extend(view.paths.iter().filter(free).cloned());
    View { paths: shown, ..*view }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, build, full, path, segment};
    use super::super::{Recovery, algorithms, minrtt};
    use std::time::Duration;

    use super::*;

    fn scene(fast_is_blocked: bool) -> Scene {
        Scene::new(vec![PathView { blocked: fast_is_blocked, ..path(0, 20) }, path(1, 80)])
    }

    fn scheduler() -> HandoverAware {
        HandoverAware::new(build(&minrtt::ENTRY, &[]))
    }

    #[test]
    fn a_blocked_path_is_not_used() {
        assert_eq!(scheduler().next(&scene(false).view()), segment(0));
        assert_eq!(scheduler().next(&scene(true).view()), segment(1));
        let mut waiting = scene(true);
        waiting.paths[1] = full(1, 80);
        assert_eq!(scheduler().next(&waiting.view()), Action::WAIT);
    }

    #[test]
    fn the_last_usable_path_is_used_although_it_is_blocked() {
        let mut scene = scene(true);
        scene.paths[1].stale = true;
        assert_eq!(scheduler().next(&scene.view()), segment(0));
        scene.paths[1] = PathView { blocked: true, ..path(1, 80) };
        assert_eq!(scheduler().next(&scene.view()), segment(0));
        // A backup is a usable path, too.
        scene.paths[1] = PathView { backup: true, ..path(1, 80) };
        assert_eq!(scheduler().next(&scene.view()), segment(1));
    }

    #[test]
    fn data_is_not_carried_again_on_a_blocked_path() {
        let mut scene = scene(true);
        scene.sent(1);
        let data = scene.out.0[0].0;
        assert_eq!(scheduler().reinject(&scene.view(), &data), Some(PathId(1)));
        scene.paths[0].blocked = false;
        assert_eq!(scheduler().reinject(&scene.view(), &data), Some(PathId(0)));
    }

    /// Thousands of random states: with nothing blocked every scheduler answers as it does alone.
    #[test]
    fn with_nothing_blocked_every_scheduler_is_itself() {
        for entry in algorithms() {
            let mut rng = trackbed_core::Seed::of_run(9, 0).stream(entry.name);
            let mut alone = build(entry, &[]);
            let mut wrapped = HandoverAware::new(build(entry, &[]));
            let mut scene = Scene::new(vec![path(0, 20), path(1, 80), path(2, 50)]);
            for _ in 0..3_000 {
                for path in &mut scene.paths {
                    path.srtt = Duration::from_millis(5 + rng.below(100));
                    path.latest_rtt = path.srtt;
                    path.in_flight_segments = rng.below(12) as u32;
                    path.queued_bytes = rng.below(15_000) as u32;
                    path.stale = rng.below(10) == 0;
                    path.backup = rng.below(5) == 0;
                    if rng.below(10) == 0 {
                        path.recovery = Recovery::TimedOut;
                    }
                }
                scene.unsent_bytes = rng.below(100_000);
                scene.window_room_bytes = rng.below(200_000);
                scene.now += Duration::from_millis(rng.below(20));
                let acked = PathAcked {
                    now: scene.now,
                    path: PathId(rng.below(3) as u32),
                    bytes: rng.below(5_000),
                    rtt: None,
                };
                alone.on_acked(&acked);
                wrapped.on_acked(&acked);
                let action = alone.next(&scene.view());
                assert_eq!(wrapped.next(&scene.view()), action, "{}", entry.name);
                scene.apply(action);
            }
        }
    }
}
