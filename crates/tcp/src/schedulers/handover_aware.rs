//! Handover-aware scheduling, around any scheduler: the inner scheduler does not see blocked paths
//! and chooses among the others. If no other path is usable, it sees them all.
//!
//! Proactively (PHA; "Proactive Handover-Aware Packet Scheduling for MPTCP with Multiple Cellular
//! Networks on High-Speed Trains", Journal of KICS 2024) a predictor marks a path as
//! [`PathView::blocked`] before trouble, and removes the mark afterwards: a handover table with a
//! position, or an oracle that knows the true times. Reactively, as a baseline, a silent path counts
//! as blocked until its next acknowledgment. That needs no prediction, and so detects an outage only
//! after data was sent into it.
//!
//! While nothing is blocked, the inner scheduler sees exactly what it would see without this
//! wrapper.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::Time;

use super::{Action, Outstanding, PathAcked, PathId, PathView, Reinjection, Scheduler, View};

/// A scheduler that honours [`PathView::blocked`].
#[derive(Debug)]
pub struct HandoverAware {
    inner: Box<dyn Scheduler>,
    filter: Filter,
}

#[derive(Debug)]
struct Filter {
    silence: Option<Duration>,
    /// For each path with data in flight the last acknowledgment; or when data went in flight, if
    /// that is later.
    heard: BTreeMap<PathId, Time>,
    shown: Vec<PathView>,
}

impl HandoverAware {
    /// Hides blocked paths from `inner`, and with `silence` also those with data in flight and no
    /// acknowledgment for that long.
    pub fn new(inner: Box<dyn Scheduler>, silence: Option<Duration>) -> HandoverAware {
        let filter = Filter { silence, heard: BTreeMap::new(), shown: Vec::new() };
        HandoverAware { inner, filter }
    }
}

impl Scheduler for HandoverAware {
    fn next(&mut self, view: &View<'_>) -> Action {
        match self.inner.next(&self.filter.apply(view)) {
            Action::Wait { until } => {
                let until = until.into_iter().chain(self.filter.next_silence(view.now)).min();
                Action::Wait { until }
            }
            action => action,
        }
    }

    fn reinject(&mut self, view: &View<'_>, data: &Outstanding) -> Option<PathId> {
        self.inner.reinject(&self.filter.apply(view), data)
    }

    fn repeat_oldest(&mut self, view: &View<'_>) -> Option<PathId> {
        self.inner.repeat_oldest(&self.filter.apply(view))
    }

    fn reinjection(&self) -> Reinjection {
        self.inner.reinjection()
    }

    fn on_acked(&mut self, acked: &PathAcked) {
        if let Some(at) = self.filter.heard.get_mut(&acked.path) {
            *at = acked.now;
        }
        self.inner.on_acked(acked);
    }

    fn on_opportunistic_retransmission(&mut self) {
        self.inner.on_opportunistic_retransmission();
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.filter.heard.remove(&path);
        self.inner.on_path_removed(path);
    }
}

impl Filter {
    /// The view without the blocked paths; unchanged if no usable path would be left.
    fn apply<'a>(&'a mut self, view: &View<'a>) -> View<'a> {
        self.listen(view);
        let Filter { silence, heard, shown } = self;
        let is_silent = |path: &PathView| {
            let both = silence.zip(heard.get(&path.id));
            both.is_some_and(|(silence, at)| view.now - *at >= silence)
        };
        let free = |path: &&PathView| !path.blocked && !is_silent(path);
        let all_free = view.paths.iter().all(|path| free(&path));
        if all_free || !view.paths.iter().filter(free).any(PathView::is_usable) {
            return *view;
        }
        shown.clear();
        shown.extend(view.paths.iter().filter(free).cloned());
        View { paths: shown, ..*view }
    }

    fn listen(&mut self, view: &View<'_>) {
        for path in view.paths.iter().filter(|_| self.silence.is_some()) {
            if path.in_flight_segments > 0 {
                self.heard.entry(path.id).or_insert(view.now);
            } else {
                self.heard.remove(&path.id);
            }
        }
    }

    /// When a path will have been silent for too long.
    fn next_silence(&self, now: Time) -> Option<Time> {
        let silence = self.silence?;
        self.heard.values().map(|at| *at + silence).filter(|at| *at > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, build, full, path, segment};
    use super::super::{Recovery, algorithms, minrtt};
    use super::*;

    fn scene(fast_is_blocked: bool) -> Scene {
        let fast = PathView { blocked: fast_is_blocked, ..path(0, 20) };
        Scene::new(vec![fast, path(1, 80)])
    }

    fn scheduler() -> HandoverAware {
        HandoverAware::new(build(&minrtt::ENTRY, &[]), None)
    }

    fn after_silence() -> HandoverAware {
        let silence = Some(Duration::from_millis(100));
        HandoverAware::new(build(&minrtt::ENTRY, &[]), silence)
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
            let mut wrapped = HandoverAware::new(build(entry, &[]), None);
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

    #[test]
    fn a_silent_path_is_left_until_it_is_heard_of() {
        let mut scheduler = after_silence();
        let mut scene = Scene::new(vec![path(0, 20), path(1, 80)]);
        let mut at = |ms: u64, in_flight: u32, scheduler: &mut HandoverAware| {
            scene.now = Time::from_millis(ms);
            scene.paths[0].in_flight_segments = in_flight;
            scheduler.next(&scene.view())
        };
        assert_eq!(at(1_000, 0, &mut scheduler), segment(0));
        // Silence counts while something is in flight, from then on.
        assert_eq!(at(5_000, 0, &mut scheduler), segment(0));
        assert_eq!(at(6_000, 1, &mut scheduler), segment(0));
        assert_eq!(at(6_099, 1, &mut scheduler), segment(0));
        assert_eq!(at(6_100, 1, &mut scheduler), segment(1));
        let now = Time::from_millis(6_150);
        scheduler.on_acked(&PathAcked { now, path: PathId(1), bytes: 1, rtt: None });
        assert_eq!(at(6_150, 1, &mut scheduler), segment(1));
        scheduler.on_acked(&PathAcked { now, path: PathId(0), bytes: 1, rtt: None });
        assert_eq!(at(6_150, 1, &mut scheduler), segment(0));
    }

    #[test]
    fn it_wants_to_be_asked_when_silence_has_lasted() {
        let mut scheduler = after_silence();
        let backup = PathView { backup: true, ..path(1, 80) };
        let mut scene = Scene::new(vec![full(0, 20), backup]);
        let until = Some(Time::from_millis(1_100));
        assert_eq!(scheduler.next(&scene.view()), Action::Wait { until });
        scene.now = Time::from_millis(1_100);
        assert_eq!(scheduler.next(&scene.view()), segment(1));
    }
}
