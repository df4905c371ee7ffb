//! Opportunistic retransmission and penalisation (Raiciu et al., "How Hard Can It Be? Designing
//! and Implementing a Deployable Multipath TCP", NSDI 2012; `mptcp_rcv_buf_optimization` of the
//! MPTCP kernel outside of mainline Linux), around any scheduler.
//!
//! When the peer's data-level window or the send buffer blocks everything, the cause is the oldest
//! unacknowledged data. A faster path with room sends it again, and the window of the path that has
//! it is halved, so that it blocks less.
//!
//! If the path that has it is [hidden](super::handover_aware), the data is sent again whatever its
//! round-trip time was.

use std::collections::{BTreeMap, VecDeque};

use trackbed_core::Time;

use super::{
    Action, Outstanding, PathAcked, PathId, PathView, Recovery, Reinjection, Scheduler, View,
};

/// A scheduler with opportunistic retransmission and penalisation.
#[derive(Debug)]
pub struct Opportunistic {
    inner: Box<dyn Scheduler>,
    penalties: VecDeque<Action>,
    /// When each path last had others penalised.
    penalised_at: BTreeMap<PathId, Time>,
}

impl Opportunistic {
    /// Adds it to `inner`.
    pub fn new(inner: Box<dyn Scheduler>) -> Opportunistic {
        Opportunistic { inner, penalties: VecDeque::new(), penalised_at: BTreeMap::new() }
    }

    fn consider(&mut self, view: &View<'_>) -> Option<Action> {
        if let Some(penalty) = self.penalties.pop_front() {
            return Some(penalty);
        }
        let window_blocks = view.unsent_bytes > 0 && view.window_room_bytes == 0;
        let buffer_blocks = view.unsent_bytes == 0 && view.send_buffer_full;
        if !window_blocks && !buffer_blocks {
            return None;
        }
        let data = view.backlog.at(view.una_offset)?;
        let path = view.path_for(None).and_then(|id| view.path(id))?;
        self.penalise(view, path, &data);
        if let Some(penalty) = self.penalties.pop_front() {
            return Some(penalty);
        }
        self.retransmit(view, path, &data)
    }

    /// At most once in a round-trip time of the path that suffers.
    fn penalise(&mut self, view: &View<'_>, path: &PathView, data: &Outstanding) {
        if self.penalised_at.get(&path.id).is_some_and(|at| view.now - *at < path.srtt) {
            return;
        }
        let to_blame = holders(view, path, data)
            .filter(|holder| path.srtt < holder.srtt && holder.recovery == Recovery::Open);
        self.penalties.extend(to_blame.map(penalty));
        if !self.penalties.is_empty() {
            self.penalised_at.insert(path.id, view.now);
        }
    }

    fn retransmit(
        &mut self,
        view: &View<'_>,
        path: &PathView,
        data: &Outstanding,
    ) -> Option<Action> {
        if view.backlog.was_sent_on(data.start, path.id) {
            return None;
        }
        let hidden = view.path(data.path).is_none();
        let slow = |holder: &PathView| {
            holder.cwnd_segments <= SMALL_WINDOW || SLOWER * path.srtt < holder.srtt
        };
        let mut holders = holders(view, path, data).peekable();
        let worth_while = hidden || (holders.peek().is_some() && holders.all(slow));
        worth_while.then(|| {
            self.inner.on_opportunistic_retransmission();
            Action::Repeat { path: path.id, from: data.start, until: data.end }
        })
    }
}

impl Scheduler for Opportunistic {
    fn next(&mut self, view: &View<'_>) -> Action {
        match self.inner.next(view) {
            Action::Wait { until } => self.consider(view).unwrap_or(Action::Wait { until }),
            action => action,
        }
    }

    fn reinject(&mut self, view: &View<'_>, data: &Outstanding) -> Option<PathId> {
        self.inner.reinject(view, data)
    }

    fn repeat_oldest(&mut self, view: &View<'_>) -> Option<PathId> {
        self.inner.repeat_oldest(view)
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
        self.penalised_at.remove(&path);
        self.penalties
            .retain(|action| !matches!(action, Action::Penalise { path: id, .. } if *id == path));
        self.inner.on_path_removed(path);
    }
}

