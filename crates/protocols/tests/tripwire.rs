//! No protocol reads a clock or draws randomness from the operating system while it simulates.
#![cfg(target_os = "linux")]

#[path = "track/support.rs"]
#[allow(dead_code, reason = "the other test binary uses the rest of it")]
mod support;
#[path = "../../substrate/tests/support/tripwire.rs"]
#[allow(dead_code, reason = "the substrate tests the rest of it")]
mod tripwire;

use support::{
    ENDS, echo, fast, fork, ping, server_address, simulate, simulate_on, transport_over_paths,
};
use trackbed_connection::Handshake;
use trackbed_core::{Ratio, Seed};
use trackbed_net::models::Loss;
use trackbed_protocols::{ClientConfig, registry};
use tripwire::{Violation, take_violations};

#[test]
fn every_protocol_runs_on_seed_and_virtual_time_alone() {
    let lossy = fast(20).with(Loss::bernoulli(Ratio::from_parts(1, 100)));
    for protocol in registry() {
        take_violations();
        simulate(&lossy, |track| async move {
            let server = track.serve(*protocol);
            let handshakes = protocol.capabilities().handshakes;
            let handshake = *handshakes.last().unwrap_or(&Handshake::New);
            let config = ClientConfig { handshake, ..ClientConfig::default() };
            let dialer = track.dialer(*protocol, &server, config);
            for _ in 0..2 {
                let connection = dialer.connect(server_address()).await.unwrap();
                ping(&*connection).await.unwrap();
                echo(&*connection, 300_000, 1).await;
                connection.close().await;
            }
        });
        let mut violations = take_violations();
        violations.retain(|violation| !keeps_a_date(violation));
        assert!(violations.is_empty(), "{}: {violations:#?}", protocol.name());
    }
}

#[test]
fn several_paths_of_quic_do_too() {
    take_violations();
    let lossy = fast(20).with(Loss::bernoulli(Ratio::from_parts(1, 100)));
    let protocol = trackbed_protocols::find("mpquic").unwrap();
    let seed = Seed::of_run(1, 0);
    simulate_on(fork([&lossy, &lossy], &seed), seed, |track| async move {
        let transport = transport_over_paths("minrtt", vec![ENDS[1]], false);
        let config = ClientConfig { transport, ..ClientConfig::default() };
        let (_server, connection) = track.connected_with(protocol, config).await;
        echo(&*connection, 1_000_000, 1).await;
        connection.close().await;
    });
    let violations = take_violations();
    assert!(violations.is_empty(), "{violations:#?}");
}

/// hyper's HTTP/1 server keeps the date for a header field that ours is configured not to send; the
/// time that it reads has no effect.
fn keeps_a_date(violation: &Violation) -> bool {
    let Violation { function, backtrace } = violation;
    // The inner one is not seen where it is inlined.
    let keepers = ["update_date", "hyper::common::date"];
    *function == "clock_gettime"
        && backtrace.contains("hyper::proto::h1")
        && keepers.iter().any(|frame| backtrace.contains(frame))
}
