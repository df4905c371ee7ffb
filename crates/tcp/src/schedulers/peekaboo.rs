//! Peekaboo, a scheduler that learns (Wu, Ferlin, Caso, Alay and Brunstrom, "Peekaboo:
//! Learning-based Multipath Scheduling for Dynamic Heterogeneous Environments", IEEE JSAC 2020).
//!
//! When the fastest path is full, a contextual bandit (LinUCB) decides between waiting for it and
//! sending on the next one. The data acknowledged soon after a decision is its reward.
//!
//! # Deviations
//! - The paper leaves units open; here windows are in segments and times in milliseconds, so that
//!   features and rewards are of the order of one.
//! - An arm is updated for one decision at a time: decisions made while the last one is still being
//!   rewarded are not used for learning. An acknowledgment counts with an age of at least 1 ms.
//! - The probability of reversing a decision, which the paper learns, is set by `wait-share` and
//!   `send-share`.

use std::time::Duration;

use trackbed_core::{Ratio, Rng, Time, parameters};

use super::{Action, PathAcked, PathView, Scheduler, SchedulingAlgorithm, View};

pub(crate) static ENTRY: SchedulingAlgorithm = SchedulingAlgorithm {
    name: "peekaboo",
    summary: "learns when to wait for the fastest path, by a contextual bandit (Wu et al. 2020)",
    source: "Wu et al., IEEE JSAC 2020",
    parameters: parameters! {
        "alpha": Number = "0.75" => "the amount of exploration";
        "wait-share": Share = "70 %" => "the probability of waiting where waiting seems better";
        "send-share": Share = "90 %" => "the probability of sending where sending seems better";
    },
    build: |arguments, seed| {
        let shares = ["wait-share", "send-share"].map(|name| arguments.need(name));
        let rng = seed.stream("scheduler/peekaboo");
        Box::new(Learner::new(arguments.need("alpha"), shares, rng))
    },
};

#[derive(Debug)]
struct Learner {
    alpha: f64,
    wait_share: Ratio,
    send_share: Ratio,
    rng: Rng,
    wait: Arm,
    send: Arm,
    /// It waits until the fastest path has room again.
    waiting: bool,
}

impl Scheduler for Learner {
    fn next(&mut self, view: &View<'_>) -> Action {
        if view.sendable_bytes() == 0 {
            return Action::WAIT;
        }
        let Some(fast) = view.fastest() else { return Action::WAIT };
        if fast.can_send() {
            self.waiting = false;
            return view.send_segment(fast.id);
        }
        let chosen = view.path_for(None).and_then(|id| view.path(id));
        let Some(slow) = chosen.filter(|_| !self.waiting) else { return Action::WAIT };
        self.waiting = self.decide(view, fast, slow);
        if self.waiting { Action::WAIT } else { view.send_segment(slow.id) }
    }

    fn on_acked(&mut self, acked: &PathAcked) {
        for arm in [&mut self.wait, &mut self.send] {
            arm.settle(acked.now);
            if let Some(trial) = &mut arm.trial {
                trial.collect(acked);
            }
        }
    }
}

impl Learner {
    fn new(alpha: f64, [wait_share, send_share]: [Ratio; 2], rng: Rng) -> Learner {
        let (wait, send) = (Arm::default(), Arm::default());
        Learner { alpha, wait_share, send_share, rng, wait, send, waiting: false }
    }

    /// True to wait for `fast`, false to send on `slow`.
    fn decide(&mut self, view: &View<'_>, fast: &PathView, slow: &PathView) -> bool {
        self.wait.settle(view.now);
        self.send.settle(view.now);
        let features = features(view, fast, slow);
        let better_to_wait =
            self.wait.score(&features, self.alpha) > self.send.score(&features, self.alpha);
        let share = if better_to_wait { self.wait_share } else { self.send_share };
        let waits = better_to_wait == self.rng.chance(share);
        let arm = if waits { &mut self.wait } else { &mut self.send };
        if arm.trial.is_none() {
            let span = (2 * fast.latest_rtt).max(slow.latest_rtt);
            let mss = f64::from(slow.mss_bytes.max(1));
            arm.trial = Some(Trial { features, start: view.now, span, mss, reward: 0.0 });
        }
        waits
    }
}

type Features = [f64; 6];

/// What the decision depends on: windows, flights and the peer's window, in segments, each over a
/// round-trip time in milliseconds. All zero without round-trip times.
fn features(view: &View<'_>, fast: &PathView, slow: &PathView) -> Features {
    let [rtt_f, rtt_s] = [fast, slow].map(|path| path.latest_rtt.as_secs_f64() * 1e3);
    if rtt_f == 0.0 || rtt_s == 0.0 {
        return Features::default();
    }
    let window = |path: &PathView| view.window_bytes() as f64 / f64::from(path.mss_bytes.max(1));
    [
        f64::from(fast.cwnd_segments) / rtt_f,
        f64::from(slow.in_flight_segments) / rtt_s,
        window(fast) / rtt_f,
        window(slow) / rtt_s,
        f64::from(fast.in_flight_segments) / rtt_f,
        f64::from(slow.cwnd_segments) / rtt_s,
    ]
}

