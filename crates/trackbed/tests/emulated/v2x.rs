//! Signed messages on this machine: read, checked, verified by threads, in real time.

use super::{Scratch, least};

/// Twenty vehicles on two roads with ten messages per second each, which any machine can handle; the deadline
/// allows for a busy one.
const SMALL: &str = "v2x --runs 1 --set workload.board=here --set workload.deadline=10s \
                     --set workload.duration=1500ms --set workload.warm-up=0s";

#[test]
#[ignore = "thorough: real time"]
fn a_unit_hears_a_crossing_and_believes_what_is_genuine() {
    let Some(scratch) = Scratch::new() else { return };
    let crossing = "--part crossing --set workload.roads=2 --set workload.lanes=1 --set \
                    workload.forged=20% --set workload.flood=200/s --set workload.workers=2";
    let document = scratch.document(&format!("{SMALL} {crossing}"));
    let cell = &document["cells"][0];
    // Fifteen of each vehicle, and one more or less where it stands at an edge.
    let heard = least(cell, "heard_count");
    assert!((280.0..=320.0).contains(&heard), "{cell}");
    let forged = least(cell, "bad_signature_count");
    assert!((30.0..90.0).contains(&forged), "{cell}");
    // A first message that is forged still brings a certificate that is valid.
    assert_eq!(least(cell, "accepted_count") + forged, heard, "{cell}");
    assert_eq!(least(cell, "wrong_verdict_count"), 0.0);
    assert!((290.0..=300.0).contains(&least(cell, "repelled_count")), "{cell}");
    assert_eq!(cell["metrics"]["verdict_ms"]["samples"], heard);
    assert!(document["checks"].as_array().is_some_and(|checks| !checks.is_empty()));
}

#[test]
#[ignore = "thorough: real time"]
fn so_many_signatures_are_verified_at_once() {
    let Some(scratch) = Scratch::new() else { return };
    let closed = "--part splits --set workload.split=dynamic,static --set workload.signatures=5000 --set \
                  workload.workers=2 --set workload.forged=20%";
    for cell in &scratch.cells(&format!("{SMALL} {closed}")) {
        assert!(least(cell, "signature_rate_hz") > 500.0, "{cell}");
        assert!(least(cell, "verification_cpu_percent") <= 100.5, "{cell}");
    }
}

#[test]
fn a_board_that_this_machine_is_not_is_refused() {
    let Some(scratch) = Scratch::new() else { return };
    for words in [
        "v2x --part splits --runs 1",
        "vru --set workload.signed=true --set workload.board=etri-odroid-xu4",
    ] {
        let parts =
            ["etri-odroid-xu4 exists in virtual time only", "add --set workload.board=here"];
        scratch.run(words).refused(&parts);
    }
}

#[test]
#[ignore = "thorough: real time"]
fn signed_messages_are_verified_and_handed_on_between_processes() {
    let Some(scratch) = Scratch::new() else { return };
    let signed = "vru --runs 1 --set workload.signed=true --set workload.listeners=2 --set protocol=quic,mqtt \
                  --set tls=1.3 --set handshake=new --set link.loss=0%";
    for cell in &scratch.cells(signed) {
        assert_eq!(least(cell, "accepted_count"), 10.0, "{cell}");
        assert_eq!(cell["metrics"]["warning_ms"]["samples"], 20.0, "{cell}");
        let verdict = &cell["metrics"]["verdict_ms"];
        assert!(verdict["p50"].as_f64().is_some_and(|ms| ms > 0.0), "it takes something: {cell}");
    }
}
