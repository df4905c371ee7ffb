//! `trackbed drops`: files, exit codes, baselines, bad input.

use super::*;

const QUIC: &str = "drops a.toml --set protocol=quic --set workload.count=2";

#[test]
fn each_loss_is_a_row_a_test_case_and_a_mark_of_the_picture() {
    let scratch = scenario();
    let text = scratch.succeed(&format!("{QUIC} --junit drops.xml --out out")).stdout;
    assert!(text.starts_with("All ") && text.contains("single losses are recovered"), "{text}");
    assert!(text.contains("first PTO, RFC 9002 6.2.2"), "{text}");
    let cell = &scratch.json("out/drops.json")["cells"][0];
    let count = cell["patterns"].as_array().unwrap().len();
    assert_eq!(cell["packets"].as_array().unwrap().len(), count);
    assert_eq!(scratch.read("drops.xml").matches("<testcase ").count(), count);
    assert!(scratch.read("out/drops.svg").contains("client Initial 1"));
    // The same search gives the same bytes, also with pairs, whose singles are the same.
    let printed = scratch.succeed(&format!("{QUIC} --json --out again")).stdout;
    assert_eq!(printed.trim(), scratch.read("out/drops.json").trim());
    let pairs = scratch.succeed(&format!("{QUIC} --pairs --json --out pairs")).stdout;
    let pairs: Value = serde_json::from_str(&pairs).unwrap();
    let pairs = pairs["cells"][0]["patterns"].as_array().unwrap();
    assert!(pairs.len() > 5 * count, "{} and {count}", pairs.len());
    assert_eq!(pairs[..count], cell["patterns"].as_array().unwrap()[..]);
}

#[test]
fn what_the_baseline_knows_does_not_fail_again() {
    let scratch = scenario();
    // A timer five times as long as the standard's.
    let slow = "drops a.toml --set protocol=tcp --set rto-min=5s --set workload.count=2";
    scratch.trackbed(&format!("{slow} --out out --capture")).prints(1, &["late"]);
    assert!(scratch.path("out/captures/cell-0-client-data-1").join("phone.pcapng").exists());
    let known =
        scratch.trackbed(&format!("{slow} --baseline out/drops.json --out new --junit b.xml"));
    assert_eq!(known.status, 0, "{}", known.stderr);
    assert!(scratch.read("b.xml").contains("failures=\"0\""));
}

/// Copies and late packets cost no more than the 100 ms that one is held back.
#[test]
fn copies_cost_nothing_and_late_packets_their_delay() {
    let scratch = scenario();
    for (fault, most) in [("duplication", 3.0), ("delay", 110.0)] {
        let found = scratch.succeed(&format!("{QUIC} --fault {fault} --json --out {fault}")).stdout;
        let found: Value = serde_json::from_str(&found).unwrap();
        for pattern in found["cells"][0]["patterns"].as_array().unwrap() {
            assert!(pattern["later_ms"].as_f64().unwrap() < most, "{fault}: {pattern}");
        }
    }
}

/// The loss of every link is left out, and a key of loss detection is no random loss.
#[test]
fn only_the_chosen_packet_is_lost() {
    let scratch = scenario();
    let told = "All 8 single losses are recovered";
    let keys = "--set access.loss=60% --set access.rate=1Gbit/s --set reordering-threshold=3,10";
    let found = scratch.succeed(&format!("{QUIC} {keys} --packets 4"));
    assert!(found.stdout.contains(told) && found.stderr.contains("andom"), "{}", found.stdout);
}

#[test]
fn bad_input_is_refused_with_the_remedy() {
    let scratch = scenario();
    scratch.write("bad.json", "{}");
    scratch.refuse_all("drops");
}
