//! The engine's rules by arithmetic, and its threads by what comes out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::hazmat::PrehashSigner;

use super::batching::{BATCH_MAX, BATCH_NANOS_MAX, Rates};
use super::model::{Core, Model, Rules, closed_loop};
use super::*;
use crate::cache::{KeyCache, Policy, SharedKey};
use crate::{Digest, KeyTable, PublicKey, Signature, Verdict};

/// Tasks by some keys, of which every fifth is damaged; the tag is odd for those.
fn tasks(count: u64) -> Vec<Task> {
    let keys: Vec<SigningKey> =
        (1..5u8).map(|key| SigningKey::from_slice(&[key; 32]).expect("a key")).collect();
    let bytes = 2 * KeyTable::BYTES;
    let mut cache = KeyCache::new(Policy::Lru { bytes, after: 1 }, Path::fastest());
    let task = |number: u64| {
        let key = &keys[number as usize % keys.len()];
        let mut digest = [number as u8; 32];
        let signed: p256::ecdsa::Signature = key.sign_prehash(&digest).expect("it signs");
        let (r, s) = signed.split_bytes();
        let is_damaged = number.is_multiple_of(5);
        digest[7] ^= u8::from(is_damaged);
        Task {
            key: cache.get(&public(key)),
            digest: Digest(digest),
            signature: Signature { r: r.into(), s: s.into() },
            deadline_nanos: u64::MAX - number,
            tag: 2 * number + u64::from(is_damaged),
        }
    };
    (0..count).map(task).collect()
}

fn public(key: &SigningKey) -> PublicKey {
    PublicKey::from_sec1(key.verifying_key().to_sec1_point(false).as_bytes()).expect("a point")
}

type Seen = Arc<Mutex<BTreeMap<u64, Option<Verdict>>>>;

fn collector() -> (Seen, impl Fn(Done) + Send + Sync + 'static) {
    let seen = Seen::default();
    let collector = Arc::clone(&seen);
    let on_done = move |done: Done| {
        let twice = collector.lock().expect("whole").insert(done.tag, done.verdict);
        assert!(twice.is_none(), "a verdict for each task");
    };
    (seen, on_done)
}

#[test]
fn every_task_gets_its_verdict_once() {
    for split in [Split::Static, Split::Dynamic] {
        for workers in [1, 2, 3] {
            let (seen, on_done) = collector();
            let slowdown_permille = vec![1000, 2160];
            let options = Options { workers, split, slowdown_permille, ..Options::default() };
            let mut engine = Engine::start(&options, on_done).expect("threads");
            let mut tasks = tasks(200);
            let last = tasks.split_off(100);
            assert_eq!(engine.submit_all(tasks), 0);
            for task in last {
                engine.submit(task).expect("there is room");
            }
            let summary = engine.finish();
            assert_eq!(summary.verified.iter().sum::<u64>(), 200);
            assert!(split == Split::Dynamic || summary.verified.iter().all(|done| *done > 0));
            let seen = seen.lock().expect("whole");
            assert_eq!(seen.len(), 200);
            for (tag, verdict) in &*seen {
                let expected = if tag % 2 == 0 { Verdict::Valid } else { Verdict::Mismatch };
                assert_eq!(*verdict, Some(expected));
            }
        }
    }
}

#[test]
fn a_full_queue_refuses_and_late_tasks_are_dropped() {
    let (seen, on_done) = collector();
    let options = Options { queue_max: 10, drops_late: true, ..Options::default() };
    let mut engine = Engine::start(&options, on_done).expect("threads");
    let mut tasks = tasks(30);
    // The clock is beyond one nanosecond.
    tasks.iter_mut().step_by(3).for_each(|task| task.deadline_nanos = 1);
    assert_eq!(engine.submit_all(tasks), 20, "they come at once, before a worker can take any");
    assert_eq!(engine.finish().verified, [6]);
    let late = seen.lock().expect("whole").values().filter(|verdict| verdict.is_none()).count();
    assert_eq!(late, 4);
}

#[test]
fn the_task_that_is_due_first_is_taken_first() {
    let queue = Queue::new(100);
    let order = [5, 1, 9, 1, 7];
    for (tag, (task, deadline)) in tasks(5).into_iter().zip(order).enumerate() {
        assert_eq!(queue.push(Task { deadline_nanos: deadline, tag: tag as u64, ..task }), Ok(()));
    }
    queue.close();
    let (mut batch, mut tags) = (Vec::new(), Vec::new());
    while queue.take(|queued| queued.min(2), &mut batch) {
        tags.extend(batch.iter().map(|task| task.tag));
    }
    assert_eq!(tags, [1, 3, 0, 4, 2]);
}

