//! The lowest round-trip time first: the default of the MPTCP kernel outside of mainline Linux
//! (`get_available_subflow` of `mptcp_sched.c`).

use super::{Action, Scheduler, SchedulingAlgorithm, View};

pub(crate) static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "minrtt",
    summary: "the path with the lowest round-trip time among those with room in the congestion window",
    source: "multipath-tcp.org kernel, mptcp_sched.c",
    parameters: &[],
    build: |_, _| Box::new(Lowest),
};

#[derive(Debug)]
struct Lowest;

impl Scheduler for Lowest {
    fn next(&mut self, view: &View<'_>) -> Action {
        if view.sendable_bytes() == 0 {
            return Action::WAIT;
        }
        view.path_for(None).map_or(Action::WAIT, |path| view.send_segment(path))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, build, full, path, segment};
    use super::super::{PathView, Recovery};
    use super::*;

    fn choice(paths: Vec<PathView>) -> Action {
        build(&ENTRY, &[]).next(&Scene::new(paths).view())
    }

    #[test]
    fn the_fastest_path_with_room_is_taken() {
        assert_eq!(choice(vec![path(0, 80), path(1, 40)]), segment(1));
        assert_eq!(choice(vec![path(0, 80), full(1, 40)]), segment(0));
        assert_eq!(choice(vec![full(0, 80), full(1, 40)]), Action::WAIT);
        assert_eq!(choice(vec![path(0, 40), path(1, 40)]), segment(0));
    }

    #[test]
    fn a_path_that_cannot_send_is_passed_over() {
        let fast = path(1, 40);
        for fast in [
            PathView { established: false, ..fast.clone() },
            PathView { stale: true, ..fast.clone() },
            PathView { recovery: Recovery::TimedOut, ..fast.clone() },
            // Ten segments may go and more than ten are queued.
            PathView { queued_bytes: 10_001, ..fast.clone() },
            PathView { room_bytes: 0, ..fast.clone() },
        ] {
            assert_eq!(choice(vec![path(0, 80), fast]), segment(0));
        }
        // As in the original, one segment more than the window may be queued.
        let queued = PathView { queued_bytes: 10_000, ..fast.clone() };
        assert_eq!(choice(vec![path(0, 80), queued]), segment(1));
        let recovering = PathView { recovery: Recovery::Recovering, ..fast };
        assert_eq!(choice(vec![path(0, 80), recovering]), segment(1));
    }

    #[test]
    fn a_backup_waits_until_all_others_are_gone() {
        let backup = PathView { backup: true, ..path(1, 10) };
        assert_eq!(choice(vec![path(0, 80), backup.clone()]), segment(0));
        assert_eq!(choice(vec![full(0, 80), backup.clone()]), Action::WAIT);
        assert_eq!(choice(vec![PathView { stale: true, ..path(0, 80) }, backup]), segment(1));
    }

    #[test]
    fn nothing_goes_without_data_or_window() {
        let mut scene = Scene::new(vec![path(0, 80)]);
        scene.unsent_bytes = 0;
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), Action::WAIT);
        scene.unsent_bytes = 1;
        scene.window_room_bytes = 0;
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), Action::WAIT);
    }

    #[test]
    fn what_is_carried_again_goes_where_it_was_not_yet() {
        let mut scene = Scene::new(vec![path(0, 10), path(1, 40), path(2, 80)]);
        scene.sent(0);
        let data = scene.out.0[0].0;
        let mut scheduler = build(&ENTRY, &[]);
        let mut to = |scene: &Scene| scheduler.reinject(&scene.view(), &data).map(|path| path.0);
        assert_eq!(to(&scene), Some(1));
        scene.paths[1] = full(1, 40);
        assert_eq!(to(&scene), Some(2));
        scene.paths[2] = full(2, 80);
        // They will have room: the path that had it does not get it again meanwhile.
        assert_eq!(to(&scene), None);
        (scene.paths[1].stale, scene.paths[2].stale) = (true, true);
        assert_eq!(to(&scene), Some(0));
        scene.paths[0].stale = true;
        assert_eq!(to(&scene), None);
        scene.paths[2] = PathView { backup: true, ..path(2, 80) };
        assert_eq!(to(&scene), Some(2));
    }
}
