//! minRTT with reinjection at a deadline (Zheng et al., "XLINK: QoE-Driven Multi-Path QUIC
//! Transport in Large-scale Video Services", SIGCOMM 2021, and its implementation, xquic).
//!
//! Data that is not acknowledged in time is sent again on another path, before new data: it may
//! block the head of the line. Data given to a poor path is sent again at once.
//!
//! xquic measures every path by the fastest one, so that in a long transfer most of what a slower
//! path carries is overdue and the fast one repeats it; XLINK therefore switches reinjection by how
//! full the player's buffer is. There is no player here: data is measured by the round-trip time of
//! its own path, unless `measure` is `fastest`.

use std::collections::BTreeMap;
use std::time::Duration;

use trackbed_core::{Time, parameters};

use super::{Action, Outstanding, PathId, PathView, Scheduler, SchedulingAlgorithm, View};

pub(crate) static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "reinject",
    summary: "minrtt; overdue data is sent again on another path (XLINK, 2021)",
    source: "Zheng et al., SIGCOMM 2021; xquic, deadline reinjection",
    parameters: parameters! {
        "factor": Number = "1.1" => "data is overdue after this multiple of the smoothed round-trip time";
        "measure": Choice(MEASURES) = OWN =>
            "the path whose round-trip time is used: the one that carries the data, or the fastest \
             one";
        "latest": Time = "500 ms" => "the latest time after which data is overdue";
        "earliest": Time = "20 ms" => "the earliest time after which data is overdue";
    },
    build: |arguments, _| {
        let factor: f64 = arguments.need("factor");
        Box::new(Deadline {
            factor_permille: (factor * 1e3).round() as u32,
            own: arguments.need::<&str>("measure") == OWN,
            latest: arguments.need("latest"),
            earliest: arguments.need("earliest"),
            on_time: 0,
            inspected: 0,
            losses: BTreeMap::new(),
        })
    },
};

#[derive(Debug)]
struct Deadline {
    factor_permille: u32,
    /// A path is measured by its own round-trip time, not by that of the fastest.
    own: bool,
    latest: Duration,
    earliest: Duration,
    /// All data before this offset was carried again, or is acknowledged.
    on_time: u64,
    /// All data before this offset was looked at for having been given to a poor path.
    inspected: u64,
    losses: BTreeMap<PathId, LossWatch>,
}

impl Scheduler for Deadline {
    fn next(&mut self, view: &View<'_>) -> Action {
        self.watch(view);
        if let Some(action) = self.repeat_from_poor(view) {
            return action;
        }
        let until = match self.overdue(view) {
            Overdue::Now(action) => return action,
            Overdue::At(until) => Some(until),
            Overdue::Nothing => None,
        };
        if view.sendable_bytes() > 0
            && let Some(path) = view.path_for(None)
        {
            return view.send_segment(path);
        }
        Action::Wait { until }
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.losses.remove(&path);
    }
}

enum Overdue {
    Now(Action),
    At(Time),
    Nothing,
}

impl Deadline {
    /// The oldest data that was carried once, if it is overdue and another path has room. The first
    /// that is on time ends the search: it is what the peer waits for.
    fn overdue(&mut self, view: &View<'_>) -> Overdue {
        self.on_time = self.on_time.max(view.una_offset);
        while let Some(data) = view.backlog.at(self.on_time) {
            if data.repeats == 0 {
                let due = data.sent_at + self.patience(view, &data);
                if due > view.now {
                    return Overdue::At(due);
                }
                let Some(action) = repeat(view, &data) else { return Overdue::Nothing };
                self.on_time = data.end;
                return Overdue::Now(action);
            }
            self.on_time = data.end;
        }
        Overdue::Nothing
    }

    fn patience(&self, view: &View<'_>, data: &Outstanding) -> Duration {
        let fastest = view.candidates().map(|path| path.srtt).filter(|srtt| !srtt.is_zero()).min();
        let own = view.path(data.path).map(|path| path.srtt).filter(|_| self.own);
        let flexible = own.or(fastest).unwrap_or(self.latest) * self.factor_permille / 1_000;
        flexible.min(self.latest).max(self.earliest)
    }

    fn repeat_from_poor(&mut self, view: &View<'_>) -> Option<Action> {
        self.inspected = self.inspected.max(view.una_offset);
        while let Some(data) = view.backlog.at(self.inspected) {
            let holder = view.path(data.path);
            if data.repeats == 0 && holder.is_some_and(|path| self.is_poor(path)) {
                let action = repeat(view, &data)?;
                self.inspected = data.end;
                return Some(action);
            }
            self.inspected = data.end;
        }
        None
    }

    fn is_poor(&self, path: &PathView) -> bool {
        let watch = self.losses.get(&path.id);
        path.srtt > POOR_SRTT
            || path.timeouts >= POOR_TIMEOUTS
            || watch.is_some_and(|watch| watch.percent > POOR_LOSS_PERCENT)
    }

    fn watch(&mut self, view: &View<'_>) {
        for path in view.paths {
            self.losses.entry(path.id).or_insert_with(|| LossWatch::new(path)).note(path);
        }
    }
}

/// Carries data again on the fastest path that did not carry it yet and has room.
fn repeat(view: &View<'_>, data: &Outstanding) -> Option<Action> {
    let able = view.candidates().filter(|path| path.can_send());
    let fresh = able.filter(|path| !view.backlog.was_sent_on(data.start, path.id));
    let path = fresh.min_by_key(|path| path.srtt)?.id;
    Some(Action::Repeat { path, from: data.start, until: data.end })
}

