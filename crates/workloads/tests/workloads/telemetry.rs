//! Telemetry over the arithmetic protocol: 20 ms of set-up, then 10 ms for each exchange, however
//! many run at once.

use trackbed_core::event::Loss;

use crate::fake::{Behaviour, run};
use crate::support::*;

/// No warm-up, so that the first message is measured as well.
fn telemetry(behaviour: &Behaviour, settings: &Settings) -> Vec<Record> {
    let mut all = vec![("warm-up", "0 s"), ("duration", "10 s")];
    all.retain(|(name, _)| settings.iter().all(|(other, _)| other != name));
    all.extend(settings);
    let ran = run("telemetry", &all, behaviour);
    assert_eq!(ran.open, 0, "every connection is closed");
    is_closed(&ran.records, "fake");
    ran.records
}

/// The number sent is the sum of those in time, late and lost, and no message has two outcomes.
pub fn is_closed(records: &[Record], case: &str) -> Account {
    let account = account(records).unwrap();
    let ended = account.in_time + account.late + account.lost;
    assert_eq!(account.sent, ended, "{case}: {account:?}");
    let mut ends = outcomes(records);
    let all = ends.len();
    ends.sort_unstable();
    ends.dedup();
    assert_eq!(ends.len(), all, "{case}: a message ended twice");
    assert_eq!(all as u64, account.sent, "{case}");
    account
}

fn losses(records: &[Record]) -> Vec<(u32, Loss)> {
    pick(records, |event| match *event {
        Event::Lost { message, loss, .. } => Some((message, loss)),
        _ => None,
    })
}

/// The first message is due when the connection starts to open, and that wait counts.
#[test]
fn the_wait_for_the_connection_counts() {
    let records = telemetry(&Behaviour::default(), &[("rate", "100 /s"), ("duration", "50 ms")]);
    expect("rtt_ms", &records, &[30.0, 20.0, 10.0, 10.0, 10.0]);
    expect("handshake_ms", &records, &[20.0]);
    expect("sent_count", &records, &[5.0]);
    assert_eq!(outcome(&records), Ok(()));
}

/// Of 60 s at 1/s the first 5 are warm-up: 55 messages, each 10 ms, at exactly 1 a second.
#[test]
fn the_warm_up_is_sent_and_not_measured() {
    let ran = run("telemetry", &[], &Behaviour::default());
    is_closed(&ran.records, "fake");
    expect("rtt_ms", &ran.records, &[10.0; 55]);
    expect("in_time_count", &ran.records, &[55.0]);
    expect("answer_rate_hz", &ran.records, &[1.0]);
    expect("throughput_mbps", &ran.records, &[512.0 * 8.0 / 1e6]);
    expect("deadline_miss_ratio", &ran.records, &[0.0]);
    // The last answer comes at 59.01 s, and closing takes 5 ms.
    assert_eq!(ran.end.as_millis_f64(), 59_015.0);
}

/// An exchange takes 10 ms, the first one 30 ms: 8 messages in 100 ms where the rate allows 100. At 50/s
/// the first answer delays the schedule by 10 ms, and then the rate is the limit: 0, 30, 50, 70, 90 ms.
#[test]
fn in_a_closed_loop_a_message_waits_for_the_answer_to_the_one_before() {
    for (rate, count, turns) in [("1000 /s", 8, 10), ("50 /s", 5, 20)] {
        let settings = [("loop", "closed"), ("rate", rate), ("duration", "100 ms")];
        let records = telemetry(&Behaviour::default(), &settings);
        let intended = records.iter().filter_map(|record| match record.event {
            Event::Sent { intended, .. } => Some(intended.as_millis_f64()),
            _ => None,
        });
        let first = records[0].at.as_millis_f64();
        let intended: Vec<f64> = intended.map(|at| at - first).collect();
        let later = (0..count - 1).map(|k| f64::from(30 + k * turns));
        assert_eq!(intended, std::iter::once(0.0).chain(later).collect::<Vec<_>>());
        let expected: Vec<f64> = (0..count).map(|k| if k == 0 { 30.0 } else { 10.0 }).collect();
        expect("rtt_ms", &records, &expected);
        expect("answer_rate_hz", &records, &[f64::from(count) * 10.0]);
    }
}

