//! Messages over a protocol that fails.

use crate::fake::{Behaviour, run};
use crate::support::*;

/// Message 3 finds a broken connection at 50 ms, and is sent again when another is set up.
#[test]
fn a_message_survives_the_end_of_its_connection() {
    let ran = run("messages", &[], &Behaviour { broken: &[3], ..Behaviour::default() }).succeeded();
    let mut expected = [10.0; 10];
    expected[3] = 30.0;
    expect("rtt_ms", &ran.records, &expected);
    expect("completion_ms", &ran.records, &[140.0]);
    expect("answered_count", &ran.records, &[10.0]);
    assert_eq!(connections(&ran.records), 2);
    assert_eq!((ran.open, ran.closed.len()), (0, 2));
}

/// In an open loop at 2, 3 and 4 ms the connection is being opened; at 20 ms the first message
/// breaks it, and the three continue over one new connection.
#[test]
fn messages_in_flight_share_the_new_connection() {
    let settings = [("rate", "1000 /s"), ("count", "4")];
    let behaviour = Behaviour { broken: &[0, 1, 2, 3], ..Behaviour::default() };
    let ran = run("messages", &settings, &behaviour).succeeded();
    expect("rtt_ms", &ran.records, &[50.0, 49.0, 48.0, 47.0]);
    assert_eq!(connections(&ran.records), 2);
    assert_eq!(ran.open, 0);
}

#[test]
fn a_connection_that_breaks_every_time_is_given_up() {
    let settings = [("count", "2")];
    let ran = run("messages", &settings, &Behaviour { broken: &[0, 1, 2], ..Behaviour::default() });
    assert_eq!(failures(&ran.records), ["fake: sending failed: broken"]);
    expect("answered_count", &ran.records, &[1.0]);
    assert!(outcome(&ran.records).is_err());
    assert_eq!(ran.open, 0);
}

#[test]
fn what_no_new_connection_can_cure_is_not_tried_again() {
    let behaviour = Behaviour { broken: &[0], retryable: false, ..Behaviour::default() };
    let ran = run("messages", &[("count", "2")], &behaviour);
    assert_eq!(failures(&ran.records).len(), 1);
    expect("answered_count", &ran.records, &[1.0]);
}

#[test]
fn a_message_without_an_answer_is_given_up_and_the_next_goes_over_a_new_connection() {
    let settings = [("count", "3"), ("timeout", "2 s")];
    let ran = run("messages", &settings, &Behaviour { unanswered: &[1], ..Behaviour::default() });
    assert_eq!(failures(&ran.records), ["no answer within 2 s (workload.timeout)"]);
    expect("answered_count", &ran.records, &[2.0]);
    expect("deadline_miss_ratio", &ran.records, &[1.0 / 3.0]);
    // 30 ms until the second, 2 s of waiting, 30 ms for the third.
    expect("completion_ms", &ran.records, &[2_060.0]);
    assert!(outcome(&ran.records).unwrap_err().contains("gave up message 1: no answer within 2 s"));
    assert_eq!(ran.open, 0);
}

/// The first is given up at 2 s; the others, sent up to 0.4 s and answered 1.8 s later, are not
/// disturbed by that.
#[test]
fn giving_up_one_message_leaves_those_in_flight_their_connection() {
    let settings = [("rate", "10 /s"), ("count", "5"), ("timeout", "2 s")];
    let one_way = Duration::from_millis(900);
    let behaviour = Behaviour { unanswered: &[0], one_way, ..Behaviour::default() };
    let ran = run("messages", &settings, &behaviour);
    assert_eq!(failures(&ran.records), ["no answer within 2 s (workload.timeout)"]);
    expect("rtt_ms", &ran.records, &[1_800.0; 4]);
    assert_eq!(attempts(&ran.records), 1);
    // The last answer, and 900 ms to close.
    assert_eq!(ran.closed, [Time::from_millis(2_200 + 900)]);
}

#[test]
fn a_refused_connection_is_tried_again_but_not_for_ever() {
    let ran = run("messages", &[], &Behaviour { refused: 2, ..Behaviour::default() }).succeeded();
    expect("completion_ms", &ran.records, &[120.0]);

    let ran = run("messages", &[], &Behaviour { refused: u32::MAX, ..Behaviour::default() });
    assert_eq!(failures(&ran.records), ["fake: connecting failed: refused"]);
    assert_eq!(attempts(&ran.records), 3);
    assert_eq!(count(&ran.records, |event| *event == Event::Finished), 1);
}

#[test]
fn every_message_of_an_open_loop_is_answered_or_given_up() {
    let settings = [("rate", "10 /s"), ("timeout", "1 s")];
    let ran = run("messages", &settings, &Behaviour { refused: u32::MAX, ..Behaviour::default() });
    assert_eq!(failures(&ran.records).len(), 10);
    expect("deadline_miss_ratio", &ran.records, &[1.0]);
    let set_up = Duration::from_secs(100);
    let ran = run("messages", &settings, &Behaviour { set_up, ..Behaviour::default() });
    assert_eq!(failures(&ran.records), ["no connection within 1 s (workload.timeout)"; 10]);
    // The last one was scheduled at 0.9 s.
    assert_eq!(ran.end.as_millis_f64(), 1_900.0);
}
