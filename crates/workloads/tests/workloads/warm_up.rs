//! The warm-up before the measured part if a handshake needs an earlier session.

use crate::fake::{Behaviour, run};
use crate::support::*;

fn early() -> Behaviour {
    Behaviour { set_up: Duration::ZERO, handshake: Handshake::Early, ..Behaviour::default() }
}

/// One exchange of 10 ms, 2 s for tickets, 5 ms to close, 1 s of quiet.
#[test]
fn the_measured_part_begins_when_the_network_is_quiet_again() {
    let ran = run("messages", &[], &early()).succeeded();
    assert_eq!(ran.records[0].event, Event::Started);
    assert_eq!(first_ms(&ran.records, |event| *event == Event::Started), 3_015.0);
    expect("completion_ms", &ran.records, &[100.0]);
    expect("resumed_ratio", &ran.records, &[1.0]);
    expect("early_data_ratio", &ran.records, &[1.0]);
    // The warm-up is not counted: neither its connection nor its message.
    let first = Event::ConnectStarted { phone: 0, connection: 0 };
    assert_eq!(count(&ran.records, |event| *event == first), 1);
    expect("answered_count", &ran.records, &[10.0]);
    assert_eq!((ran.open, ran.closed.len()), (0, 2));
}

/// With early data, the security is known once the server has answered.
#[test]
fn security_is_reported_once_for_each_connection_as_soon_as_it_is_known() {
    let secured = |event: &Event| matches!(event, Event::Secured { .. });
    let ran = run("messages", &[], &early());
    assert_eq!(count(&ran.records, secured), 1);
    assert_eq!(first_ms(&ran.records, secured), 3_015.0 + 10.0);

    let ran = run("messages", &[("count", "1")], &Behaviour::default());
    let expected = "TLS 1.3 aes128gcm".to_owned();
    let event = ran.records.iter().find(|record| secured(&record.event)).unwrap();
    assert_eq!(event.at.as_millis_f64(), 20.0);
    assert!(
        matches!(&event.event, Event::Secured { suite, resumed: false, .. } if *suite == expected)
    );
}

/// The tickets come a round trip after the answer: each connection stays open that long, and one
/// more, while the next message is already in flight.
#[test]
fn a_connection_lingers_for_its_tickets_without_delaying_the_next_message() {
    let ran = run("messages", &[("connection", "each"), ("count", "4")], &early());
    expect("completion_ms", &ran.records, &[40.0]);
    let closed: Vec<f64> = ran.closed[1..].iter().map(|at| at.as_millis_f64() - 3_015.0).collect();
    // Answered at 10, 20, 30, 40; two round trips of 10 ms; 5 ms to close.
    assert_eq!(closed, [35.0, 45.0, 55.0, 65.0]);
    assert_eq!((ran.open, ran.end.as_millis_f64()), (0, 3_015.0 + 65.0));
    assert_eq!(first_ms(&ran.records, |event| *event == Event::Finished), 3_015.0 + 40.0);
}

#[test]
fn a_warm_up_that_fails_is_tried_again() {
    let ran = run("messages", &[], &Behaviour { refused: 4, ..early() }).succeeded();
    // Four pauses of a second each.
    assert_eq!(first_ms(&ran.records, |event| *event == Event::Started), 7_015.0);

    let ran = run("messages", &[], &Behaviour { unanswered: &[0], ..early() }).succeeded();
    expect("completion_ms", &ran.records, &[100.0]);
}

#[test]
fn without_a_warm_up_there_is_no_measured_part() {
    for workload in ["messages", "bulk"] {
        let refused = Behaviour { refused: u32::MAX, ..early() };
        let ran = run(workload, &[("phones", "3")], &refused);
        assert_eq!(failures(&ran.records).len(), 3);
        let why = outcome(&ran.records).unwrap_err();
        assert!(why.contains("the warm-up connection failed 10 times: fake: connecting"), "{why}");
        assert_eq!(count(&ran.records, |event| *event == Event::Started), 0);
    }
}

#[test]
fn bulk_transfers_warm_up_too() {
    let settings = [("size", "1 MB"), ("phones", "2")];
    let behaviour = Behaviour { handshake: Handshake::Resumed, ..Behaviour::default() };
    let ran = run("bulk", &settings, &behaviour).succeeded();
    expect("resumed_ratio", &ran.records, &[1.0]);
    assert_eq!(ran.open, 0);
}
