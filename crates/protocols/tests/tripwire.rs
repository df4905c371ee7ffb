//! No protocol reads a clock or draws randomness from the operating system while it simulates.
#![cfg(target_os = "linux")]

#[path = "track/support.rs"]
#[allow(dead_code, reason = "the other test binary uses the rest of it")]
mod support;
#[path = "../../substrate/tests/support/tripwire.rs"]
#[allow(dead_code, reason = "the substrate tests the rest of it")]
mod tripwire;

use support::{digest, fast, noise, ping, post, server_address, simulate};
use trackbed_core::Ratio;
use trackbed_net::models::Loss;
use trackbed_protocols::{ClientConfig, Handshake, registry};
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
                let (upload, sum) = noise(300_000, 1);
                let response = connection.exchange(post("/echo", upload)).await.unwrap();
                assert_eq!(digest(response.body).await.unwrap(), sum);
                connection.close().await;
            }
        });
        let mut violations = take_violations();
        violations.retain(|violation| !keeps_a_date(violation));
        assert!(violations.is_empty(), "{}: {violations:#?}", protocol.name());
    }
}

/// hyper's HTTP/1 server keeps the date for a header field that ours is told not to send; what it
/// reads goes nowhere.
fn keeps_a_date(violation: &Violation) -> bool {
    let Violation { function, backtrace } = violation;
    *function == "clock_gettime" && backtrace.contains("hyper::proto::h1::dispatch::Server")
}
