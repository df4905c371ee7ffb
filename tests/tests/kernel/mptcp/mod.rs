//! The engine against the kernel's Multipath TCP: the kernel has two interfaces, the engine two
//! addresses. On a machine without Multipath TCP or `ip mptcp`, the tests report it and pass.

mod case;
mod directed;
mod ground;
mod host;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use trackbed_emulator::namespace::NetNamespace;

use self::case::Case;
use self::ground::{Outcome, Setup};
use crate::{capture, random, verdict};

#[test]
#[ignore = "thorough: real time"]
fn random_cases_end_well() {
    where_possible!();
    let met = Met::default();
    let are_usual = random::play_all("mptcp", CASES, |number| {
        let case = Case::new(number);
        let outcome = ground::play(&case.setup);
        met.note(&outcome);
        (problems(&case.setup, &outcome), move || tell(&case, &outcome))
    });
    println!("{met:?}");
    assert!(!are_usual || met.everything(), "the cases spare something: {met:?}");
}

/// The problems in the results of a case.
fn problems(setup: &Setup, outcome: &Outcome) -> Vec<String> {
    let scripts = (&setup.engine.script, &setup.kernel.script);
    verdict::problems(scripts, outcome.engine.as_ref(), &outcome.kernel.report)
}

/// What the cases covered: uncovered features are not tested.
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
        add(&self.joined, u64::from(engine.stats.multipath.subflows > 1));
        add(&self.plain, u64::from(engine.stats.multipath.plain));
        add(&self.repeated, u64::from(engine.stats.multipath.bytes_repeated > 0));
        add(&self.lost_paths, u64::from(engine.stats.timeouts > 0));
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

fn tell(case: &Case, outcome: &Outcome) {
    println!("{case}\n  engine: {:?}\n  kernel: {:?}", outcome.engine, outcome.kernel);
    println!("  counters: {:?}", outcome.counters);
    let path = std::env::temp_dir().join(format!("trackbed-kernel-mptcp-{}.pcapng", case.number));
    let command = random::command("mptcp", case.number);
    let written = capture::write(&path, &command, &outcome.packets);
    println!("packets: {} ({written:?})", path.display());
}

/// Whether this machine can play the cases; reports it if not.
fn is_possible() -> bool {
    if !crate::is_possible() {
        return false;
    }
    let speaks = || std::fs::exists("/proc/sys/net/mptcp/enabled").unwrap_or(false);
    if !NetNamespace::new().and_then(|namespace| namespace.run(speaks)).unwrap_or(false) {
        eprintln!("SKIPPED: this kernel has no Multipath TCP");
        return false;
    }
    let has_tool = Command::new("ip").args(["mptcp", "help"]).output().is_ok();
    if !has_tool {
        eprintln!("SKIPPED: there is no `ip`; install iproute2");
    }
    has_tool
}

const CASES: u64 = 120;