#[test]
fn batches_follow_the_queue_the_rate_and_the_time() {
    let rates = Rates::new(2);
    assert_eq!(rates.batch(0, 2, 1_000), 1, "nothing is known yet");
    rates.record(0, 10, 10 * 5_000);
    rates.record(1, 10, 10 * 5_000);
    for (queued, batch) in [(0, 1), (1, 1), (3, 1), (8, 2), (100, 25), (100_000, BATCH_MAX)] {
        assert_eq!(rates.batch(0, 2, queued), batch, "{queued} wait");
    }
    // By itself a worker may take half of what there is.
    assert_eq!(rates.batch(0, 1, 100), 50);
    // 100 us a task: ten of them take a millisecond.
    let slow = Rates::new(1);
    slow.record(0, 1, BATCH_NANOS_MAX / 10);
    assert_eq!(slow.batch(0, 1, 100_000), 10);
    slow.record(0, 1, 1_000 * BATCH_NANOS_MAX);
    assert_eq!(slow.batch(0, 1, 100_000), 1);
    // Half as fast, half as many; the mean is between both.
    let unequal = Rates::new(2);
    unequal.record(0, 1, 4_000);
    unequal.record(1, 1, 8_000);
    assert_eq!((unequal.batch(0, 2, 200), unequal.batch(1, 2, 200)), (75, 37));
}

/// A core this much slower than the reference core.
fn slowed(slowdown_permille: u32) -> Core {
    Core { slowdown_permille, ..Core::PLAIN }
}

#[test]
fn the_papers_eight_cores_gain_by_taking_turns() {
    // Four A15 of 1,575/s and four A7 of 721/s (ETRI 2018): a static split is as slow as eight of
    // the slow ones, 5,768/s; what they can do together is 9,184/s.
    let cores = [[Core::PLAIN; 4], [slowed(2_184); 4]].concat();
    let nanos = 1_000_000_000 / 1_575;
    let rate = |split| {
        let outcome = closed_loop(100_000, nanos, &cores, Rules::unbounded(split));
        let work = outcome
            .busy_nanos
            .iter()
            .zip(&cores)
            .map(|(busy, core)| *busy as f64 * 1000.0 / f64::from(core.slowdown_permille));
        assert_eq!((work.sum::<f64>() / nanos as f64).round(), 100_000.0, "every task is done");
        100_000.0 * 1e9 / outcome.makespan_nanos as f64
    };
    let (fixed, dynamic) = (rate(Split::Static), rate(Split::Dynamic));
    assert!((5_760.0..5_776.0).contains(&fixed), "{fixed}");
    assert!((9_170.0..9_185.0).contains(&dynamic), "{dynamic}");
}

#[test]
fn two_workers_of_which_one_is_slower_gain_by_taking_turns() {
    let fast = Core { batch_nanos: 10_000, ..Core::PLAIN };
    let slow = Core { slowdown_permille: 2_160, ..fast };
    let makespan = |cores: &[Core], split| {
        closed_loop(100_000, 3_500, cores, Rules::unbounded(split)).makespan_nanos as f64
    };
    let unequal = [fast, slow];
    let gain = makespan(&unequal, Split::Static) / makespan(&unequal, Split::Dynamic);
    // At best 2.16 / (2 / (1 + 1 / 2.16)) = 1.58.
    assert!((1.5..1.59).contains(&gain), "{gain}");
    let one = makespan(&[fast], Split::Dynamic);
    for split in [Split::Static, Split::Dynamic] {
        assert!(one / makespan(&[fast, fast], split) > 1.99, "{split:?}");
    }
    assert_eq!(closed_loop(0, 1, &[fast], Rules::unbounded(Split::Dynamic)).makespan_nanos, 0);
    // A quarter of a core takes four times as long, except for the pause after the last batch.
    let quarter = Rules { share_permille: 250, ..Rules::unbounded(Split::Dynamic) };
    let slowed = closed_loop(100_000, 3_500, &[fast], quarter).makespan_nanos as f64;
    assert!((3.98..=4.0).contains(&(slowed / one)), "{}", slowed / one);
}

/// Its launch takes as long as ten tasks on the core, and a task a hundredth.
#[test]
fn a_device_takes_only_batches_that_are_worth_its_launch() {
    let cores = [Core::PLAIN, Core { batch_nanos: 100_000_000, slowdown_permille: 10, least: 11 }];
    let run = |tasks| closed_loop(tasks, 100_000, &cores, Rules::unbounded(Split::Dynamic));
    assert_eq!(run(10).busy_nanos, [1_000_000, 0]);
    let many = run(10_000);
    assert!(many.makespan_nanos < 15_000_000 && many.busy_nanos[1] > 9_000_000, "{many:?}");
}

/// What comes out of a model until nothing is left to happen: tags, and when they were done.
fn run_out(model: &mut Model) -> Vec<(u64, bool, u64)> {
    let mut seen = Vec::new();
    while let Some(now) = model.next_wake() {
        model.advance(now);
    }
    while let Some(done) = model.next_done() {
        seen.push((done.tag, done.is_verified, done.finished_nanos));
    }
    seen
}

