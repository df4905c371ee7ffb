//! The scheduler of mainline Linux: the path that will have flushed its queue first
//! (`mptcp_subflow_get_send` of `net/mptcp/protocol.c`, 6.18).
//!
//! A path is rated by the time that its queue, sent and unsent, takes at its average pacing rate. A
//! full congestion window does not count against it. It then gets a burst of up to 64 KiB.
//!
//! Deviations: the kernel charges a segment with its bookkeeping, here payload alone counts. What a stale path
//! held is given to others segment by segment, not in bursts.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{
    Action, Outstanding, PathId, PathView, Reinjection, Scheduler, SchedulingAlgorithm, View,
};

pub(crate) static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "linux",
    summary: "the path that flushes its queue first, in bursts: the default of mainline Linux",
    source: "Linux 6.18, net/mptcp/protocol.c, mptcp_subflow_get_send",
    parameters: &[],
    build: |_, _| Box::new(Linger { rates: BTreeMap::new(), burst: None }),
};

#[derive(Debug)]
struct Linger {
    /// Average pacing rates in bytes per second.
    rates: BTreeMap<PathId, u64>,
    burst: Option<Burst>,
}

/// What a path may have before the choice is made again.
#[derive(Debug)]
struct Burst {
    path: PathId,
    rest: u64,
    /// Where the data was when `rest` was computed.
    offset: u64,
}

impl Scheduler for Linger {
    fn next(&mut self, view: &View<'_>) -> Action {
        let sendable = view.sendable_bytes();
        if sendable == 0 {
            return Action::WAIT;
        }
        if self.burst_is_spent(view) {
            self.burst = None;
            let Some(path) = self.choose(view).filter(|path| path.room_bytes > 0) else {
                return Action::WAIT;
            };
            let rest = view.window_room_bytes.min(BURST_BYTES);
            self.average(path, rest);
            self.burst = Some(Burst { path: path.id, rest, offset: view.next_offset });
        }
        let Some(burst) = &self.burst else { return Action::WAIT };
        // The kernel looks at the burst between segments: the last one goes whole.
        let mss = view.path(burst.path).map_or(1, |path| u64::from(path.mss_bytes.max(1)));
        let bytes = burst.rest.div_ceil(mss) * mss;
        let bytes = u32::try_from(bytes.min(sendable)).unwrap_or(u32::MAX);
        Action::Send { path: burst.path, bytes }
    }

    /// What a stale or closed path held is sent as if it was new, and before that
    /// (`__mptcp_retransmit_pending_data`).
    fn reinject(&mut self, view: &View<'_>, _data: &Outstanding) -> Option<PathId> {
        // New data is a new choice then.
        self.burst = None;
        self.choose(view).filter(|path| path.room_bytes > 0).map(|path| path.id)
    }

    /// A path whose queue is empty, and a backup only if no other path makes progress
    /// (`mptcp_subflow_get_retrans`).
    fn repeat_oldest(&mut self, view: &View<'_>) -> Option<PathId> {
        let active = view.paths.iter().filter(|path| path.is_usable());
        let idle = |path: &&PathView| path.queued_bytes == 0 && path.in_flight_segments == 0;
        if let Some(path) = active.clone().filter(idle).find(|path| !path.backup) {
            return Some(path.id);
        }
        let stuck = active.clone().filter(|path| !idle(path)).all(|path| path.timeouts > 1);
        active.filter(idle).find(|_| stuck).map(|path| path.id)
    }

    fn reinjection(&self) -> Reinjection {
        Reinjection::Stale(4)
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.rates.remove(&path);
    }
}

impl Linger {
    /// Accounts for what was sent of the burst; true if a new path must be chosen.
    fn burst_is_spent(&mut self, view: &View<'_>) -> bool {
        let Some(burst) = &mut self.burst else { return true };
        burst.rest = burst.rest.saturating_sub(view.next_offset - burst.offset);
        burst.offset = view.next_offset;
        let able = |path: &PathView| path.is_usable() && path.room_bytes > 0;
        burst.rest == 0 || !view.path(burst.path).is_some_and(able)
    }

    /// The path with the least linger time; a backup only if there is no other path, however full.
    fn choose<'a>(&mut self, view: &View<'a>) -> Option<&'a PathView> {
        view.candidates().min_by_key(|path| {
            let rate = *self.rates.entry(path.id).or_insert_with(|| pacing_rate(path));
            (u128::from(occupied(path)) << 32).checked_div(u128::from(rate)).unwrap_or(u128::MAX)
        })
    }

    /// The average moves towards the current rate by the share of the burst in the queue.
    fn average(&mut self, path: &PathView, burst: u64) {
        let (queued, burst) = (u128::from(occupied(path)), u128::from(burst.max(1)));
        let now = u128::from(pacing_rate(path));
        if let Some(rate) = self.rates.get_mut(&path.id) {
            *rate = ((u128::from(*rate) * queued + now * burst) / (queued + burst)) as u64;
        }
    }
}

fn occupied(path: &PathView) -> u64 {
    u64::from(path.queued_bytes) + path.in_flight_bytes()
}

