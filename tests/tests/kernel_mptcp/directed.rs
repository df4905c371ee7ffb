//! Cases with a question each.

use std::time::Duration;

use trackbed_core::Bitrate;
use trackbed_net::LinkSpec;
use trackbed_net::models::{Delay, Rate};
use trackbed_net::queue::DropTail;
use trackbed_tcp::multipath::{Endpoint, MultipathConfig};

use crate::app::Script;
use crate::ground::{Outcome, Setup, engine_address, kernel_address, play};
use crate::is_possible;
use crate::verdict::problems;

/// A link of so many Mbit/s and so long a way.
pub fn link(mbps: u64, delay_ms: u64) -> LinkSpec {
    LinkSpec::new()
        .with(Delay::fixed(Duration::from_millis(delay_ms)))
        .with(Rate::new(Bitrate::from_mbps(mbps), DropTail::of_packets(100)))
}

/// Two paths, and the client opens a subflow on each.
pub fn two_paths(engine_dials: bool) -> Setup {
    let path = |delay| [link(25, delay), link(25, delay)];
    let mut setup =
        Setup { engine_dials, paths: [path(10), path(15)], ..Setup::default() };
    if engine_dials {
        setup.engine.config.endpoints = vec![Endpoint::subflow(engine_address(1))];
    } else {
        setup.kernel.endpoints = vec![format!("{} id 1 subflow", kernel_address(1))];
    }
    setup
}

fn play_well(setup: &Setup) -> Outcome {
    let outcome = play(setup);
    let problems = problems(setup, &outcome);
    if !problems.is_empty() {
        println!("{:?}\n{:?}\n{:?}", outcome.engine, outcome.kernel, outcome.counters);
        let path = std::env::temp_dir().join("trackbed-kernel-mptcp-directed.pcapng");
        crate::ground::write_capture(&path, "", &outcome.packets).expect("a capture");
        panic!("{problems:#?}\ncapture: {}", path.display());
    }
    outcome
}

#[test]
fn two_subflows_carry_both_directions() {
    if !is_possible() {
        return;
    }
    for engine_dials in [true, false] {
        let mut setup = two_paths(engine_dials);
        setup.engine.script = Script::sending(3_000_000);
        setup.kernel.script = Script::sending(3_000_000);
        let outcome = play_well(&setup);
        for first in [true, false] {
            let bytes = outcome.bytes(first);
            assert!(bytes.iter().all(|&bytes| bytes > 500_000), "{engine_dials}: {bytes:?}");
        }
        let engine = outcome.engine.expect("it ended");
        assert!(!engine.multipath.plain && engine.multipath.subflows == 2, "{engine:?}");
    }
}

#[test]
fn checksums_are_agreed_upon_and_right() {
    if !is_possible() {
        return;
    }
    for (engine_dials, by_engine) in [(true, true), (false, true), (true, false), (false, false)] {
        let mut setup = two_paths(engine_dials);
        setup.engine.config.checksum = by_engine;
        setup.kernel.checksum = !by_engine;
        setup.engine.script = Script::sending(500_000);
        setup.kernel.script = Script::sending(500_000);
        let outcome = play_well(&setup);
        assert_eq!(outcome.counter("DataCsumErr"), 0);
        let engine = outcome.engine.expect("it ended");
        assert_eq!(engine.multipath.checksum_failures, 0);
        assert!(!engine.multipath.plain && engine.multipath.subflows == 2, "{engine:?}");
    }
}

#[test]
fn a_peer_without_multipath_is_spoken_to_in_plain_tcp() {
    if !is_possible() {
        return;
    }
    for engine_dials in [true, false] {
        let mut setup = two_paths(engine_dials);
        setup.kernel.options.multipath = false;
        setup.engine.script = Script::sending(300_000);
        setup.kernel.script = Script::sending(300_000);
        let engine = play_well(&setup).engine.expect("it ended");
        assert!(engine.multipath.plain && engine.multipath.subflows == 1, "{engine:?}");
    }
}

#[test]
fn announced_addresses_are_joined() {
    if !is_possible() {
        return;
    }
    for engine_dials in [true, false] {
        let mut setup = two_paths(engine_dials);
        setup.kernel.endpoints.clear();
        setup.engine.config = MultipathConfig::default();
        if engine_dials {
            setup.kernel.endpoints = vec![format!("{} id 1 signal", kernel_address(1))];
        } else {
            setup.engine.config.endpoints = vec![Endpoint::signal(engine_address(1))];
        }
        setup.engine.script = Script::sending(1_000_000);
        setup.kernel.script = Script::sending(1_000_000);
        let engine = play_well(&setup).engine.expect("it ended");
        assert_eq!(engine.multipath.subflows, 2, "{engine_dials}: {engine:?}");
    }
}
