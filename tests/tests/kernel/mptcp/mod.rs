//! The engine against the kernel's Multipath TCP: the kernel has two interfaces, the engine two
//! addresses. On a machine without Multipath TCP or `ip mptcp`, the tests report it and pass.

mod case;
mod directed;
mod ground;
mod host;

use self::case::Case;
use self::ground::{Outcome, Setup};
use self::host::Counts;
use crate::random::{self, Played};
use crate::*;

#[test]
#[ignore = "thorough: real time"]
fn random_cases_end_well() {
    where_possible!();
    random::play_all("mptcp", CASES, |number| {
        let case = Case::new(number);
        let outcome = ground::play(&case.setup);
        let (engine, kernel, counters) = (&outcome.engine, &outcome.kernel, &outcome.counters);
        Played {
            problems: problems(&case.setup, &outcome),
            met: met(&outcome),
            description: format!(
                "{case}\n  engine: {engine:?}\n  kernel: {kernel:?}\n  counters: {counters:?}"
            ),
            packets: outcome.packets,
        }
    });
}

fn problems(setup: &Setup, outcome: &Outcome) -> Vec<String> {
    let scripts = (&setup.engine.script, &setup.kernel.script);
    verdict::problems(scripts, outcome.engine.as_ref(), &outcome.kernel.report)
}

fn met(outcome: &Outcome) -> Vec<(&'static str, u64)> {
    let Some(engine) = &outcome.engine else { return Vec::new() };
    let Counts { multipath, timeouts, .. } = &engine.stats;
    vec![
        ("joined", u64::from(multipath.subflows > 1)),
        ("plain", u64::from(multipath.plain)),
        ("repeated", u64::from(multipath.bytes_repeated > 0)),
        ("lost paths", u64::from(*timeouts > 0)),
        ("prioritised by the kernel", outcome.counters.get("MPPrioTx")),
        ("prioritised by the engine", outcome.counters.get("MPPrioRx")),
    ]
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
