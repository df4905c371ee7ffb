//! Messages over a network without failures.

use futures_util::FutureExt as _;
use serde_json::json;
use trackbed_workloads::Expectation;

use crate::fake::{Behaviour, run, run_prepared};
use crate::support::*;

fn is_attempt(event: &Event) -> bool {
    matches!(event, Event::ConnectStarted { .. })
}

/// Ten messages: 20 ms of set-up and ten times 10 ms.
#[test]
fn a_closed_loop_takes_set_up_and_round_trips_and_nothing_else() {
    let messages = prepare("messages", &[]).unwrap();
    let ran = run_prepared(&*messages, &Behaviour::default()).succeeded();
    expect("completion_ms", &ran.records, &[120.0]);
    expect("handshake_ms", &ran.records, &[20.0]);
    expect("rtt_ms", &ran.records, &[10.0; 10]);
    expect("answered_count", &ran.records, &[10.0]);
    expect("throughput_mbps", &ran.records, &[10.0 * 355.0 * 8.0 / 0.12 / 1e6]);
    expect("deadline_miss_ratio", &ran.records, &[0.0]);
    expect("age_of_information_ms", &ran.records, &[10.0]);
    assert_eq!(attempts(&ran.records), 1);
    let expected = Expectation { connections: 1, exchanges: 10, longest: 355 };
    assert_eq!(messages.expectation(), Some(expected));
    assert_eq!((ran.open, ran.closed.len()), (0, 1));
}

#[test]
fn a_connection_for_each_message_is_set_up_each_time() {
    let messages = prepare("messages", &[("connection", "each"), ("count", "7")]).unwrap();
    let ran = run_prepared(&*messages, &Behaviour::default()).succeeded();
    // Closing does not delay the next message.
    expect("completion_ms", &ran.records, &[7.0 * 30.0]);
    expect("handshake_ms", &ran.records, &[20.0; 7]);
    expect("rtt_ms", &ran.records, &[10.0; 7]);
    let expected = Expectation { connections: 7, exchanges: 7, longest: 355 };
    assert_eq!(messages.expectation(), Some(expected));
    assert_eq!((ran.open, ran.closed.len()), (0, 7));
}

/// Scheduled every 10 ms from 0 on; the connection is open at 25 ms; an answer takes 10 ms.
#[test]
fn an_open_loop_counts_from_the_schedule_while_the_connection_is_still_opening() {
    let settings = [("rate", "100 /s"), ("count", "5"), ("deadline", "20 ms")];
    let messages = prepare("messages", &settings).unwrap();
    let behaviour = Behaviour { set_up: Duration::from_millis(25), ..Behaviour::default() };
    let ran = run_prepared(&*messages, &behaviour).succeeded();
    expect("rtt_ms", &ran.records, &[35.0, 25.0, 15.0, 10.0, 10.0]);
    expect("deadline_miss_ratio", &ran.records, &[0.4]);
    let sent: Vec<f64> = times(&ran.records, |event| matches!(event, Event::Sent { .. }));
    assert_eq!(sent, [25.0, 25.0, 25.0, 30.0, 40.0]);
    assert_eq!((attempts(&ran.records), messages.expectation()), (1, None));
}

#[test]
fn an_open_loop_does_not_wait_for_answers() {
    let one_way = Duration::from_secs(2);
    let settings = [("rate", "100 /s"), ("count", "50")];
    let ran = run("messages", &settings, &Behaviour { one_way, ..Behaviour::default() });
    let sent = times(&ran.records, |event| matches!(event, Event::Sent { .. }));
    assert_eq!((sent[0], sent[10], sent[49]), (20.0, 100.0, 490.0));
    expect("completion_ms", &ran.records, &[490.0 + 4_000.0]);
}

#[test]
fn an_open_loop_with_a_connection_for_each_message_opens_them_side_by_side() {
    let settings = [("rate", "100 /s"), ("count", "5"), ("connection", "each")];
    let ran = run("messages", &settings, &Behaviour::default()).succeeded();
    expect("rtt_ms", &ran.records, &[30.0; 5]);
    assert_eq!(times(&ran.records, is_attempt), [0.0, 10.0, 20.0, 30.0, 40.0]);
}

