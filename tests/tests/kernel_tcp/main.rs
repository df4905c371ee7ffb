//! The engine against the kernel's TCP, on the wire and in real time: the kernel in a network
//! namespace of its own, the engine inside the emulation, link models between them.
//!
//! Every byte of both streams is compared with what the seed says, the ends have to be clean, and
//! what both sides send is held against the RFCs. A failing case prints the command that plays it
//! again, and leaves a capture. Where the machine allows no namespaces the tests say so and pass.
//!
//! - `TRACKBED_KERNEL_TCP_CASES=2000` plays so many random cases.
//! - `TRACKBED_KERNEL_TCP_CASE=17` plays one, and tells what became of it; with a number of cases,
//!   it is the first.
#![cfg(target_os = "linux")]

mod app;
mod capture;
mod case;
mod directed;
mod ground;
mod host;
mod kernel;
mod verdict;
mod wire;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use trackbed_emulator::namespace::NetNamespace;
use trackbed_net::{Alteration, DropReason, Point};

use app::Failure;
use case::Case;
use ground::Outcome;

#[test]
#[ignore = "thorough: real time"]
fn random_cases_end_well() {
    if !is_possible() {
        return;
    }
    let (first, count) = range();
    let next = AtomicU64::new(first);
    let failed = AtomicUsize::new(0);
    let met = Met::default();
    let printing = Mutex::new(());
    let play = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= first + count || failed.load(Ordering::Relaxed) >= FAILURES_MAX {
            return;
        }
        let case = Case::new(number);
        let outcome = ground::play(&case.setup);
        met.note(&outcome);
        let problems = verdict::problems(&case.setup, &outcome);
        if count == 1 || !problems.is_empty() {
            let _one_at_a_time = printing.lock();
            tell(&case, &outcome, &problems);
        }
        failed.fetch_add(usize::from(!problems.is_empty()), Ordering::Relaxed);
    };
    // What takes time is waiting.
    thread::scope(|scope| (0..AT_ONCE.min(count)).for_each(|_| drop(scope.spawn(play))));
    assert_eq!(failed.into_inner(), 0, "cases failed; each is printed above with its command");
    println!("{count} cases: {met:?}");
    assert!(count < CASES || met.everything(), "the cases spare something: {met:?}");
}

/// What the cases met with: what they do not meet, they do not test.
#[derive(Debug, Default)]
struct Met {
    lost: AtomicUsize,
    overflowed: AtomicUsize,
    damaged: AtomicUsize,
    doubled: AtomicUsize,
    held_back: AtomicUsize,
    marked: AtomicUsize,
    retransmitted: AtomicUsize,
    timeouts: AtomicUsize,
    undone: AtomicUsize,
    resets: AtomicUsize,
}

impl Met {
    fn note(&self, outcome: &Outcome) {
        for seen in &outcome.packets {
            let counter = match seen.point {
                Point::Dropped(DropReason::Loss) => &self.lost,
                Point::Dropped(DropReason::QueueFull) => &self.overflowed,
                Point::Altered(Alteration::Corrupted) => &self.damaged,
                Point::Altered(Alteration::Duplicated) => &self.doubled,
                Point::Altered(Alteration::HeldBack) => &self.held_back,
                Point::Altered(Alteration::Marked) => &self.marked,
                _ => continue,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let Some(engine) = &outcome.engine else { return };
        let add = |counter: &AtomicUsize, n: u64| counter.fetch_add(n as usize, Ordering::Relaxed);
        add(&self.retransmitted, engine.stats.retransmissions);
        add(&self.timeouts, engine.stats.timeouts);
        add(&self.undone, engine.stats.undos);
        let reports = [&engine.report, &outcome.kernel.report];
        let resets = reports.iter().filter(|report| report.failure == Some(Failure::Reset));
        add(&self.resets, resets.count() as u64);
    }

    fn everything(&self) -> bool {
        let Met { lost, overflowed, damaged, doubled, held_back, .. } = self;
        let Met { marked, retransmitted, timeouts, undone, resets, .. } = self;
        let counters = [lost, overflowed, damaged, doubled, held_back];
        let others = [marked, retransmitted, timeouts, undone, resets];
        counters.iter().chain(&others).all(|counter| counter.load(Ordering::Relaxed) > 0)
    }
}

fn tell(case: &Case, outcome: &Outcome, problems: &[String]) {
    println!("{case}");
    println!("  engine: {:?}", outcome.engine);
    println!("  kernel: {:?}", outcome.kernel);
    problems.iter().for_each(|problem| println!("WRONG: {problem}"));
    let path = std::env::temp_dir().join(format!("trackbed-kernel-tcp-{}.pcapng", case.number));
    match capture::write(&path, &case.command(), &outcome.packets) {
        Ok(()) => println!("packets: {}", path.display()),
        Err(why) => println!("packets: {} cannot be written: {why}", path.display()),
    }
    println!("play it again: {}\n", case.command());
}

/// Whether this machine lets us make namespaces; says so if not.
fn is_possible() -> bool {
    let made = NetNamespace::new();
    if let Err(why) = &made {
        eprintln!("SKIPPED: this machine allows no network namespaces ({why})");
    }
    made.is_ok()
}

/// The first case, and how many.
fn range() -> (u64, u64) {
    match (setting("TRACKBED_KERNEL_TCP_CASE"), setting("TRACKBED_KERNEL_TCP_CASES")) {
        (None, None) => (0, CASES),
        (Some(case), None) => (case, 1),
        (first, Some(cases)) => (first.unwrap_or(0), cases),
    }
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: write a whole number")))
}

const CASES: u64 = 300;
const AT_ONCE: u64 = 12;
const FAILURES_MAX: usize = 10;