/// The share of lost segments on a path, over its last hundred or so.
#[derive(Debug)]
struct LossWatch {
    /// The counters at the last look.
    sent: u64,
    lost: u64,
    percent: u64,
}

impl LossWatch {
    fn new(path: &PathView) -> LossWatch {
        LossWatch { sent: path.segments_sent, lost: path.retransmissions, percent: 0 }
    }

    fn note(&mut self, path: &PathView) {
        let sent = path.segments_sent.saturating_sub(self.sent);
        if sent >= LOSS_WINDOW_SEGMENTS {
            let lost = path.retransmissions.saturating_sub(self.lost);
            *self = LossWatch { percent: lost * 100 / sent, ..LossWatch::new(path) };
        }
    }
}

const OWN: &str = "own";
const MEASURES: &[&str] = &[OWN, "fastest"];
/// What makes a path poor (xquic).
const POOR_SRTT: Duration = Duration::from_secs(2);
const POOR_TIMEOUTS: u32 = 2;
const POOR_LOSS_PERCENT: u64 = 30;
/// How often the share of losses is taken.
const LOSS_WINDOW_SEGMENTS: u64 = 100;

#[cfg(test)]
mod tests {
    use trackbed_core::parameter::Value;

    use super::super::fixture::{Scene, build, copy, full, path, segment};
    use super::*;

    fn ms(value: u64) -> Time {
        Time::from_millis(value)
    }

    /// Three segments on the slow path, sent at 1,000, 1,010 and 1,020 ms, and nothing new.
    fn scene() -> Scene {
        let mut scene = Scene::new(vec![path(0, 40), path(1, 100)]);
        scene.unsent_bytes = 0;
        for at in [1_000, 1_010, 1_020] {
            scene.now = ms(at);
            scene.sent(1);
        }
        scene
    }

    /// As in xquic.
    fn by_the_fastest() -> Box<dyn Scheduler> {
        build(&ENTRY, &[("measure", Value::Choice("fastest"))])
    }

    #[test]
    fn a_path_is_measured_by_itself() {
        // 1.1 * 100 ms.
        let mut scene = scene();
        let mut scheduler = build(&ENTRY, &[]);
        let until = Some(ms(1_110));
        assert_eq!(scheduler.next(&scene.view()), Action::Wait { until });
        scene.now = ms(1_110);
        assert_eq!(scene.run(&mut *scheduler), [copy(0, 0)]);
    }

    #[test]
    fn what_is_overdue_is_carried_once_more() {
        // 1.1 * 40 ms.
        let mut scene = scene();
        let mut scheduler = by_the_fastest();
        let wait = |at| Action::Wait { until: Some(ms(at)) };
        scene.now = ms(1_043);
        assert_eq!(scheduler.next(&scene.view()), wait(1_044));
        scene.now = ms(1_054);
        assert_eq!(scene.run(&mut *scheduler), [copy(0, 0), copy(0, 1_000)]);
        assert_eq!(scheduler.next(&scene.view()), wait(1_064));
        scene.now = ms(1_500);
        assert_eq!(scene.run(&mut *scheduler), [copy(0, 2_000)]);
        assert_eq!(scheduler.next(&scene.view()), Action::WAIT);
    }

    #[test]
    fn what_was_acknowledged_is_left_alone() {
        let mut scene = scene();
        scene.now = ms(1_500);
        scene.una_offset = 2_000;
        scene.out.0.drain(..2);
        assert_eq!(scene.run(&mut *build(&ENTRY, &[])), [copy(0, 2_000)]);
    }

    #[test]
    fn it_goes_before_new_data_and_never_where_it_was() {
        let mut scene = scene();
        scene.unsent_bytes = 1_000;
        scene.now = ms(1_050);
        assert_eq!(by_the_fastest().next(&scene.view()), copy(0, 0));
        scene.paths[0] = full(0, 40);
        let mut scheduler = by_the_fastest();
        assert_eq!(scheduler.next(&scene.view()), segment(1));
    }

    #[test]
    fn the_deadline_has_bounds() {
        for (srtt, due) in [(5, 1_020), (40, 1_044), (400, 1_440), (700, 1_500)] {
            let mut scene = scene();
            scene.paths[0].srtt = Duration::from_millis(srtt);
            scene.paths[1].srtt = Duration::from_millis(900);
            let mut scheduler = by_the_fastest();
            scene.now = ms(due - 1);
            assert_eq!(scene.run(&mut *scheduler), []);
            scene.now = ms(due);
            assert_eq!(scene.run(&mut *scheduler)[0], copy(0, 0));
        }
    }

    #[test]
    fn a_poor_path_is_helped_at_once() {
        let good = path(1, 100);
        let poor = [
            PathView { srtt: Duration::from_millis(2_001), ..good.clone() },
            PathView { timeouts: 2, ..good.clone() },
            PathView { segments_sent: 100, retransmissions: 31, ..good.clone() },
        ];
        for poor in poor {
            let mut scene = scene();
            let mut scheduler = build(&ENTRY, &[]);
            assert_eq!(scene.run(&mut *scheduler), []);
            // What was sent while the path was good has its deadline; what follows has not.
            scene.paths[1] = poor;
            scene.sent(1);
            assert_eq!(scene.run(&mut *scheduler), [copy(0, 3_000)]);
        }
        let mut scene = scene();
        let mut scheduler = build(&ENTRY, &[]);
        scheduler.next(&scene.view());
        scene.paths[1] = PathView { segments_sent: 100, retransmissions: 30, ..good };
        scene.sent(1);
        assert_eq!(scene.run(&mut *scheduler), []);
    }
}
