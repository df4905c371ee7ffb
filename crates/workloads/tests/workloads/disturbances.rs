//! Bulk transfers that resume over another connection: exact times, failures, bad input.

use trackbed_core::event::Disturbance;

use crate::fake::{Behaviour, run, run_prepared, run_with};
use crate::support::*;

/// 20 ms of set-up and 5 ms each way: a resumed download takes 30 ms until its first byte; an
/// upload asks for the count (10 ms), and here its data moves when the phone has the head of the
/// answer (10 ms more) and takes no time.
#[test]
fn a_reconnection_costs_a_set_up_and_a_request() {
    for (direction, interruption, completion) in
        [("download", 30.0, 4.0 * 30.0), ("upload", 40.0, 30.0 + 3.0 * 40.0)]
    {
        let settings = [("direction", direction), ("size", "1000001 B"), ("reconnections", "3")];
        let ran = run("bulk", &settings, &Behaviour::default());
        assert_eq!(outcome(&ran.records), Ok(()), "{direction}");
        expect("reconnect_ms", &ran.records, &[20.0; 3]);
        expect("interruption_ms", &ran.records, &[interruption; 3]);
        expect("reconnection_count", &ran.records, &[3.0]);
        expect("migration_count", &ran.records, &[0.0]);
        expect("completion_ms", &ran.records, &[completion]);
        let whole = Event::Transferred { phone: 0, bytes: 1_000_001, intact: true };
        assert_eq!(count(&ran.records, |event| *event == whole), 1, "{direction}");
        assert_eq!(connections(&ran.records), 4);
    }
}

#[test]
fn without_disturbances_there_is_nothing_to_say_of_them() {
    let ran = run("bulk", &[], &Behaviour::default());
    for metric in ["reconnect_ms", "interruption_ms", "reconnection_count", "migration_count"] {
        expect(metric, &ran.records, &[]);
    }
}

/// Breaks a body with data off after a total number of bytes, once for each of the numbers.
fn brittle(inner: Rc<dyn Service>, breaks: Vec<usize>) -> Rc<dyn Service> {
    let breaks = Rc::new(RefCell::new(breaks));
    Rc::new(move |Request { path, body, .. }: Request| {
        let (inner, breaks) = (Rc::clone(&inner), Rc::clone(&breaks));
        let cut = move |body| match breaks.borrow_mut().pop() {
            Some(left) => break_off(body, left),
            None => body,
        };
        async move {
            if path.ends_with("have") {
                return inner.call(Request::new(path, body)).await;
            }
            if path.contains("upload") {
                return inner.call(Request::new(path, cut(body))).await;
            }
            let Response { status, body } = inner.call(Request::new(path, body)).await;
            Response { status, body: cut(body) }
        }
    })
}

fn break_off(body: Body, mut left: usize) -> Body {
    let counted = body.map(move |piece| {
        let piece = piece?;
        left = left.checked_sub(piece.len()).ok_or_else(broken)?;
        Ok(piece)
    });
    Box::pin(counted.scan(false, |is_over, piece| {
        let is_last = std::mem::replace(is_over, piece.is_err());
        std::future::ready((!is_last).then_some(piece))
    }))
}

fn broken() -> Error {
    let reason = "the network has gone".to_owned();
    Error::Failed { protocol: "fake", step: Step::Receive, reason, retryable: true }
}

#[test]
fn a_connection_that_breaks_by_itself_is_replaced_where_transfers_can_go_on() {
    for direction in ["download", "upload"] {
        for (reconnections, breaks, succeeds) in [
            ("2", vec![40_000, 300_000, 0, 0, 0, 100_000], true),
            ("2", vec![0; 10], true),
            ("2", vec![0; 11], false),
            ("0", vec![100_000], false),
        ] {
            let settings =
                [("direction", direction), ("size", "1 MB"), ("reconnections", reconnections)];
            let bulk = prepare("bulk", &settings).unwrap();
            let case = format!("{direction} {reconnections} {breaks:?}");
            let wrap = move |inner| brittle(inner, breaks);
            let ran = run_with(&*bulk, &Behaviour::default(), wrap);
            let whole = Event::Transferred { phone: 0, bytes: 1_000_000, intact: true };
            let transferred = count(&ran.records, |event| *event == whole);
            assert_eq!(transferred, usize::from(succeeds), "{case}");
            assert_eq!(failures(&ran.records).is_empty(), succeeds, "{case}");
            // Every disturbance has its reconnection, whatever else broke.
            if succeeds {
                expect("reconnection_count", &ran.records, &[2.0]);
            }
        }
    }
}

#[test]
fn a_phone_without_a_further_network_says_so() {
    let bulk = prepare("bulk", &[("moves", "1")]).unwrap();
    assert_eq!(bulk.networks(), 2);
    let ran = run_prepared(&*bulk, &Behaviour::default());
    assert_eq!(failures(&ran.records), ["the phone has no host that can move"]);
    let moves = Event::Disturbed { phone: 0, disturbance: Disturbance::Move };
    assert_eq!(count(&ran.records, |event| *event == moves), 1);
}

#[test]
fn there_may_be_a_disturbance_after_every_byte() {
    run("bulk", &[("reconnections", "9"), ("size", "10 B")], &Behaviour::default()).succeeded();
}

#[test]
fn a_third_party_server_is_refused_with_the_keys_to_change() {
    for name in ["reconnections", "moves"] {
        let why = prepare("bulk", &[(name, "1")]).unwrap().site().err().unwrap();
        assert!(why.contains("reconnections") && why.contains("moves to 0"), "{why}");
    }
    assert!(prepare("bulk", &[]).unwrap().site().is_ok());
}