/// One of the two choices, with what was learnt of it (LinUCB; Li, Chu, Langford and Schapire, "A
/// Contextual-Bandit Approach to Personalized News Article Recommendation", WWW 2010, algorithm 1).
#[derive(Debug)]
struct Arm {
    /// A^-1, with A = I + sum of x x'.
    inverse: [Features; 6],
    /// The sum of R x.
    b: Features,
    /// The decision whose reward is being collected.
    trial: Option<Trial>,
}

/// A decision and what came of it so far.
#[derive(Debug)]
struct Trial {
    features: Features,
    start: Time,
    /// T_r.
    span: Duration,
    mss: f64,
    reward: f64,
}

impl Default for Arm {
    fn default() -> Arm {
        let mut inverse = [Features::default(); 6];
        for (i, row) in inverse.iter_mut().enumerate() {
            row[i] = 1.0;
        }
        Arm { inverse, b: Features::default(), trial: None }
    }
}

impl Arm {
    /// The upper confidence bound of the reward: theta' x + alpha sqrt(x' A^-1 x).
    fn score(&self, x: &Features, alpha: f64) -> f64 {
        let theta = self.solve(&self.b);
        dot(&theta, x) + alpha * dot(x, &self.solve(x)).max(0.0).sqrt()
    }

    /// A^-1 v.
    fn solve(&self, v: &Features) -> Features {
        let mut product = Features::default();
        for (value, row) in product.iter_mut().zip(&self.inverse) {
            *value = dot(row, v);
        }
        product
    }

    /// Learns from the trial if its time is over.
    fn settle(&mut self, now: Time) {
        if let Some(trial) = self.trial.take_if(|trial| now - trial.start >= trial.span * 3) {
            self.learn(&trial.features, trial.reward);
        }
    }

    /// A += x x', b += R x; the inverse by the formula of Sherman and Morrison (1950):
    /// A^-1 -= (A^-1 x)(A^-1 x)' / (1 + x' A^-1 x).
    fn learn(&mut self, x: &Features, reward: f64) {
        let u = self.solve(x);
        let scale = 1.0 / (1.0 + dot(x, &u));
        for (row, ui) in self.inverse.iter_mut().zip(&u) {
            for (value, uj) in row.iter_mut().zip(&u) {
                *value -= ui * uj * scale;
            }
        }
        for (sum, value) in self.b.iter_mut().zip(x) {
            *sum += reward * value;
        }
    }
}

impl Trial {
    /// Segments over the age of the decision in milliseconds; the later the less they count.
    fn collect(&mut self, acked: &PathAcked) {
        let age = acked.now - self.start;
        let share = match age {
            _ if age <= self.span => 0.9,
            _ if age <= self.span * 2 => 0.7,
            _ => 0.5,
        };
        let age_ms = age.max(LEAST_AGE).as_secs_f64() * 1e3;
        self.reward += share * (acked.bytes as f64 / self.mss) / age_ms;
    }
}

