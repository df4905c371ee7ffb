//! The reactive baseline of handover-aware scheduling: a silent path counts as
//! [`PathView::blocked`] until its next acknowledgment.
//!
//! It needs no prediction, and so detects an outage only after data was sent into it.
//! [`proactive`](super::proactive), inside this wrapper, hides the blocked paths.

use std::time::Duration;

use trackbed_core::Time;

use super::{Action, Outstanding, PathAcked, PathId, PathView, Reinjection, Scheduler, View};

/// Marks paths as blocked that have data in flight but no recent acknowledgment.
#[derive(Debug)]
pub struct Reactive {
    inner: Box<dyn Scheduler>,
    silence: Duration,
    paths: Vec<Heard>,
    /// The paths with the marks.
    marked: Vec<PathView>,
}

/// The last sign of life of a path.
#[derive(Debug)]
struct Heard {
    path: PathId,
    /// The last acknowledgment; or when data went in flight, if that is later.
    at: Time,
    in_flight: bool,
}

impl Reactive {
    /// Marks paths as blocked after `silence` without an acknowledgment while data is in flight.
    pub fn new(inner: Box<dyn Scheduler>, silence: Duration) -> Reactive {
        Reactive { inner, silence, paths: Vec::new(), marked: Vec::new() }
    }

    /// When a path will have been silent for too long.
    fn next_silence(&self, now: Time) -> Option<Time> {
        let heard = self.paths.iter().filter(|heard| heard.in_flight);
        heard.map(|heard| heard.at + self.silence).filter(|at| *at > now).min()
    }

    fn mark(&mut self, view: &View<'_>) {
        for path in view.paths {
            let in_flight = path.in_flight_segments > 0;
            match self.paths.iter_mut().find(|heard| heard.path == path.id) {
                Some(heard) => {
                    if in_flight && !heard.in_flight {
                        heard.at = view.now;
                    }
                    heard.in_flight = in_flight;
                }
                None => self.paths.push(Heard { path: path.id, at: view.now, in_flight }),
            }
        }
        let silent = |path: &PathView| {
            let heard = self.paths.iter().find(|heard| heard.path == path.id);
            heard.is_some_and(|heard| heard.in_flight && view.now - heard.at >= self.silence)
        };
        self.marked.clear();
        self.marked.extend(view.paths.iter().cloned());
        for path in &mut self.marked {
            path.blocked |= silent(path);
        }
    }
}

impl Scheduler for Reactive {
    fn next(&mut self, view: &View<'_>) -> Action {
        self.mark(view);
        match self.inner.next(&View { paths: &self.marked, ..*view }) {
            Action::Wait { until } => {
                let until = until.into_iter().chain(self.next_silence(view.now)).min();
                Action::Wait { until }
            }
            action => action,
        }
    }

    fn reinject(&mut self, view: &View<'_>, data: &Outstanding) -> Option<PathId> {
        self.mark(view);
        self.inner.reinject(&View { paths: &self.marked, ..*view }, data)
    }

    fn repeat_oldest(&mut self, view: &View<'_>) -> Option<PathId> {
        self.mark(view);
        self.inner.repeat_oldest(&View { paths: &self.marked, ..*view })
    }

    fn reinjection(&self) -> Reinjection {
        self.inner.reinjection()
    }

    fn on_acked(&mut self, acked: &PathAcked) {
        if let Some(heard) = self.paths.iter_mut().find(|heard| heard.path == acked.path) {
            heard.at = acked.now;
        }
        self.inner.on_acked(acked);
    }

    fn on_opportunistic_retransmission(&mut self) {
        self.inner.on_opportunistic_retransmission();
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.paths.retain(|heard| heard.path != path);
        self.inner.on_path_removed(path);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, build, full, path, segment};
    use super::super::minrtt;
    use super::super::proactive::Proactive;
    use super::*;

    #[test]
    fn a_silent_path_is_left_until_it_is_heard_of() {
        let inner = Proactive::new(build(&minrtt::ENTRY, &[]));
        let mut scheduler = Reactive::new(Box::new(inner), Duration::from_millis(100));
        let mut scene = Scene::new(vec![path(0, 20), path(1, 80)]);
        let mut at = |ms: u64, in_flight: u32, scheduler: &mut Reactive| {
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
        let inner = Proactive::new(build(&minrtt::ENTRY, &[]));
        let mut scheduler = Reactive::new(Box::new(inner), Duration::from_millis(100));
        let backup = PathView { backup: true, ..path(1, 80) };
        let mut scene = Scene::new(vec![full(0, 20), backup]);
        let until = Some(Time::from_millis(1_100));
        assert_eq!(scheduler.next(&scene.view()), Action::Wait { until });
        scene.now = Time::from_millis(1_100);
        assert_eq!(scheduler.next(&scene.view()), segment(1));
    }
}