/// `sk_pacing_rate` in bytes per second: twice the window a round trip in the first half of slow
/// start, 1.2 times afterwards (`tcp_update_pacing_rate`).
fn pacing_rate(path: &PathView) -> u64 {
    if path.srtt == Duration::ZERO {
        return MAX_RATE;
    }
    let percent = if path.cwnd_segments < path.ssthresh_segments / 2 { 200 } else { 120 };
    let segments = path.cwnd_segments.max(path.in_flight_segments);
    let window = u128::from(segments) * u128::from(path.mss_bytes);
    let rate = window * percent * 10_000_000 / path.srtt.as_nanos();
    u64::try_from(rate).unwrap_or(MAX_RATE).min(MAX_RATE)
}

/// MPTCP_SEND_BURST_SIZE: 2^16 less the headers of TCP (20 and 40 of options), IPv6 (40) and a
/// fragment (8).
const BURST_BYTES: u64 = 65_536 - 108;
/// A rate before there is a round-trip time.
const MAX_RATE: u64 = u64::MAX >> 1;

#[cfg(test)]
mod tests {
    use super::super::fixture::{Scene, build, full, path};
    use super::*;

    fn burst(path: u32) -> Action {
        // 65,428 bytes, the last segment of 1,000 whole.
        Action::Send { path: PathId(path), bytes: 66_000 }
    }

    #[test]
    fn the_queue_that_is_flushed_first_wins() {
        // 10 kB a round trip, twice: 500 kB/s at 40 ms, 250 kB/s at 80 ms.
        assert_eq!([40, 80].map(|ms| pacing_rate(&path(0, ms))), [500_000, 250_000]);
        assert_eq!(pacing_rate(&PathView { ssthresh_segments: 5, ..path(0, 40) }), 300_000);
        let queued = |path, queued_bytes| PathView { queued_bytes, ..path };
        for (queues, chosen) in [
            // 40 ms against 44 ms; 40 ms against 36 ms; the first of equals.
            ([20_000, 11_000], 0),
            ([20_000, 9_000], 1),
            ([20_000, 10_000], 0),
        ] {
            let paths = vec![queued(path(0, 40), queues[0]), queued(path(1, 80), queues[1])];
            assert_eq!(build(&ENTRY, &[]).next(&Scene::new(paths).view()), burst(chosen));
        }
    }

    #[test]
    fn a_full_window_does_not_matter_and_a_full_buffer_does() {
        // In flight counts as queued: 10 kB at 500 kB/s against nothing, then against 30 kB.
        let mut scene = Scene::new(vec![full(0, 40), path(1, 80)]);
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), burst(1));
        scene.paths[1].queued_bytes = 30_000;
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), burst(0));
        scene.paths[0].room_bytes = 0;
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), Action::WAIT);
    }

    #[test]
    fn a_backup_is_used_only_without_any_other() {
        let mut scene = Scene::new(vec![full(0, 40), PathView { backup: true, ..path(1, 10) }]);
        scene.paths[0].queued_bytes = 500_000;
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), burst(0));
        scene.paths[0].stale = true;
        assert_eq!(build(&ENTRY, &[]).next(&scene.view()), burst(1));
    }

    #[test]
    fn a_burst_stays_on_its_path() {
        let mut scene = Scene::new(vec![path(0, 40), path(1, 80)]);
        let mut scheduler = build(&ENTRY, &[]);
        assert_eq!(scheduler.next(&scene.view()), burst(0));
        scene.apply(Action::Send { path: PathId(0), bytes: 60_000 });
        // 120 ms of queue here, none there; but 5,428 bytes of the burst are left: six segments.
        let rest = Action::Send { path: PathId(0), bytes: 6_000 };
        assert_eq!(scheduler.next(&scene.view()), rest);
        scene.apply(rest);
        assert_eq!(scheduler.next(&scene.view()), burst(1));
    }

    #[test]
    fn the_average_rate_follows_the_burst() {
        let mut scheduler = Linger { rates: BTreeMap::from([(PathId(0), 100_000)]), burst: None };
        // (100,000 * 10,000 + 500,000 * 30,000) / 40,000.
        scheduler.average(&full(0, 40), 30_000);
        assert_eq!(scheduler.rates[&PathId(0)], 400_000);
    }

    #[test]
    fn what_a_stale_path_held_goes_where_new_data_would() {
        let mut scene = Scene::new(vec![full(0, 40), full(1, 80)]);
        scene.sent(0);
        let data = scene.out.0[0].0;
        let mut scheduler = build(&ENTRY, &[]);
        scene.paths[0].stale = true;
        assert_eq!(scheduler.reinject(&scene.view(), &data), Some(PathId(1)));
        scene.paths[1].room_bytes = 0;
        assert_eq!(scheduler.reinject(&scene.view(), &data), None);
    }

    #[test]
    fn the_oldest_fragment_is_repeated_on_an_idle_path_only() {
        let mut scene = Scene::new(vec![full(0, 40), full(1, 80)]);
        let mut scheduler = build(&ENTRY, &[]);
        let mut to = |scene: &Scene| scheduler.repeat_oldest(&scene.view());
        assert_eq!(to(&scene), None);
        scene.paths[1].in_flight_segments = 0;
        assert_eq!(to(&scene), Some(PathId(1)));
        scene.paths[1].backup = true;
        assert_eq!(to(&scene), None);
        scene.paths[0].timeouts = 2;
        assert_eq!(to(&scene), Some(PathId(1)));
    }
}