/// The other paths that carried the data.
fn holders<'a>(
    view: &View<'a>,
    path: &PathView,
    data: &Outstanding,
) -> impl Iterator<Item = &'a PathView> {
    let (id, start, backlog) = (path.id, data.start, view.backlog);
    view.paths.iter().filter(move |other| other.id != id && backlog.was_sent_on(start, other.id))
}

/// Half the window, and half the threshold unless the path is in slow start.
fn penalty(path: &PathView) -> Action {
    let ssthresh_segments = if path.in_slow_start() {
        path.ssthresh_segments
    } else {
        (path.ssthresh_segments / 2).max(2)
    };
    let cwnd_segments = (path.cwnd_segments / 2).max(1);
    Action::Penalise { path: path.id, cwnd_segments, ssthresh_segments }
}

/// With a window this small a path recovers losses by timeouts only.
const SMALL_WINDOW: u32 = 4;
/// How many times slower a path must be for its data to be worth a copy.
const SLOWER: u32 = 4;

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, build, path, segment};
    use super::super::minrtt;
    use super::*;

    /// The slow path has the oldest segment, and the window is full.
    fn scene(slow: PathView) -> Scene {
        let mut scene = Scene::new(vec![path(0, 20), slow]);
        scene.sent(1);
        scene.sent(0);
        scene.window_room_bytes = 0;
        scene
    }

    fn scheduler() -> Opportunistic {
        Opportunistic::new(build(&minrtt::ENTRY, &[]))
    }

    fn penalised(cwnd_segments: u32, ssthresh_segments: u32) -> Action {
        Action::Penalise { path: PathId(1), cwnd_segments, ssthresh_segments }
    }

    const COPY: Action = Action::Repeat { path: PathId(0), from: 0, until: 1_000 };

    #[test]
    fn a_blocked_window_is_opened_by_the_faster_path() {
        // In congestion avoidance: both halved.
        let mut scene = scene(PathView { ssthresh_segments: 8, ..path(1, 81) });
        assert_eq!(scene.run(&mut scheduler()), [penalised(5, 4), COPY]);
    }

    #[test]
    fn slow_start_keeps_its_threshold_and_windows_their_minimum() {
        let mut slow = path(1, 81);
        slow.ssthresh_segments = 40;
        assert_eq!(scene(slow.clone()).run(&mut scheduler())[0], penalised(5, 40));
        (slow.cwnd_segments, slow.ssthresh_segments) = (1, 1);
        assert_eq!(scene(slow.clone()).run(&mut scheduler())[0], penalised(1, 2));
    }

    #[test]
    fn a_path_that_is_not_much_slower_keeps_its_data() {
        // 4 * 20 ms is not less than 80 ms, unless the window is tiny.
        let mut slow = path(1, 80);
        assert_eq!(scene(slow.clone()).run(&mut scheduler()), [penalised(5, u32::MAX)]);
        slow.cwnd_segments = 9;
        assert_eq!(scene(slow.clone()).run(&mut scheduler()), [penalised(4, u32::MAX), COPY]);
        slow.recovery = Recovery::Recovering;
        assert_eq!(scene(slow).run(&mut scheduler()), []);
    }

    #[test]
    fn penalties_come_once_in_a_round_trip() {
        let mut scene = scene(path(1, 81));
        let mut scheduler = scheduler();
        assert_eq!(scene.run(&mut scheduler), [penalised(5, u32::MAX), COPY]);
        scene.now += std::time::Duration::from_millis(19);
        assert_eq!(scene.run(&mut scheduler), []);
        scene.now += std::time::Duration::from_millis(1);
        assert_eq!(scene.run(&mut scheduler), [penalised(2, u32::MAX)]);
    }

    #[test]
    fn nothing_happens_unless_something_blocks() {
        let mut idle = scene(path(1, 81));
        idle.unsent_bytes = 0;
        assert_eq!(idle.run(&mut scheduler()), []);
        idle.send_buffer_full = true;
        assert_eq!(idle.run(&mut scheduler()), [penalised(5, u32::MAX), COPY]);
        let mut open = scene(path(1, 81));
        open.window_room_bytes = 1_000;
        assert_eq!(scheduler().next(&open.view()), segment(0));
    }

    #[test]
    fn what_a_hidden_path_has_is_carried_again() {
        let mut scene = scene(path(1, 20));
        scene.paths.pop();
        assert_eq!(scene.run(&mut scheduler()), [COPY]);
    }
}
