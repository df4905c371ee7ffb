//! Bulk transfers: intact, damaged, stalled, slow.

use crate::fake::{Behaviour, Ran, run, run_with};
use crate::support::*;

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
            assert_eq!(transferred(&ran.records), [(0, 3_000_001, true), (1, 3_000_001, true)]);
            expect("completion_ms", &ran.records, &[completion_ms; 2]);
            assert_eq!((ran.open, ran.closed.len()), (0, 2));
        }
    }
}

/// Changes every body with data that passes between the phones and the workload's own service.
fn tampered(direction: &'static str, change: fn(Body) -> Body) -> Ran {
    let bulk = prepare("bulk", &[("direction", direction), ("size", "1 MB")]).unwrap();
    run_with(&*bulk, &Behaviour::default(), move |inner| {
        Rc::new(move |Request { path, body, .. }: Request| {
            let inner = Rc::clone(&inner);
            async move {
                if path.starts_with("/bulk/upload/") {
                    return inner.call(Request::new(path, change(body))).await;
                }
                let Response { status, body } = inner.call(Request::new(path, body)).await;
                Response { status, body: change(body) }
            }
        })
    })
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
    assert_eq!(failures(&ran.records), ["no progress for 60 s (workload.timeout)"]);
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
    let respond = |_: Request| async { Response { status: 404, body: body::empty() } };
    let ran = run_with(&*bulk, &Behaviour::default(), |_| Rc::new(respond));
    assert_eq!(failures(&ran.records), ["the server answered with status 404"]);
}

#[test]
fn a_server_out_of_reach_is_a_failure() {
    let settings = [("direction", "upload")];
    let ran = run("bulk", &settings, &Behaviour { refused: u32::MAX, ..Behaviour::default() });
    assert_eq!(failures(&ran.records), ["fake: connecting failed: refused"]);
    let ran = run("bulk", &settings, &Behaviour { unanswered: &[0], ..Behaviour::default() });
    assert_eq!(failures(&ran.records), ["no progress for 60 s (workload.timeout)"]);
    assert_eq!(ran.open, 0);
}
