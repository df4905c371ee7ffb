//! Cases with one subject each.

use trackbed_net::models::{Outage, Spells};
use trackbed_tcp::multipath::Endpoint;

use super::ground::{Outcome, Setup, engine_address, kernel_address, play};
use super::host::Deed;
use super::{is_possible, problems};
use crate::app::Script;
use crate::*;

fn both_send(setup: &mut Setup, bytes: u64) {
    setup.engine.script.send = bytes;
    setup.kernel.script.send = bytes;
}

/// A link with this rate in Mbit/s and this delay.
pub fn link(mbps: u64, delay_ms: u64) -> LinkSpec {
    LinkSpec::new()
        .with(Delay::fixed(Duration::from_millis(delay_ms)))
        .with(Rate::new(Bitrate::from_mbps(mbps), DropTail::of_packets(100)))
}

/// Two paths, and the client opens a subflow on each.
pub fn two_paths(engine_dials: bool) -> Setup {
    let path = |delay| [link(25, delay), link(25, delay)];
    let mut setup = Setup { engine_dials, paths: [path(10), path(15)], ..Setup::default() };
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
        panic!("{problems:#?}\n{}", random::keep("mptcp-directed", "", &outcome.packets));
    }
    outcome
}

#[test]
fn two_subflows_carry_both_directions() {
    where_possible!();
    for engine_dials in [true, false] {
        let mut setup = two_paths(engine_dials);
        both_send(&mut setup, 3_000_000);
        let outcome = play_well(&setup);
        for first in [true, false] {
            let bytes = outcome.bytes(first);
            assert!(bytes.iter().all(|&bytes| bytes > 500_000), "{engine_dials}: {bytes:?}");
        }
        let engine = outcome.engine.expect("it ended");
        let multipath = &engine.stats.multipath;
        assert!(!multipath.plain && multipath.subflows == 2, "{engine:?}");
    }
}

#[test]
fn checksums_are_agreed_upon_and_right() {
    where_possible!();
    for (engine_dials, by_engine) in [(true, true), (false, true), (true, false), (false, false)] {
        let mut setup = two_paths(engine_dials);
        setup.engine.config.checksum = by_engine;
        setup.kernel.checksum = !by_engine;
        // Long enough for a busy machine to open the second subflow.
        both_send(&mut setup, 3_000_000);
        let outcome = play_well(&setup);
        assert_eq!(outcome.counters.get("DataCsumErr"), 0);
        let engine = outcome.engine.expect("it ended");
        assert_eq!(engine.stats.multipath.checksum_failures, 0);
        let multipath = &engine.stats.multipath;
        assert!(!multipath.plain && multipath.subflows == 2, "{engine:?}");
    }
}

#[test]
fn a_peer_without_multipath_is_spoken_to_in_plain_tcp() {
    where_possible!();
    for engine_dials in [true, false] {
        let mut setup = two_paths(engine_dials);
        setup.kernel.options.multipath = false;
        both_send(&mut setup, 300_000);
        let engine = play_well(&setup).engine.expect("it ended");
        assert!(engine.stats.multipath.plain && engine.stats.multipath.subflows == 1, "{engine:?}");
    }
}

#[test]
fn a_backup_carries_nothing_while_there_is_another() {
    where_possible!();
    // Whichever side asks for it, and whichever opened the connection: the peer's data leaves the
    // path.
    for (engine_dials, engine_asks) in [(true, true), (false, true), (false, false)] {
        let mut setup = two_paths(engine_dials);
        let script = Script::sending(6_000_000);
        let at = Duration::from_millis;
        if engine_asks {
            setup.kernel.script = script;
            // Something to send back, because otherwise the kernel opens no more subflows.
            setup.engine.script = Script { after_peer: true, ..Script::sending(1_000) };
            setup.engine.deeds = vec![(at(400), Deed::Backup(1, true))];
        } else {
            setup.engine.script = script;
            setup.kernel.script = Script { after_peer: true, ..Script::sending(1_000) };
            setup.kernel.deeds = vec![(at(400), "endpoint change id 1 backup".to_owned())];
        }
        let outcome = play_well(&setup);
        let counter = if engine_asks { "MPPrioRx" } else { "MPPrioTx" };
        assert_eq!(outcome.counters.get(counter), 1, "{:?}", outcome.counters);
        let early =
            outcome.data_after(at(200), engine_asks) - outcome.data_after(at(400), engine_asks);
        // Data already on the path takes a while to drain.
        let late = outcome.data_after(at(800), engine_asks);
        assert!(early > 50_000 && late == 0, "{engine_dials} {engine_asks}: {early}, {late}");
    }
}