#[test]
fn what_the_server_refuses_is_counted_and_fails_the_run() {
    let settings = [("payload", "tests/data/lines.jsonl"), ("count", "7")];
    let behaviour = Behaviour { missing: Some("/messages/0/4"), ..Behaviour::default() };
    let ran = run("messages", &settings, &behaviour);
    expect("refused_count", &ran.records, &[1.0]);
    expect("answered_count", &ran.records, &[6.0]);
    // 20 ms of set-up, then 10 ms each; the refused one is no round trip.
    expect("rtt_ms", &ran.records, &[10.0; 6]);
    expect("deadline_miss_ratio", &ran.records, &[1.0 / 7.0]);
    let why = outcome(&ran.records).unwrap_err();
    assert!(why.contains("the server refused message 4 of phone 0 (status 404)"), "{why}");
    let lengths = pick(&ran.records, |event| match *event {
        Event::Sent { bytes, .. } => Some(bytes),
        _ => None,
    });
    assert_eq!(lengths[..3], [42, 32, 42], "a line is sent as it is");
}

#[test]
fn every_answer_says_in_json_what_became_of_the_message() {
    let messages = prepare("messages", &[("payload", "tests/data/lines.jsonl")]).unwrap();
    let log = EventLog::default();
    let service = messages.service(log.clone());
    let ask = |path: &str, content: &'static str| {
        let request = Request::new(path, body::full(content));
        let answer = async {
            let Response { status, body } = service.call(request).await;
            (status, body::collect(body, 1_000).await.unwrap())
        };
        let (status, content) = answer.now_or_never().unwrap();
        (status, serde_json::from_slice::<serde_json::Value>(&content).unwrap())
    };
    assert_eq!(ask("/messages/3/4", "[1]"), (200, json!({ "status": "accepted" })));
    let reason = "not JSON: EOF while parsing a list at line 1 column 2";
    let refusal = json!({ "status": "refused", "reason": reason });
    assert_eq!(ask("/messages/3/5", "[1"), (400, refusal));
    for path in ["/", "/messages/3", "/messages/3/x", "/bulk/10"] {
        let reason = format!("there is nothing at {path}");
        assert_eq!(ask(path, "[1]"), (404, json!({ "status": "refused", "reason": reason })));
    }
    let received = Record { at: Time::ZERO, event: Event::Received { phone: 3, message: 4 } };
    assert_eq!(log.take(), [received]);
}

#[test]
fn fifty_phones_start_apart_and_are_all_served() {
    let messages = prepare("messages", &[("phones", "50")]).unwrap();
    assert_eq!((messages.phones(), messages.expectation()), (50, None));
    let ran = run_prepared(&*messages, &Behaviour::default()).succeeded();
    expect("completion_ms", &ran.records, &[120.0; 50]);
    expect("answered_count", &ran.records, &[500.0]);
    assert_eq!(samples("throughput_mbps", &ran.records).len(), 50);
    // Fifty uniform numbers leave no half of the second empty.
    let starts = times(&ran.records, is_attempt);
    assert!(starts.windows(2).all(|pair| pair[0] < pair[1]), "{starts:?}");
    assert!(starts[0] < 500.0 && (500.0..1_000.0).contains(&starts[49]), "{starts:?}");
    assert_eq!((ran.open, ran.closed.len()), (0, 50));
}

#[test]
fn phones_start_together_or_apart_as_told() {
    let starts = |settings: &Settings| {
        times(&run("messages", settings, &Behaviour::default()).records, is_attempt)
    };
    assert_eq!(starts(&[("phones", "3"), ("stagger", "0 s")]), [0.0; 3]);
    let periodic = starts(&[("phones", "40"), ("rate", "50 /s"), ("count", "1")]);
    assert!(periodic[39] > 10.0 && periodic[39] <= 20.0, "one period: {periodic:?}");
}

#[test]
fn a_thousand_phones_cost_no_more_time_each_than_one() {
    let ran = run("messages", &[("phones", "1000"), ("rate", "10 /s")], &Behaviour::default())
        .succeeded();
    expect("answered_count", &ran.records, &[10_000.0]);
    expect("completion_ms", &ran.records, &[910.0; 1_000]);
}

#[test]
fn the_arithmetic_of_round_trips_knows_the_longest_message() {
    let messages = prepare("messages", &[("size", "10001 B")]).unwrap();
    assert_eq!(messages.expectation().unwrap().longest, 10_001);
}

fn times(records: &[Record], wanted: impl Fn(&Event) -> bool) -> Vec<f64> {
    let times = records.iter().filter(|record| wanted(&record.event)).map(|record| record.at);
    times.map(Time::as_millis_f64).collect()
}
