//! Everything on every path (`mptcp_redundant.c` of the MPTCP kernel outside of mainline Linux).
//!
//! Each path has its own cursor in the data. A slower path jumps ahead to the oldest unacknowledged
//! byte, so that it copies only data that is still in flight. Backups carry nothing while there are
//! other paths.

use std::collections::BTreeMap;

use super::{Action, PathId, PathView, Scheduler, SchedulingAlgorithm, View};

pub(crate) static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "redundant",
    summary: "every segment on every path: the lowest delay, at the rate of one path",
    source: "multipath-tcp.org kernel, mptcp_redundant.c",
    parameters: &[],
    build: |_, _| Box::new(Copies { cursors: BTreeMap::new(), last: None }),
};

#[derive(Debug)]
struct Copies {
    /// Up to where every path carried the data.
    cursors: BTreeMap<PathId, u64>,
    /// The path that was served last: the next one comes first.
    last: Option<PathId>,
}

impl Scheduler for Copies {
    fn next(&mut self, view: &View<'_>) -> Action {
        let able = || view.candidates().filter(|path| path.can_send());
        let behind = |path: &&PathView| self.last.is_none_or(|last| path.id > last);
        let wrapped = |path: &&PathView| self.last.is_some_and(|last| path.id <= last);
        let order: Vec<&PathView> = able().filter(behind).chain(able().filter(wrapped)).collect();
        for path in order {
            if let Some(action) = self.serve(view, path) {
                self.last = Some(path.id);
                return action;
            }
        }
        Action::WAIT
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.cursors.remove(&path);
    }
}

impl Copies {
    /// The next data for a path: a copy of what others carried, or new data.
    fn serve(&mut self, view: &View<'_>, path: &PathView) -> Option<Action> {
        let cursor = self.cursors.entry(path.id).or_default();
        *cursor = (*cursor).max(view.una_offset);
        while *cursor < view.next_offset {
            let Some(data) = view.backlog.at(*cursor) else { break };
            let from = data.start.max(*cursor);
            *cursor = data.end;
            if !view.backlog.was_sent_on(from, path.id) {
                return Some(Action::Repeat { path: path.id, from, until: data.end });
            }
        }
        (view.sendable_bytes() > 0).then(|| view.send_segment(path.id))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, build, copy, full, path, segment};
    use super::*;

    #[test]
    fn every_path_carries_everything() {
        let mut scene = Scene::new(vec![path(0, 10), path(1, 90)]);
        let mut scheduler = build(&ENTRY, &[]);
        // What the second path begins, the first one copies, and the other way round.
        let expected = [segment(0), copy(1, 0), segment(0), copy(1, 1_000), segment(0)];
        assert_eq!(expected.map(|_| scene.step(&mut *scheduler)), expected);
    }

    #[test]
    fn a_slow_path_jumps_to_what_is_still_out() {
        let mut scene = Scene::new(vec![path(0, 10), full(1, 90)]);
        let mut scheduler = build(&ENTRY, &[]);
        assert_eq!(scene.run(&mut *scheduler).len(), 11);
        // Eight of eleven arrived by the fast path meanwhile.
        scene.una_offset = 8_000;
        scene.out.0.drain(..8);
        scene.paths[0] = full(0, 10);
        scene.paths[1] = path(1, 90);
        let got = scene.run(&mut *scheduler);
        assert_eq!(got[..3], [copy(1, 8_000), copy(1, 9_000), copy(1, 10_000)]);
        assert_eq!(got[3..], [segment(1); 8]);
    }

    #[test]
    fn the_tail_is_copied_although_nothing_new_is_there() {
        let mut scene = Scene::new(vec![path(0, 10), path(1, 90)]);
        scene.sent(0);
        scene.unsent_bytes = 0;
        let mut scheduler = build(&ENTRY, &[]);
        assert_eq!(scene.run(&mut *scheduler), [copy(1, 0)]);
    }
}