#[test]
fn a_path_that_is_gone_for_a_while_is_used_again() {
    where_possible!();
    for engine_dials in [true, false] {
        let mut setup = two_paths(engine_dials);
        let begin = Time::ZERO + Duration::from_millis(400);
        let down = Spells::new([(begin, begin + Duration::from_millis(900))]).expect("in order");
        for spec in &mut setup.paths[1] {
            *spec = spec.clone().with(Outage { down: down.clone() });
        }
        both_send(&mut setup, 9_000_000);
        let outcome = play_well(&setup);
        let engine = outcome.engine.as_ref().expect("it ended");
        // What the path loses comes on the other: sent by the engine, which opened it there, or by
        // the kernel, whose answers alone take it.
        let stats = &engine.stats.multipath;
        let repeated = if engine_dials { stats.bytes_repeated } else { stats.bytes_duplicate };
        assert!(repeated > 0, "{engine:?}");
        let late = outcome.data_after(Duration::from_millis(1_500), false);
        assert!(late > 100_000, "{engine_dials}: {late}");
    }
}

#[test]
fn wireshark_reads_what_the_engine_sends() {
    where_possible!();
    if Command::new("tshark").arg("-v").output().is_err() {
        eprintln!("SKIPPED: there is no tshark; install it");
        return;
    }
    let mut setup = two_paths(true);
    setup.engine.config.endpoints.push(Endpoint::signal(engine_address(0)));
    setup.engine.config.checksum = true;
    both_send(&mut setup, 1_000_000);
    setup.engine.deeds = vec![(Duration::from_millis(150), Deed::Backup(1, true))];
    let mut packets = play_well(&setup).packets;
    packets.retain(|seen| seen.point == Point::Entered);
    let path = std::env::temp_dir().join(format!("trackbed-mptcp-{}.pcapng", std::process::id()));
    capture::write(&path, "", &packets).expect("a capture");
    let ask = |filter: &str| {
        let mut tshark = Command::new("tshark");
        tshark.args(["-Y", filter, "-T", "fields", "-e", "frame.number", "-r"]).arg(&path);
        let output = tshark.output().expect("tshark");
        String::from_utf8_lossy(&output.stdout).lines().count()
    };
    // MP_CAPABLE, MP_JOIN, DSS and MP_PRIO are present, and nothing is malformed.
    let found = [0, 1, 2, 5].map(|subtype| ask(&format!("tcp.options.mptcp.subtype == {subtype}")));
    let malformed = ask("_ws.malformed or tcp.options.unknown or mptcp.duplicated_data_but_dsn");
    let _ = std::fs::remove_file(&path);
    assert!(found[0] >= 4 && found[1] >= 3 && found[2] > 100 && found[3] == 1, "{found:?}");
    assert_eq!(malformed, 0);
}

#[test]
fn announced_addresses_are_joined() {
    where_possible!();
    for engine_dials in [true, false] {
        let mut setup = two_paths(engine_dials);
        setup.kernel.endpoints.clear();
        setup.engine.config = MultipathConfig::default();
        if engine_dials {
            setup.kernel.endpoints = vec![format!("{} id 1 signal", kernel_address(1))];
        } else {
            setup.engine.config.endpoints = vec![Endpoint::signal(engine_address(1))];
        }
        both_send(&mut setup, 1_000_000);
        let engine = play_well(&setup).engine.expect("it ended");
        assert_eq!(engine.stats.multipath.subflows, 2, "{engine_dials}: {engine:?}");
    }
}
