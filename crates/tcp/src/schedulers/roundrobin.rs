//! Every path in turn (`mptcp_rr.c` of the MPTCP kernel outside of mainline Linux).
//!
//! Two deviations: backups are left out as long as there are other paths, and of several paths
//! that have not had their turn the first one is taken, not the last.

use std::collections::BTreeMap;

use trackbed_core::parameters;

use super::{Action, PathId, Scheduler, SchedulingAlgorithm, View};

pub(crate) static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "roundrobin",
    summary: "every path in turn, if its congestion window has room",
    source: "multipath-tcp.org kernel, mptcp_rr.c",
    parameters: parameters! {
        "quota": Count { min: 1 } = "1" => "the number of segments that a path gets at its turn";
    },
    build: |arguments, _| {
        Box::new(Turns { quota: arguments.need("quota"), used: BTreeMap::new(), last: None })
    },
};

#[derive(Debug)]
struct Turns {
    /// Segments that a path gets in a round.
    quota: u64,
    /// What the paths had in this round, in segments.
    used: BTreeMap<PathId, u64>,
    /// Where the last segments went, and the offset at which they began.
    last: Option<(PathId, u64)>,
}

impl Scheduler for Turns {
    fn next(&mut self, view: &View<'_>) -> Action {
        self.settle(view);
        if view.sendable_bytes() == 0 {
            return Action::WAIT;
        }
        let available = view.candidates().filter(|path| path.can_send());
        if available.clone().all(|path| self.used(path.id) >= self.quota) {
            self.used.clear();
        }
        // A turn that was begun is finished first.
        let begun = available.clone().find(|path| {
            let used = self.used(path.id);
            used > 0 && used < self.quota
        });
        let Some(path) = begun.or_else(|| available.clone().find(|path| self.used(path.id) == 0))
        else {
            return Action::WAIT;
        };
        let segments = self.quota - self.used(path.id);
        let bytes = segments.saturating_mul(u64::from(path.mss_bytes)).max(1);
        self.last = Some((path.id, view.next_offset));
        Action::Send { path: path.id, bytes: u32::try_from(bytes).unwrap_or(u32::MAX) }
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.used.remove(&path);
        self.last = self.last.filter(|(id, _)| *id != path);
    }
}

impl Turns {
    fn used(&self, path: PathId) -> u64 {
        self.used.get(&path).copied().unwrap_or(0)
    }

    /// Counts what was really sent since the last answer, in whole segments.
    fn settle(&mut self, view: &View<'_>) {
        let Some((path, offset)) = self.last.take() else { return };
        let mss = view.path(path).map_or(1, |path| path.mss_bytes.max(1));
        let segments = view.next_offset.saturating_sub(offset).div_ceil(u64::from(mss));
        *self.used.entry(path).or_default() += segments;
    }
}

#[cfg(test)]
mod tests {
    use trackbed_core::parameter::Value;

    use super::super::PathView;
    use super::super::fixture::{MSS, Scene, build, full, path, segment};
    use super::*;

    #[test]
    fn paths_take_turns() {
        let mut scene = Scene::new(vec![path(0, 10), path(1, 90), path(2, 20)]);
        scene.unsent_bytes = u64::from(MSS) * 7;
        let mut scheduler = build(&ENTRY, &[]);
        let got = [(); 7].map(|()| scene.step(&mut *scheduler));
        assert_eq!(got, [0, 1, 2, 0, 1, 2, 0].map(segment));
    }

    #[test]
    fn a_quota_is_used_up_in_one_turn_or_in_several() {
        let mut scene = Scene::new(vec![path(0, 10), path(1, 90)]);
        let mut scheduler = build(&ENTRY, &[("quota", Value::Count(3))]);
        let on = |path, segments| Action::Send { path: PathId(path), bytes: segments * MSS };
        assert_eq!(scheduler.next(&scene.view()), on(0, 3));
        // Only one segment was there.
        scene.apply(segment(0));
        assert_eq!(scheduler.next(&scene.view()), on(0, 2));
        scene.apply(on(0, 2));
        assert_eq!(scheduler.next(&scene.view()), on(1, 3));
    }

    #[test]
    fn a_full_path_is_skipped_and_a_backup_not_used() {
        let backup = PathView { backup: true, ..path(2, 10) };
        let mut scene = Scene::new(vec![path(0, 10), full(1, 90), backup]);
        let mut scheduler = build(&ENTRY, &[]);
        // Ten segments of window, and the one more that may be queued.
        assert_eq!(scene.run(&mut *scheduler), [segment(0); 11]);
    }
}
