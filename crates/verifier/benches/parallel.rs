//! What several workers gain: 100,000 signatures of 320 keys that all are there at the beginning, on
//! one worker and on two, split beforehand and from one queue, and with one worker 2.16 times slower.
//!
//! A makespan is the processor time of the worker that took longest, so that what else runs on the
//! machine matters little; and the wall clock's beside it.

use std::sync::Arc;

use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use trackbed_verifier::cache::SharedKey;
use trackbed_verifier::engine::{Engine, Options, Split, Task, monotonic_nanos};
use trackbed_verifier::{Digest, KeyTable, Path, PublicKey, Signature};

const KEYS: usize = 320;
const SIGNATURES: usize = 4_000;
const TASKS: usize = 100_000;
const ROUNDS: usize = 5;

struct Case {
    name: &'static str,
    options: Options,
    /// In microseconds a task: processor time of the longest worker, wall clock.
    cpu: Vec<f64>,
    wall: Vec<f64>,
}

fn main() {
    let tasks = tasks();
    let case = |name, workers, split, slow| {
        let slowdown_permille = if slow { vec![1000, 2160] } else { Vec::new() };
        let queue_max = 2 * TASKS;
        let options =
            Options { workers, split, queue_max, slowdown_permille, ..Options::default() };
        Case { name, options, cpu: Vec::new(), wall: Vec::new() }
    };
    let mut cases = [
        case("1 worker", 1, Split::Dynamic, false),
        case("2 workers, static", 2, Split::Static, false),
        case("2 workers, dynamic", 2, Split::Dynamic, false),
        case("2 workers, one slower, static", 2, Split::Static, true),
        case("2 workers, one slower, dynamic", 2, Split::Dynamic, true),
    ];
    for _ in 0..ROUNDS {
        for case in &mut cases {
            run(case, &tasks);
        }
    }
    println!("path {}, {TASKS} signatures", Path::fastest().name());
    println!("{:32} {:>10} {:>8} {:>10}", "", "us of CPU", "gain", "us of wall");
    let one = median(&cases[0].cpu);
    for case in &cases {
        let cpu = median(&case.cpu);
        println!("{:32} {cpu:10.3} {:8.2} {:10.3}", case.name, one / cpu, median(&case.wall));
    }
    let gain = median(&cases[3].cpu) / median(&cases[4].cpu);
    println!("dynamic against static with one slower: {gain:.2}");
}

fn run(case: &mut Case, tasks: &[Task]) {
    let tasks: Vec<Task> = tasks.iter().cycle().take(TASKS).cloned().collect();
    let begin = monotonic_nanos();
    let mut engine = Engine::start(&case.options, |done| {
        assert!(done.verdict.is_some_and(|verdict| verdict.is_valid()));
    })
    .expect("threads");
    assert_eq!(engine.submit_all(tasks), 0);
    let summary = engine.finish();
    assert_eq!(summary.verified.iter().sum::<u64>(), TASKS as u64);
    let longest = summary.cpu_nanos.iter().max().copied().unwrap_or(0);
    case.cpu.push(longest as f64 / 1e3 / TASKS as f64);
    case.wall.push((monotonic_nanos() - begin) as f64 / 1e3 / TASKS as f64);
}

fn tasks() -> Vec<Task> {
    let mut random = fastrand::Rng::with_seed(1);
    let keys: Vec<(SigningKey, Arc<KeyTable>)> = (0..KEYS)
        .map(|_| {
            let mut secret = [0; 32];
            random.fill(&mut secret);
            secret[0] &= 0x7f;
            let key = SigningKey::from_slice(&secret).expect("below the order");
            let point = key.verifying_key().to_sec1_point(false);
            let public = PublicKey::from_sec1(point.as_bytes()).expect("a key");
            (key, Arc::new(KeyTable::new(&public, Path::fastest())))
        })
        .collect();
    (0..SIGNATURES as u64)
        .map(|tag| {
            let (key, table) = &keys[random.usize(..KEYS)];
            let mut digest = [0; 32];
            random.fill(&mut digest);
            let signed: p256::ecdsa::Signature = key.sign_prehash(&digest).expect("it signs");
            let (r, s) = signed.split_bytes();
            Task {
                key: SharedKey::Table(Arc::clone(table)),
                digest: Digest(digest),
                signature: Signature { r: r.into(), s: s.into() },
                deadline_nanos: u64::MAX,
                tag,
            }
        })
        .collect()
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
