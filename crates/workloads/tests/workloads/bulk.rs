//! Bulk transfers: intact, damaged, stalled, slow.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::future::LocalBoxFuture;
use futures_util::{StreamExt as _, stream};
use trackbed_connection::{Body, Request, Response, Service, body};
use trackbed_core::event::{Event, Record};
use trackbed_measure::metrics::outcome;
use trackbed_substrate::sleep;

use super::fake::{Behaviour, Ran, run, run_with};
use super::support::{count, expect, failures, pick, prepare, refusal};

fn transferred(records: &[Record]) -> Vec<(u32, u64, bool)> {
    pick(records, |event| match *event {
        Event::Transferred { phone, bytes, intact } => Some((phone, bytes, intact)),
        _ => None,
    })
}

/// Set-up, the request's way to the server, and, for a download, the data's way back: the data
/// itself takes no time here.
#[test]
fn data_arrives_intact_in_both_directions() {
    for (direction, completion_ms) in [("download", 30.0), ("upload", 25.0)] {
        let settings = [("direction", direction), ("size", "3000001 B"), ("phones", "2")];
        for _ in 0..2 {
            let ran = run("bulk", &settings, &Behaviour::default()).succeeded();
            let expected = [(0, 3_000_001, true), (1, 3_000_001, true)];
            assert_eq!(transferred(&ran.records), expected);
            expect("completion_ms", &ran.records, &[completion_ms; 2]);
            assert_eq!((ran.open, ran.closed.len()), (0, 2));
        }
    }
}

/// Changes every body that passes between the phones and the workload's own service.
#[derive(Clone)]
struct Tamper {
    inner: Rc<dyn Service>,
    change: fn(Body) -> Body,
}

impl Service for Tamper {
    fn call(&self, request: Request) -> LocalBoxFuture<'static, Response> {
        let Tamper { inner, change } = self.clone();
        let is_upload = request.path.starts_with("/bulk/upload/");
        Box::pin(async move {
            let Request { path, body, .. } = request;
            let body = if is_upload { change(body) } else { body };
            let Response { status, body } = inner.call(Request::new(path, body)).await;
            let body = if is_upload { body } else { change(body) };
            Response { status, body }
        })
    }
}

fn tampered(direction: &'static str, change: fn(Body) -> Body) -> Ran {
    let bulk = prepare("bulk", &[("direction", direction), ("size", "1 MB")]).unwrap();
    let wrap = move |inner| Rc::new(Tamper { inner, change }) as Rc<dyn Service>;
    run_with(&*bulk, &Behaviour::default(), wrap)
}

#[test]
fn damage_on_the_way_is_noticed() {
    let flip: fn(Body) -> Body = |body| {
        Box::pin(body.enumerate().map(|(index, piece)| {
            let mut piece = piece?.to_vec();
            if index == 30 {
                piece[77] ^= 0x40;
            }
            Ok(Bytes::from(piece))
        }))
    };
    let swap: fn(Body) -> Body = |body| {
        Box::pin(body.chunks(2).flat_map(|mut pair| {
            pair.reverse();
            stream::iter(pair)
        }))
    };
    for direction in ["download", "upload"] {
        for change in [flip, swap] {
            let ran = tampered(direction, change);
            assert_eq!(transferred(&ran.records), [(0, 1_000_000, false)]);
            assert!(outcome(&ran.records).unwrap_err().contains("differ from those sent"));
            expect("throughput_mbps", &ran.records, &[0.0]);
        }
        let ran = tampered(direction, |body| Box::pin(body.skip(1)));
        assert_eq!(transferred(&ran.records), [(0, 1_000_000 - 16_384, false)]);
        let ran = tampered(direction, |_| body::zeros(1_000_000));
        assert_eq!(transferred(&ran.records), [(0, 1_000_000, false)]);
    }
}

#[test]
fn a_transfer_that_stands_still_is_given_up() {
    let ran = tampered("download", |body| Box::pin(body.take(10).chain(stream::pending())));
    assert_eq!(failures(&ran.records), ["no progress for 60 s"]);
    assert_eq!(transferred(&ran.records), []);
    assert!(outcome(&ran.records).is_err());
    assert_eq!((ran.open, count(&ran.records, |event| *event == Event::Finished)), (0, 1));
}

/// 62 pieces, half a minute each.
#[test]
fn a_transfer_that_creeps_is_not() {
    let ran = tampered("download", |body| {
        Box::pin(body.then(|piece| async {
            sleep(Duration::from_secs(30)).await;
            piece
        }))
    });
    assert_eq!(transferred(&ran.records), [(0, 1_000_000, true)]);
    expect("completion_ms", &ran.records, &[62.0 * 30_000.0 + 30.0]);
}

#[test]
fn a_server_that_has_nothing_is_a_failure() {
    let bulk = prepare("bulk", &[]).unwrap();
    let nothing = |_| {
        let respond = |_: Request| async { Response { status: 404, body: body::empty() } };
        Rc::new(respond) as Rc<dyn Service>
    };
    let ran = run_with(&*bulk, &Behaviour::default(), nothing);
    assert_eq!(failures(&ran.records), ["the server answered with status 404"]);
}

#[test]
fn a_server_out_of_reach_is_a_failure() {
    let settings = [("direction", "upload")];
    let ran = run("bulk", &settings, &Behaviour { refused: u32::MAX, ..Behaviour::default() });
    assert_eq!(failures(&ran.records), ["fake: connecting failed: refused"]);
    let ran = run("bulk", &settings, &Behaviour { unanswered: &[0], ..Behaviour::default() });
    assert_eq!(failures(&ran.records), ["no progress for 60 s"]);
    assert_eq!(ran.open, 0);
}

#[test]
fn what_makes_no_sense_is_refused_with_advice() {
    for (name, value) in [("size", "0 B"), ("phones", "20000"), ("timeout", "0 ms")] {
        let advice = refusal("bulk", &[(name, value)], name);
        assert!(advice.contains("write"), "{advice}");
    }
}
