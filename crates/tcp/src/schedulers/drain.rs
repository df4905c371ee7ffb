//! Every scheduler, with every wrapper, against a model of paths that fail and recover: it always
//! gives data only to eligible paths, and in the end all data arrives.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use trackbed_core::{Rng, Seed, Time};

use super::fixture::{MSS, Scene, build, path};
use super::handover_aware::HandoverAware;
use super::opportunistic::Opportunistic;
use super::{Action, PathAcked, PathId, Scheduler, SchedulingAlgorithm, algorithms};

/// A connection whose paths carry segments in order, each in one round-trip time, and nothing while
/// they are down.
struct Model {
    scene: Scene,
    carriers: Vec<Carrier>,
    arrived: BTreeSet<u64>,
    window: u64,
    /// Segments given to paths, copies included.
    carried: u64,
    /// The latest time of the next call of the scheduler.
    ask_at: Option<Time>,
}

#[derive(Default)]
struct Carrier {
    /// First bytes of segments that wait for the window.
    queue: VecDeque<u64>,
    /// Segments in flight, and when they are acknowledged.
    flying: VecDeque<(Time, u64)>,
    down_since: Option<Time>,
}

impl Model {
    fn new(rng: &mut Rng, segments: u64) -> Model {
        let count = 1 + rng.below(3) as u32;
        let paths = (0..count)
            .map(|id| {
                let mut path = path(id, 10 + rng.below(150));
                path.cwnd_segments = 1 + rng.below(20) as u32;
                path.ssthresh_segments = if rng.below(2) == 0 { 5 } else { u32::MAX };
                path.rttvar = Duration::from_millis(rng.below(20));
                path.backup = id > 0 && rng.below(4) == 0;
                path
            })
            .collect();
        let mut scene = Scene::new(paths);
        scene.unsent_bytes = segments * u64::from(MSS);
        let carriers = (0..count).map(|_| Carrier::default()).collect();
        let window = u64::from(MSS) * (1 + rng.below(60));
        let arrived = BTreeSet::new();
        let ask_at = Some(Time::ZERO);
        Model { scene, carriers, arrived, window, carried: 0, ask_at }
    }

    /// A millisecond goes by. The scheduler is asked only if something changed, or if it wants it.
    fn step(&mut self, scheduler: &mut dyn Scheduler, rng: &mut Rng, calm: bool) {
        self.scene.now += Duration::from_millis(1);
        let now = self.scene.now;
        let mut changed = false;
        for (path, carrier) in self.scene.paths.iter_mut().zip(&mut self.carriers) {
            match carrier.down_since {
                None if !calm && rng.below(2_000) == 0 => carrier.down_since = Some(now),
                Some(_) if calm || rng.below(500) == 0 => carrier.down_since = None,
                _ => {}
            }
            let since = carrier.down_since.unwrap_or(now);
            let (stale, blocked) = (path.stale, path.blocked);
            path.stale = now - since > Duration::from_millis(300);
            if rng.below(200) == 0 || calm {
                path.blocked = !calm && rng.below(3) == 0;
            }
            changed |= (stale, blocked) != (path.stale, path.blocked);
        }
        let una = self.scene.una_offset;
        changed |= self.deliver(scheduler) || self.scene.una_offset != una;
        if changed || self.ask_at.is_some_and(|at| at <= now) {
            self.carry(scheduler);
            self.reinject(scheduler);
        }
        self.send_queued();
    }

    /// Windows let queued segments go.
    fn send_queued(&mut self) {
        let now = self.scene.now;
        for (path, carrier) in self.scene.paths.iter_mut().zip(&mut self.carriers) {
            while carrier.flying.len() < path.cwnd_segments as usize
                && let Some(start) = carrier.queue.pop_front()
            {
                carrier.flying.push_back((now + path.srtt, start));
                self.ask_at = Some(now);
            }
            path.queued_bytes = carrier.queue.len() as u32 * MSS;
            path.in_flight_segments = carrier.flying.len() as u32;
            path.room_bytes = (100 * MSS).saturating_sub(path.queued_bytes);
        }
    }

    fn deliver(&mut self, scheduler: &mut dyn Scheduler) -> bool {
        let now = self.scene.now;
        let mut any = false;
        for (path, carrier) in self.scene.paths.iter_mut().zip(&mut self.carriers) {
            while carrier.down_since.is_none()
                && let Some((_, start)) = carrier.flying.front().copied().filter(|fly| fly.0 <= now)
            {
                carrier.flying.pop_front();
                self.arrived.insert(start);
                any = true;
                path.in_flight_segments = carrier.flying.len() as u32;
                scheduler.on_acked(&PathAcked { now, path: path.id, bytes: MSS.into(), rtt: None });
            }
        }
        while self.arrived.remove(&self.scene.una_offset) {
            self.scene.una_offset += u64::from(MSS);
        }
        let una = self.scene.una_offset;
        self.scene.out.0.retain(|(data, _)| data.end > una);
        self.arrived.retain(|start| *start >= una);
        any
    }

