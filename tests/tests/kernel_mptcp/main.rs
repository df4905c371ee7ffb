//! The engine against the kernel's Multipath TCP, on the wire and in real time: the kernel in a
//! network namespace with two interfaces, the engine inside the emulation with two addresses, link
//! models between them.
//!
//! Every byte of both streams is compared with what the seed says, and the ends have to be clean.
//! A failing case prints the command that plays it again, and leaves a capture. Where the machine
//! allows no namespaces, or has no Multipath TCP or `ip mptcp`, the tests say so and pass.
//!
//! - `TRACKBED_KERNEL_MPTCP_CASES=2000` plays so many random cases.
//! - `TRACKBED_KERNEL_MPTCP_CASE=17` plays one, and tells what became of it.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "the tests of the kernel's TCP use the rest")]
#[path = "../kernel_tcp/app.rs"]
mod app;
mod case;
mod directed;
mod ground;
mod host;
#[allow(dead_code, reason = "the tests of the kernel's TCP use the rest")]
#[path = "../kernel_tcp/kernel.rs"]
mod kernel;
mod verdict;

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use trackbed_emulator::namespace::NetNamespace;

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
    joined: AtomicUsize,
    plain: AtomicUsize,
    repeated: AtomicUsize,
    lost_paths: AtomicUsize,
    prioritised_by_kernel: AtomicUsize,
    prioritised_by_engine: AtomicUsize,
}

impl Met {
    fn note(&self, outcome: &Outcome) {
        let Some(engine) = &outcome.engine else { return };
        let add = |counter: &AtomicUsize, n: u64| counter.fetch_add(n as usize, Ordering::Relaxed);
        add(&self.joined, u64::from(engine.multipath.subflows > 1));
        add(&self.plain, u64::from(engine.multipath.plain));
        add(&self.repeated, u64::from(engine.multipath.bytes_repeated > 0));
        add(&self.lost_paths, u64::from(engine.timeouts > 0));
        add(&self.prioritised_by_kernel, outcome.counter("MPPrioTx"));
        add(&self.prioritised_by_engine, outcome.counter("MPPrioRx"));
    }

    fn everything(&self) -> bool {
        let Met { joined, plain, repeated, lost_paths, .. } = self;
        let Met { prioritised_by_kernel, prioritised_by_engine, .. } = self;
        let all =
            [joined, plain, repeated, lost_paths, prioritised_by_kernel, prioritised_by_engine];
        all.iter().all(|counter| counter.load(Ordering::Relaxed) > 0)
    }
}

fn tell(case: &Case, outcome: &Outcome, problems: &[String]) {
    println!("{case}");
    println!("  engine: {:?}", outcome.engine);
    println!("  kernel: {:?}", outcome.kernel);
    println!("  counters: {:?}", outcome.counters);
    problems.iter().for_each(|problem| println!("WRONG: {problem}"));
    let path = std::env::temp_dir().join(format!("trackbed-kernel-mptcp-{}.pcapng", case.number));
    match ground::write_capture(&path, &case.command(), &outcome.packets) {
        Ok(()) => println!("packets: {}", path.display()),
        Err(why) => println!("packets: {} cannot be written: {why}", path.display()),
    }
    println!("play it again: {}\n", case.command());
}

/// Whether this machine lets us play; says so if not.
fn is_possible() -> bool {
    let namespace = match NetNamespace::new() {
        Ok(namespace) => namespace,
        Err(why) => {
            eprintln!("SKIPPED: this machine allows no network namespaces ({why})");
            return false;
        }
    };
    let speaks = namespace.run(|| std::fs::exists("/proc/sys/net/mptcp/enabled").unwrap_or(false));
    if !speaks.unwrap_or(false) {
        eprintln!("SKIPPED: this kernel has no Multipath TCP");
        return false;
    }
    let tool = Command::new("ip").args(["mptcp", "help"]).output();
    if tool.is_err() {
        eprintln!("SKIPPED: there is no `ip`; install iproute2");
        return false;
    }
    true
}

/// The first case, and how many.
fn range() -> (u64, u64) {
    match (setting("TRACKBED_KERNEL_MPTCP_CASE"), setting("TRACKBED_KERNEL_MPTCP_CASES")) {
        (None, None) => (0, CASES),
        (Some(case), None) => (case, 1),
        (first, Some(cases)) => (first.unwrap_or(0), cases),
    }
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: write a whole number")))
}

const CASES: u64 = 120;
const AT_ONCE: u64 = 12;
const FAILURES_MAX: usize = 10;
