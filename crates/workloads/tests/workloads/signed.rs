//! Signed messages, and the roadside unit that verifies them before it answers and forwards them.

use bytes::BytesMut;
use trackbed_core::event::{Judgement, Verification};

use crate::fake::{Behaviour, Ran, run, run_with};
use crate::support::*;

/// One of its cores takes 1.61367 ms for a signature and nothing else.
const SLOW: (&str, &str) = ("board", "etri-udoo-quad");

fn judgements(ran: &Ran) -> Vec<Judgement> {
    pick(&ran.records, |event| match event {
        Event::Verification(Verification::Judged(one)) => one.first().map(|one| one.judgement),
        _ => None,
    })
}

/// 10 ms there and back, 0.1 ms to sign and 1.61367 ms to verify; one more signature, of the
/// certificate, with the first message, which another core verifies meanwhile if there is one.
#[test]
fn a_signature_costs_what_it_takes_to_make_and_to_verify() {
    let plain = [("signed", "true"), SLOW, ("count", "3")];
    for (workers, first) in [("4", 11.71367), ("1", 13.32734)] {
        let settings = [&plain[..], &[("workers", workers)]].concat();
        let ran = run("messages", &settings, &Behaviour::default()).succeeded();
        expect("rtt_ms", &ran.records, &[first, 11.71367, 11.71367]);
        expect("verdict_ms", &ran.records, &[first - 10.1, 1.61367, 1.61367]);
        assert_eq!(judgements(&ran), [Judgement::Accepted; 3]);
    }
    let settings = [&plain[..], &[("signing", "2 ms")]].concat();
    expect("rtt_ms", &run("messages", &settings, &Behaviour::default()).records, &[13.61367; 3]);
}

/// Eight phones at the same moment with four cores: each has two signatures to verify, so that
/// sixteen are done in four rounds, in the order of arrival.
#[test]
fn messages_wait_for_a_core() {
    let settings = [("signed", "true"), SLOW, ("count", "1"), ("phones", "8"), ("stagger", "0 ms")];
    let ran = run("messages", &settings, &Behaviour::default());
    let mut verdicts = samples("verdict_ms", &ran.records);
    verdicts.sort_by(f64::total_cmp);
    let rounds = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0];
    for (verdict, rounds) in verdicts.iter().zip(rounds) {
        assert!((verdict - rounds * 1.61367).abs() < 1e-9, "{verdicts:?}");
    }
    assert_eq!(verdicts.len(), 8);
}

/// Changes the last byte, part of the signature, of one phone's messages.
fn damaging(service: Rc<dyn Service>) -> Rc<dyn Service> {
    Rc::new(move |request: Request| {
        let service = Rc::clone(&service);
        async move {
            let content = body::collect(request.body, 10_000).await.unwrap();
            let mut content = BytesMut::from(&content[..]);
            if request.path.starts_with("/messages/1/") {
                *content.last_mut().unwrap() ^= 1;
            }
            service.call(Request::new(request.path, body::full(content.freeze()))).await
        }
    })
}

#[test]
fn a_changed_message_is_refused_and_not_forwarded() {
    let settings = [("signed", "true"), ("phones", "2"), ("count", "4"), ("listeners", "1")];
    let messages = prepare("messages", &settings).unwrap();
    let ran = run_with(&*messages, &Behaviour::default(), damaging);
    assert!(outcome(&ran.records).is_err_and(|why| why.contains("the server refused message")));
    expect("refused_count", &ran.records, &[4.0]);
    expect("bad_signature_count", &ran.records, &[4.0]);
    expect("accepted_count", &ran.records, &[4.0]);
    assert_eq!(warnings(&ran), BTreeMap::from([(2, vec![(0, 0), (0, 1), (0, 2), (0, 3)])]));
}

/// Which listeners received which phones' messages, in order.
fn warnings(ran: &Ran) -> BTreeMap<u32, Vec<(u32, u32)>> {
    let mut told: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for record in &ran.records {
        if let Event::Warned { listener, phone, message } = record.event {
            told.entry(listener).or_default().push((phone, message));
        }
    }
    told
}

/// 5 ms to the service, 1.71367 ms as above, and 5 ms from there: the request was already waiting.
#[test]
fn listeners_know_one_way_after_the_service_does() {
    let settings = [("signed", "true"), SLOW, ("count", "3"), ("listeners", "2")];
    let ran = run("messages", &settings, &Behaviour::default()).succeeded();
    expect("warning_ms", &ran.records, &[11.71367; 6]);
    let all = vec![(0, 0), (0, 1), (0, 2)];
    assert_eq!(warnings(&ran), BTreeMap::from([(1, all.clone()), (2, all)]));
    // Their connections exist before the measured part, and are closed at the end.
    expect("handshake_ms", &ran.records, &[20.0]);
    assert_eq!((attempts(&ran.records), ran.open, ran.closed.len()), (1, 0, 3));
}

#[test]
fn a_listener_that_loses_its_connection_opens_another_unless_that_cannot_help() {
    let settings = [("count", "3"), ("listeners", "1")];
    let behaviour = Behaviour { broken: &[0], ..Behaviour::default() };
    let ran = run("messages", &settings, &behaviour).succeeded();
    assert_eq!(warnings(&ran), BTreeMap::from([(1, vec![(0, 0), (0, 1), (0, 2)])]));
    let ran = run("messages", &settings, &Behaviour { retryable: false, ..behaviour });
    let why = outcome(&ran.records).unwrap_err();
    assert!(why.contains("a listener failed"), "{why}");
    expect("answered_count", &ran.records, &[3.0]);
}

/// In 100 s between two messages a listener asks twenty times and gets an empty answer.
#[test]
fn a_listener_does_not_wait_in_silence() {
    let settings = [("count", "2"), ("rate", "0.01 /s"), ("listeners", "1"), ("timeout", "5 s")];
    let ran = run("messages", &settings, &Behaviour::default()).succeeded();
    // The first message waits for its connection; its listener's request arrives before it.
    let told = samples("warning_ms", &ran.records);
    assert!((told[0] - 30.0).abs() < 1e-6 && (10.0..=20.0).contains(&told[1]), "{told:?}");
}

#[test]
fn only_the_built_in_server_has_a_board() {
    let signed = prepare("messages", &[("signed", "true"), SLOW]).unwrap();
    assert_eq!(signed.board(), Some("etri-udoo-quad"));
    assert!(signed.site().err().unwrap().contains("the built-in server"));
    assert_eq!((signed.expectation(), prepare("messages", &[]).unwrap().board()), (None, None));
}