/// A lost message delays the next until the loss is known: 3 s with a patience of 3 s.
#[test]
fn in_a_closed_loop_a_message_waits_for_the_loss_of_the_one_before() {
    let behaviour = Behaviour { unanswered: &[2], ..Behaviour::default() };
    let records = telemetry(&behaviour, &[("loop", "closed"), ("patience", "3 s")]);
    assert_eq!(losses(&records), [(2, Loss::Unanswered)]);
    // At 0, 1 and 2 s, and from 5 s on each second until 9.
    expect("sent_count", &records, &[8.0]);
}

/// An exchange takes 10 ms: at the deadline it is in time, and a nanosecond less makes it late.
#[test]
fn an_answer_after_the_deadline_is_late() {
    expect("late_count", &telemetry(&Behaviour::default(), &[("deadline", "30 ms")]), &[0.0]);
    let below = telemetry(&Behaviour::default(), &[("deadline", "29999999 ns")]);
    expect("late_count", &below, &[1.0]);
    expect("in_time_count", &below, &[9.0]);
    let all = telemetry(&Behaviour::default(), &[("deadline", "9 ms")]);
    expect("late_count", &all, &[10.0]);
    expect("lost_count", &all, &[0.0]);
}

/// Of four messages in the first 20 ms, while the connection opens, two may wait.
#[test]
fn what_finds_too_many_in_flight_is_lost_without_being_sent() {
    let settings = [("rate", "200 /s"), ("duration", "60 ms"), ("in-flight", "2")];
    let records = telemetry(&Behaviour::default(), &settings);
    // 0 and 5 wait until 30; 10 to 25 are too many. From 30 on each is answered after 10 ms, when
    // the one after the next is due.
    let lost: Vec<u32> = losses(&records).iter().map(|(message, _)| *message).collect();
    assert_eq!(lost[..4], [2, 3, 4, 5]);
    assert!(losses(&records).iter().all(|(_, loss)| *loss == Loss::Overflow));
    expect("unsent_count", &records, &samples("lost_count", &records));
    assert!(samples("rtt_ms", &records).starts_with(&[30.0, 25.0]));
}

/// Message 3 breaks the connection at 3 s and is lost; the next connection is opened immediately,
/// and no other message is affected.
#[test]
fn a_broken_connection_is_replaced_at_once() {
    let records = telemetry(&Behaviour { broken: &[3], ..Behaviour::default() }, &[]);
    assert_eq!(losses(&records), [(3, Loss::Broken)]);
    expect("rtt_ms", &records, &[30.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0]);
    expect("handshake_ms", &records, &[20.0, 20.0]);
}

/// Exchanges 1 to 5 break their connections. The first is replaced immediately, the second also
/// broke and is replaced after 100 ms, then 200, 400, 800 ms. A message is due every 100 ms.
#[test]
fn connections_in_vain_are_followed_by_longer_and_longer_pauses() {
    let behaviour = Behaviour { broken: &[1, 2, 3, 4, 5], ..Behaviour::default() };
    let records = telemetry(&behaviour, &[("rate", "1 /s")]);
    let begun: Vec<f64> = records
        .iter()
        .filter(|record| matches!(record.event, Event::ConnectStarted { .. }))
        .map(|record| record.at.as_millis_f64())
        .collect();
    assert_eq!(begun, [0.0, 1_000.0, 2_100.0, 3_200.0, 4_400.0, 5_800.0]);
    let lost: Vec<u32> = losses(&records).iter().map(|(message, _)| *message).collect();
    assert_eq!(lost, [1, 2, 3, 4, 5]);
    // At 6 s the connection of 5.8 s is open.
    expect("rtt_ms", &records, &[30.0, 10.0, 10.0, 10.0, 10.0]);
}

/// Message 1 is never answered. After 2 s it is lost; meanwhile messages 2 and 3 were answered on the
/// same connection, which therefore stays.
#[test]
fn one_lost_answer_leaves_the_connection_alone() {
    let settings = [("patience", "2 s")];
    let records = telemetry(&Behaviour { unanswered: &[1], ..Behaviour::default() }, &settings);
    assert_eq!(losses(&records), [(1, Loss::Unanswered)]);
    assert_eq!(attempts(&records), 1);
    expect("in_time_count", &records, &[9.0]);
}

