//! Received messages and decisions of a unit.

use trackbed_core::event::{Decision, Judgement, UnitAccount, Verification};

use super::*;

fn judged(heard: u64, decided: u64, genuine: bool, judgement: Judgement) -> Record {
    let [heard, time] = [heard, decided].map(Time::from_millis);
    let decision = Decision { at: time, heard, genuine, judgement };
    at(decided, Event::Verification(Verification::Judged(vec![decision])))
}

fn crossing() -> Vec<Record> {
    let window = Event::WindowSet { from: Time::from_millis(10), until: Time::from_millis(100) };
    let flood = |messages, judgement| {
        at(200, Event::Verification(Verification::Repelled { messages, judgement }))
    };
    vec![
        at(0, window),
        at(0, Event::DeadlineSet { after: Duration::from_millis(10) }),
        // Before and after the window.
        judged(9, 99, false, Judgement::Accepted),
        judged(100, 101, true, Judgement::Accepted),
        judged(10, 11, true, Judgement::Accepted),
        judged(20, 30, false, Judgement::BadSignature),
        judged(30, 41, true, Judgement::Accepted),
        judged(40, 40, true, Judgement::UnknownSigner),
        judged(50, 50, true, Judgement::Overflow),
        judged(60, 90, true, Judgement::Late),
        judged(70, 100, true, Judgement::Refused),
        judged(80, 82, true, Judgement::BadSignature),
        flood(40, Judgement::BadSignature),
        flood(2, Judgement::Overflow),
        flood(1, Judgement::Accepted),
        at(
            200,
            Event::Verification(Verification::Accounted(UnitAccount {
                span: Duration::from_millis(200),
                // One more than was decided about.
                heard: 9,
                signatures: 50,
                busy: Duration::from_millis(100),
                cores: 4,
                waiting_max: 7,
                tables_bytes: 1_000,
            })),
        ),
    ]
}

#[test]
fn each_message_of_the_window_counts_once() {
    let records = crossing();
    close(&compute("verdict_ms", &records), &[1.0, 10.0, 11.0, 2.0]);
    // Of eight, one verdict came after more than 10 ms, and two were dropped.
    close(&compute("late_verdict_ratio", &records), &[3.0 / 8.0]);
    let counts = [
        ("heard_count", 9.0),
        ("accepted_count", 2.0),
        ("bad_signature_count", 2.0),
        ("unknown_signer_count", 1.0),
        ("otherwise_refused_count", 1.0),
        ("dropped_count", 2.0),
        ("repelled_count", 42.0),
        // One of the flood was accepted, and a valid signature refused.
        ("wrong_verdict_count", 2.0),
    ];
    for (name, count) in counts {
        assert_eq!(compute(name, &records), [count], "{name}");
    }
}

#[test]
fn the_account_gives_rates_and_shares() {
    let records = crossing();
    close(&compute("signature_rate_hz", &records), &[250.0]);
    close(&compute("verification_cpu_percent", &records), &[12.5]);
    assert_eq!(compute("waiting_max_count", &records), [7.0]);
    assert_eq!(compute("tables_bytes", &records), [1_000.0]);
}

#[test]
fn runs_without_verification_have_none_of_it() {
    let records = [at(0, Event::Started), at(9, Event::Finished)];
    for name in ["verdict_ms", "heard_count", "wrong_verdict_count", "repelled_count"] {
        assert!(compute(name, &records).is_empty(), "{name}");
    }
}