    fn carry(&mut self, scheduler: &mut dyn Scheduler) {
        for answers in 0.. {
            assert!(answers < 10_000, "{scheduler:?} never waits");
            let out = self.scene.next_offset - self.scene.una_offset;
            self.scene.window_room_bytes = self.window.saturating_sub(out);
            self.scene.send_buffer_full = self.scene.unsent_bytes == 0 && out > 0;
            match scheduler.next(&self.scene.view()) {
                Action::Send { path, bytes } => self.send(path, bytes),
                Action::Repeat { path, from, until } => {
                    assert!(from >= self.scene.una_offset && until <= self.scene.next_offset);
                    let again = self.scene.view().backlog.was_sent_on(from, path);
                    assert!(!again, "{scheduler:?} repeats data on the same path");
                    self.scene.apply(Action::Repeat { path, from, until });
                    self.carriers[path.0 as usize].queue.push_back(from);
                    self.carried += 1;
                }
                penalty @ Action::Penalise { .. } => self.scene.apply(penalty),
                Action::Wait { until } => {
                    assert!(until.is_none_or(|until| until > self.scene.now));
                    self.ask_at = until;
                    return;
                }
            }
        }
    }

    fn send(&mut self, path: PathId, bytes: u32) {
        let view = self.scene.view();
        let chosen = view.path(path).expect("it is one of the view");
        assert!(chosen.is_usable() && chosen.room_bytes > 0, "{chosen:?}");
        assert!(view.sendable_bytes() > 0 && bytes > 0);
        let no_backup = |path: &&super::PathView| path.is_usable() && !path.backup && !path.blocked;
        let needed = !view.paths.iter().any(|path| no_backup(&path));
        assert!(!chosen.backup || needed, "a backup");
        let room = view.sendable_bytes().min(chosen.room_bytes.into());
        let segments = u64::from(bytes).min(room).div_ceil(u64::from(MSS));
        for _ in 0..segments {
            self.carriers[path.0 as usize].queue.push_back(self.scene.next_offset);
            self.scene.apply(Action::Send { path, bytes: MSS });
            self.scene.unsent_bytes -= u64::from(MSS);
            self.carried += 1;
        }
    }

    /// What stale paths hold is wanted elsewhere.
    fn reinject(&mut self, scheduler: &mut dyn Scheduler) {
        let held = |scene: &Scene| {
            let stale = |id| scene.view().path(id).is_some_and(|path| path.stale);
            scene.out.0.iter().map(|(data, _)| *data).find(|data| stale(data.path))
        };
        while let Some(data) = held(&self.scene)
            && let Some(path) = scheduler.reinject(&self.scene.view(), &data)
        {
            let chosen = self.scene.view().path(path).expect("it is one of the view");
            assert!(chosen.is_usable());
            self.scene.apply(Action::Repeat { path, from: data.start, until: data.end });
            self.carriers[path.0 as usize].queue.push_back(data.start);
            self.carried += 1;
        }
    }
}

fn wrap(inner: Box<dyn Scheduler>, wrapping: u64) -> Box<dyn Scheduler> {
    match wrapping {
        0 => inner,
        1 => Box::new(Opportunistic::new(inner)),
        2 => Box::new(HandoverAware::new(inner)),
        _ => Box::new(HandoverAware::new(Box::new(Opportunistic::new(inner)))),
    }
}

/// Runs a case and returns when it was done, and how much was carried.
fn run(entry: &SchedulingAlgorithm, case: u64) -> (Time, u64) {
    const SEGMENTS: u64 = 400;
    let mut rng = Seed::of_run(11, case).stream("drain");
    let mut model = Model::new(&mut rng, SEGMENTS);
    let mut scheduler = wrap(build(entry, &[]), case % 4);
    for millisecond in 0..200_000 {
        let calm = millisecond > 20_000;
        model.step(&mut *scheduler, &mut rng, calm);
        if model.scene.una_offset == SEGMENTS * u64::from(MSS) {
            return (model.scene.now, model.carried);
        }
    }
    panic!("{} does not finish case {case}: {:?}", entry.name, model.scene);
}

#[test]
fn every_scheduler_drains_over_paths_that_fail() {
    for entry in algorithms() {
        for case in 0..100 {
            run(entry, case);
        }
    }
}

#[test]
fn every_case_is_repeatable() {
    for entry in algorithms() {
        assert_eq!(run(entry, 3), run(entry, 3), "{}", entry.name);
    }
}