/// From message 1 on nothing is answered; at 3 s the connection has been silent for 2 s and another is
/// opened, on which messages from 3 s on are answered.
#[test]
fn a_silent_connection_is_replaced() {
    let behaviour = Behaviour { unanswered: &[1, 2], ..Behaviour::default() };
    let records = telemetry(&behaviour, &[("patience", "2 s")]);
    assert_eq!(losses(&records), [(1, Loss::Unanswered), (2, Loss::Unanswered)]);
    assert_eq!(attempts(&records), 2);
    expect("in_time_count", &records, &[8.0]);
}

#[test]
fn a_server_that_is_never_reached_is_a_failed_run_that_says_why() {
    let refused = Behaviour { refused: u32::MAX, ..Behaviour::default() };
    let records = telemetry(&refused, &[("patience", "2 s"), ("deadline", "1 s")]);
    assert_eq!(failures(&records), ["fake: connecting failed: refused"]);
    expect("unsent_count", &records, &[10.0]);
    assert_eq!(count(&records, |event| *event == Event::Finished), 1);

    // What no new connection can cure ends it before the first message.
    let records = telemetry(&Behaviour { retryable: false, ..refused }, &[]);
    assert_eq!(failures(&records), ["fake: connecting failed: refused"]);
    assert_eq!(attempts(&records), 1);
    expect("sent_count", &records, &[0.0]);

    let slow = Behaviour { set_up: Duration::from_secs(100), ..Behaviour::default() };
    let records = telemetry(&slow, &[("patience", "2 s")]);
    assert_eq!(failures(&records), ["no connection within 2 s (workload.patience)"]);
    assert!(losses(&records).iter().all(|(_, loss)| *loss == Loss::Unconnected));
}

/// 20 phones send at the same rate with different phases within the first second, the same ones for
/// the same seed.
#[test]
fn phones_are_out_of_step_as_the_seed_says() {
    let of = |seed| telemetry(&Behaviour { seed, ..Behaviour::default() }, &[("phones", "20")]);
    let records = of(1);
    expect("sent_count", &records, &[200.0]);
    expect("lost_count", &records, &[0.0]);
    let first = |records: &[Record], phone: u32| {
        let sent =
            |record: &&Record| matches!(record.event, Event::Sent { phone: p, .. } if p == phone);
        records.iter().find(sent).unwrap().at
    };
    let mut starts: Vec<_> = (0..20).map(|phone| first(&records, phone)).collect();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), 20);
    assert_eq!(records, of(1));
    assert_ne!(records, of(2));
}

/// Of 20 phones that send every ten seconds only some have a message within the first second. The
/// others end before their connection is open, and have missed nothing.
#[test]
fn a_phone_without_a_message_in_its_time_is_no_failure() {
    let settings = [("phones", "20"), ("rate", "0.1 /s"), ("duration", "1 s")];
    let records = telemetry(&Behaviour::default(), &settings);
    let sent = samples("sent_count", &records)[0];
    assert!((1.0..20.0).contains(&sent), "{sent} of 20 phones sent");
    assert_eq!(outcome(&records), Ok(()));
}

/// A Poisson process of 100/s over 100 s has 10,000 messages, within five standard deviations of
/// 100; a jittered schedule has all.
#[test]
fn the_rate_is_kept_whatever_the_intervals() {
    let of = |intervals| {
        let settings = [("rate", "100 /s"), ("duration", "100 s"), ("intervals", intervals)];
        samples("sent_count", &telemetry(&Behaviour::default(), &settings))[0]
    };
    assert_eq!(of("periodic"), 10_000.0);
    assert!((9_999.0..=10_000.0).contains(&of("jittered")), "{}", of("jittered"));
    assert!((of("poisson") - 10_000.0).abs() < 500.0, "{}", of("poisson"));
}

#[test]
fn no_other_server_answers_with_so_many_bytes() {
    assert!(prepare("telemetry", &[("answer", "100 B")]).unwrap().site().is_err());
    assert!(prepare("telemetry", &[]).unwrap().site().is_ok());
}