fn task(tag: u64, deadline_nanos: u64, nanos: u64) -> model::Task {
    model::Task { tag, deadline_nanos, nanos }
}

#[test]
fn one_core_does_what_comes_in_the_order_of_deadlines() {
    let mut model = Model::new(&[slowed(2_000)], Rules::unbounded(Split::Dynamic));
    // The first is begun at once; of those that come meanwhile the one that is due first is next.
    for (at, task) in [(10, task(1, 900, 100)), (20, task(2, 800, 50)), (30, task(3, 700, 50))] {
        assert_eq!(model.submit(at, task), Ok(()));
    }
    assert_eq!((model.next_wake(), model.queued()), (Some(210), 2));
    assert_eq!(run_out(&mut model), [(1, true, 210), (3, true, 310), (2, true, 410)]);
    assert_eq!(model.busy_nanos(), [400]);
    // It was idle, and starts again.
    assert_eq!(model.submit(1_000, task(4, 0, 1)), Ok(()));
    assert_eq!(run_out(&mut model), [(4, true, 1_002)]);
}

#[test]
fn the_model_drops_what_is_late_refuses_what_is_too_much_and_keeps_to_its_share() {
    let rules = Rules {
        queue_max: 2,
        drops_late: true,
        share_permille: 250,
        ..Rules::unbounded(Split::Dynamic)
    };
    let mut model = Model::new(&[Core::PLAIN], rules);
    assert_eq!(model.submit(0, task(1, 100, 100)), Ok(()));
    assert_eq!(model.submit(1, task(2, 399, 100)), Ok(()));
    assert_eq!(model.submit(2, task(3, 400, 100)), Ok(()));
    assert_eq!(model.submit(3, task(4, 401, 100)), Err(Full));
    // Of 400 ns it works 100 and rests 300; then the second is late by one.
    assert_eq!(run_out(&mut model), [(1, true, 100), (2, false, 400), (3, true, 500)]);
}

#[test]
fn a_static_split_leaves_a_task_with_whose_turn_it_was() {
    let mut model = Model::new(&[Core::PLAIN, Core::PLAIN], Rules::unbounded(Split::Static));
    // The tasks go to the second worker, the first, and the second again, which is busy.
    for number in 0..3 {
        let nanos = if number == 0 { 1_000 } else { 10 };
        assert_eq!(model.submit(number, task(number, 0, nanos)), Ok(()));
    }
    assert_eq!(run_out(&mut model), [(1, true, 11), (0, true, 1_000), (2, true, 1_010)]);
}

#[test]
fn a_budget_is_shared_out_among_workers() {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(worker_share(1000, processors), 1000);
    assert_eq!(worker_share(500, processors), 500);
    assert_eq!(worker_share(500, 2 * processors), 250);
    assert_eq!(worker_share(1000, 1), 1000);
    assert_eq!(worker_share(0, 1_000_000), 1);
}

#[test]
fn tables_come_later_and_once() {
    let policy = Policy::Lru { bytes: 2 * KeyTable::BYTES, after: 2 };
    let mut tables = LaterTables::start(KeyCache::new(policy, Path::Portable)).expect("a thread");
    let keys = [1, 2, 3].map(|key| public(&SigningKey::from_slice(&[key; 32]).expect("a key")));
    let has_table = |key: SharedKey| matches!(key, SharedKey::Table(_));
    assert!(!has_table(tables.get(&keys[0])) && !has_table(tables.get(&keys[1])));
    assert!(!has_table(tables.get(&keys[0])), "it is asked for now");
    let begin = monotonic_nanos();
    while !has_table(tables.get(&keys[0])) {
        assert!(monotonic_nanos() - begin < 60_000_000_000, "no table in a minute");
        std::thread::yield_now();
    }
    assert!(!has_table(tables.get(&keys[2])));
    assert_eq!(tables.cache().tables(), 1);
    assert!(tables.finish() > 0);
}

#[test]
fn the_end_does_not_wait_for_unneeded_tables() {
    let policy = Policy::Lru { bytes: 4_000 * KeyTable::BYTES, after: 1 };
    let mut tables = LaterTables::start(KeyCache::new(policy, Path::Portable)).expect("a thread");
    let asked = 2_000;
    let keys = crate::curve::multiples(asked as usize).map(PublicKey::of_point);
    let keys: Vec<_> = keys.collect();
    for key in &keys {
        drop(tables.get(key));
    }
    let begin = thread_cpu_nanos();
    let _ = KeyTable::new(&keys[0], Path::Portable);
    let one = thread_cpu_nanos() - begin;
    // Some were computed meanwhile; those without room in the queue were never requested.
    let built = tables.finish() / one.max(1);
    assert!(built < asked / 2, "{built} tables");
}