fn dot(a: &Features, b: &Features) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// What is acknowledged right after a decision is no merit of it.
const LEAST_AGE: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use trackbed_core::Seed;
    use trackbed_core::parameter::{Arguments, Value};

    use super::super::PathId;
    use super::super::fixture::{Scene, build, full, path, segment};
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_inverse_is_that_of_the_sum() {
        let mut rng = Seed::of_run(1, 1).stream("vectors");
        let mut arm = Arm::default();
        let mut matrix = Arm::default().inverse;
        for _ in 0..50 {
            let x = Features::default().map(|_| rng.unit() * 3.0);
            arm.learn(&x, rng.unit());
            for (row, xi) in matrix.iter_mut().zip(&x) {
                for (value, xj) in row.iter_mut().zip(&x) {
                    *value += xi * xj;
                }
            }
        }
        for i in 0..6 {
            let column = matrix.map(|row| row[i]);
            for (j, value) in arm.solve(&column).into_iter().enumerate() {
                assert!(near(value, if i == j { 1.0 } else { 0.0 }), "{i} {j} {value}");
            }
        }
    }

    #[test]
    fn the_score_is_the_upper_confidence_bound() {
        let mut arm = Arm::default();
        let x = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        // Nothing is known: 0.75 * sqrt(4).
        assert!(near(arm.score(&x, 0.75), 1.5));
        arm.learn(&x, 10.0);
        // A = 1 + 4, b = 20: theta = 4; 4 * 2 + 0.75 * sqrt(4/5).
        assert!(near(arm.score(&x, 0.75), 8.0 + 0.75 * 0.8f64.sqrt()));
        let other = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        assert!(near(arm.score(&other, 0.75), 0.75));
    }

    #[test]
    fn the_features_are_rates() {
        let mut scene = Scene::new(vec![full(0, 20), path(1, 100)]);
        scene.paths[1].in_flight_segments = 5;
        (scene.next_offset, scene.window_room_bytes) = (30_000, 170_000);
        let view = scene.view();
        let got = features(&view, &scene.paths[0], &scene.paths[1]);
        // The window is 200 segments of 1,000 bytes.
        let expected = [10.0 / 20.0, 5.0 / 100.0, 200.0 / 20.0, 2.0, 0.5, 0.1];
        assert!(got.iter().zip(&expected).all(|(a, b)| near(*a, *b)), "{got:?}");
        let mut unknown = scene.paths[0].clone();
        unknown.latest_rtt = Duration::ZERO;
        assert_eq!(features(&view, &unknown, &scene.paths[1]), Features::default());
    }

    #[test]
    fn a_reward_fades_with_the_age_of_the_acknowledgment() {
        let mut arm = Arm::default();
        let (start, span) = (Time::from_millis(1_000), Duration::from_millis(100));
        let features = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        arm.trial = Some(Trial { features, start, span, mss: 1_000.0, reward: 0.0 });
        let acked = |ms: u64, bytes| {
            let now = Time::from_millis(1_000 + ms);
            PathAcked { now, path: PathId(0), bytes, rtt: None }
        };
        let mut learner = Learner { send: arm, ..learner() };
        for (ms, bytes) in [(0, 1_000), (50, 2_000), (100, 1_000), (200, 1_000), (250, 5_000)] {
            learner.on_acked(&acked(ms, bytes));
        }
        let expected = 0.9 + 0.9 * 2.0 / 50.0 + 0.9 / 100.0 + 0.7 / 200.0 + 0.5 * 5.0 / 250.0;
        assert!(near(learner.send.trial.as_ref().unwrap().reward, expected));
        // At three spans it is over, and what comes then does not count.
        learner.on_acked(&acked(300, 9_000));
        assert!(learner.send.trial.is_none());
        assert!(near(learner.send.b[0], expected));
    }

    /// The fast path is full, the slow one empty, and the peer's window holds 200 segments.
    fn scene() -> Scene {
        let window_room_bytes = 200_000;
        Scene { window_room_bytes, ..Scene::new(vec![full(0, 20), path(1, 100)]) }
    }

    fn learner() -> Learner {
        Learner::new(0.75, [Ratio::ONE; 2], Seed::of_run(1, 0).stream("test"))
    }

    #[test]
    fn waiting_lasts_until_the_fast_path_has_room() {
        let mut scene = scene();
        let mut learner = learner();
        // Both arms alike: it sends.
        assert_eq!(learner.next(&scene.view()), segment(1));
        let x = features(&scene.view(), &scene.paths[0], &scene.paths[1]);
        learner.wait.learn(&x, 100.0);
        assert_eq!(learner.next(&scene.view()), Action::WAIT);
        // It does not decide again although sending has become better.
        learner.send.learn(&x, 1_000.0);
        assert_eq!(learner.next(&scene.view()), Action::WAIT);
        let fast = std::mem::replace(&mut scene.paths[0], path(0, 20));
        assert_eq!(learner.next(&scene.view()), segment(0));
        scene.paths[0] = fast;
        assert_eq!(learner.next(&scene.view()), segment(1));
    }

    #[test]
    fn decisions_are_turned_round_as_often_as_is_set() {
        let scene = scene();
        let count = |better_to_wait: bool| {
            let share = |percent| Ratio::from_parts(percent, 100);
            let (wait_share, send_share) = (share(70), share(90));
            let mut learner = Learner { wait_share, send_share, ..learner() };
            let x = features(&scene.view(), &scene.paths[0], &scene.paths[1]);
            let arm = if better_to_wait { &mut learner.wait } else { &mut learner.send };
            arm.learn(&x, 100.0);
            let mut decide = || learner.decide(&scene.view(), &scene.paths[0], &scene.paths[1]);
            (0..10_000).filter(|_| decide()).count()
        };
        // Four standard deviations are 183 and 120.
        assert!(count(true).abs_diff(7_000) < 190);
        assert!(count(false).abs_diff(1_000) < 130);
    }

    #[test]
    fn the_same_seed_gives_the_same_decisions() {
        let decisions = |run| {
            let given = [("wait-share", Value::Share(Ratio::from_parts(1, 2)))];
            let arguments = Arguments::read(ENTRY.parameters, &given).unwrap();
            let mut scheduler = (ENTRY.build)(&arguments, &Seed::of_run(1, run));
            let mut scene = Scene::new(vec![full(0, 20), path(1, 100)]);
            (0..200)
                .map(|step| {
                    scene.now = Time::from_millis(step * 50);
                    scene.paths[0] = if step % 5 == 0 { path(0, 20) } else { full(0, 20) };
                    let now = scene.now;
                    let acked = PathAcked { now, path: PathId(1), bytes: 3_000, rtt: None };
                    scheduler.on_acked(&acked);
                    scheduler.next(&scene.view())
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(decisions(0), decisions(0));
        assert_ne!(decisions(0), decisions(1));
        assert_eq!(build(&ENTRY, &[]).next(&Scene::new(vec![]).view()), Action::WAIT);
    }
}
