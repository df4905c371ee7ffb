//! Whole runs of every protocol, with every handshake, read no clock and draw no randomness but
//! the simulation's own.
#![cfg(target_os = "linux")]

#[path = "../../crates/substrate/tests/support/tripwire.rs"]
mod tripwire;

use trackbed_tests::{plan, run};

#[test]
fn no_protocol_touches_the_system_s_clock_or_randomness() {
    for (scenario, overrides) in [
        ("vru", &["runs=1", "link.loss=5%"][..]),
        ("vru", &["runs=1", "protocol=tcp,tcp+tls"][..]),
        ("vru", &["runs=1", "tls=1.3", "cipher=aes256gcm,chacha20poly1305"][..]),
        ("bulk", &["runs=1", "workload.size=200kB"][..]),
        ("migration", &["runs=1", "workload.size=200kB", "workload.reconnections=1"][..]),
    ] {
        let plan = plan(scenario, overrides);
        for result in run(&plan, 2) {
            assert!(result.outcome.samples().is_some(), "{result:?}");
        }
        let violations = tripwire::take_violations();
        let first = violations.first().map(|call| format!("{}\n{}", call.function, call.backtrace));
        assert!(
            violations.is_empty(),
            "{overrides:?}: {} calls, first {first:?}",
            violations.len()
        );
    }
    assert!(tripwire::passed() > 0, "the tripwire is in place");
}
