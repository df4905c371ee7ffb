//! Sessions over a protocol of known delays: 20 ms to connect, 5 ms one way, and pieces that a
//! server delays for a given time.

use trackbed_core::event::Playback;

use crate::fake::{Behaviour, Ran, run_with};
use crate::support::*;

/// A session whose pieces take these milliseconds at the server, the last value for all that
/// follow, with the environment's lines `changes`.
fn session(settings: &Settings, pieces_ms: &[u64], changes: &str) -> Ran {
    session_of(settings, pieces_ms, &behaviour(changes, Time::ZERO))
}

fn behaviour(changes: &str, begin: Time) -> Behaviour {
    let timeline = format!("at,change,value\n{changes}").parse().unwrap();
    Behaviour { course: Course::new(begin, Arc::new(timeline)), ..Behaviour::default() }
}

fn session_of(settings: &Settings, pieces_ms: &[u64], behaviour: &Behaviour) -> Ran {
    let workload = prepare("streaming", settings).unwrap();
    let pieces_ms = pieces_ms.to_vec();
    run_with(&*workload, behaviour, move |service| {
        let calls = Cell::new(0);
        let late = move |request: Request| {
            let service = Rc::clone(&service);
            let is_piece = request.path.starts_with("/media");
            let call = if is_piece { calls.replace(calls.get() + 1) } else { 0 };
            let wait = *pieces_ms.get(call).or(pieces_ms.last()).unwrap();
            async move {
                sleep(Duration::from_millis(if is_piece { wait } else { 0 })).await;
                service.call(request).await
            }
        };
        Rc::new(late) as Rc<dyn Service>
    })
}

fn steps(records: &[Record]) -> Vec<(f64, Playback)> {
    let step = |record: &Record| match record.event {
        Event::Playback { step, .. } => Some((record.at.as_millis_f64(), step)),
        _ => None,
    };
    records.iter().filter_map(step).collect()
}

fn moves(records: &[Record]) -> Vec<(f64, &'static str)> {
    let of = |(at, step): (f64, Playback)| match step {
        Playback::Playing => Some((at, "playing")),
        Playback::Stalled => Some((at, "stalled")),
        Playback::Sought { .. } => Some((at, "sought")),
        Playback::Ended { .. } => Some((at, "ended")),
        _ => None,
    };
    steps(records).into_iter().filter_map(of).collect()
}

/// Connected by 20 ms; every piece takes 300 + 10 ms, so the first is there at 330 ms, and the
/// buffer is never empty again.
#[test]
fn a_smooth_session_takes_its_start_up_and_its_length() {
    let ran = session(&[("duration", "5 s")], &[300], "").succeeded();
    assert_eq!(moves(&ran.records), [(330.0, "playing"), (5_330.0, "ended")]);
    // The first one waits for the connection; the others are there before they are needed.
    equal("pieces", &pieces_ms(&ran.records), &[330.0, 310.0, 310.0, 310.0, 310.0]);
    expect("loading_delay_ms", &ran.records, &[330.0]);
    expect("startup_delay_ms", &ran.records, &[330.0]);
    expect("rebuffering_ms", &ran.records, &[0.0]);
    expect("seek_count", &ran.records, &[0.0]);
    assert_eq!((ran.open, failures(&ran.records).len()), (0, 0));
}

/// With 2 s to start: pieces at 330 and 640, so playback runs from 640 to 2,640; the third one
/// takes 3,010 ms and is there at 3,650, the fourth at 3,960: playback resumes, for the rest.
#[test]
fn a_late_piece_stalls_the_player_for_as_long_as_arithmetic_says() {
    let ran = session(&[("duration", "5 s"), ("startup", "2 s")], &[300, 300, 3_000, 300], "");
    assert_eq!(
        moves(&ran.records),
        [(640.0, "playing"), (2_640.0, "stalled"), (3_960.0, "playing"), (6_960.0, "ended")]
    );
    expect("startup_delay_ms", &ran.records, &[640.0]);
    expect("rebuffering_ms", &ran.records, &[1_320.0]);
    expect("rebuffering_count", &ran.records, &[1.0]);
    equal("pieces", &pieces_ms(&ran.records), &[330.0, 310.0, 3_010.0, 310.0, 310.0]);
    // The third piece was fetched ahead, and needed from 2,640 on.
    expect("loading_delay_ms", &ran.records, &[330.0, 3_650.0 - 2_640.0]);
}

/// The buffer of 2 s is full with two pieces at 640, of which 310 ms are played by then: the next
/// one is asked for at 1,330, when a second of room has come free, and so on every second.
#[test]
fn a_full_buffer_asks_again_when_there_is_room() {
    let ran = session(&[("duration", "4 s"), ("buffer", "2 s")], &[300], "");
    let asked: Vec<f64> = steps(&ran.records)
        .into_iter()
        .filter_map(|(at, step)| matches!(step, Playback::Requested { .. }).then_some(at))
        .collect();
    assert_eq!(asked, [0.0, 330.0, 1_330.0, 2_330.0]);
    expect("rebuffering_count", &ran.records, &[0.0]);
}

#[test]
fn a_session_of_so_much_time_ends_then() {
    let ran = session(&[("duration", "5 s"), ("ends", "elapsed")], &[1_490], "");
    // Pieces at 1,520, 3,020 and 4,520; each has been played half a second before the next arrives.
    assert_eq!(moves(&ran.records).last(), Some(&(5_000.0, "ended")));
    expect("rebuffering_ms", &ran.records, &[1_000.0]);
    let played = Duration::from_millis(1_000 + 1_000 + 480);
    let all = steps(&ran.records);
    let end = [Playback::Ended { played }, Playback::Abandoned { piece: 3 }];
    assert_eq!(all[all.len() - 2..], end.map(|step| (5_000.0, step)));
    assert_eq!(ran.open, 0);
}

/// At 1 s the viewer jumps to half of 600 s. The piece in progress is abandoned; the next is HD.
#[test]
fn a_jump_leaves_the_piece_under_way_and_begins_low() {
    let ran = session(&[("duration", "3 s")], &[300, 2_000, 300], "1 s,seek,50 %").succeeded();
    let requested = |(at, step): (f64, Playback)| match step {
        Playback::Requested { piece, second, lines } => Some((at, piece, second, lines)),
        _ => None,
    };
    let requests: Vec<_> = steps(&ran.records).into_iter().filter_map(requested).collect();
    assert_eq!(requests[..3], [(0.0, 0, 0, 720), (330.0, 1, 1, 1_440), (1_000.0, 2, 300, 720)]);
    assert_eq!(requests[3], (1_310.0, 3, 301, 1_440));
    assert_eq!(
        moves(&ran.records),
        [(330.0, "playing"), (1_000.0, "sought"), (1_310.0, "playing"), (3_640.0, "ended")]
    );
    expect("seek_delay_ms", &ran.records, &[310.0]);
    expect("seek_count", &ran.records, &[1.0]);
    // 670 ms of the first piece were played, so three more are needed for 3 s.
    equal("pieces", &pieces_ms(&ran.records), &[330.0, 310.0, 310.0, 310.0]);
    expect("loading_delay_ms", &ran.records, &[330.0, 310.0]);
}

/// The second piece is there at 3,340 ms; playback stalls from 1,330 on.
#[test]
fn a_viewer_who_waits_jumps_only_where_told_to() {
    let changes = "2 s,seek,50 %\n3500 ms,seek,10 %";
    let count = |settings: &Settings| {
        let ran = session(settings, &[300, 3_000, 300], changes);
        let sought = moves(&ran.records).into_iter().filter(|(_, what)| *what == "sought");
        sought.map(|(at, _)| at).collect::<Vec<_>>()
    };
    assert_eq!(count(&[("duration", "4 s")]), [3_500.0]);
    assert_eq!(count(&[("duration", "4 s"), ("seeks", "always")]), [2_000.0, 3_500.0]);
}

/// The link delay decides the resolution from when the environment changes it.
#[test]
fn resolution_follows_the_link_delay_that_the_environment_tells() {
    let changes = "0 s,delay,50 ms\n2 s,delay,150 ms\n4 s,delay,250 ms";
    let ran = session(&[("duration", "6 s"), ("buffer", "1 s")], &[300], changes);
    let lines = |(_, step): (f64, Playback)| match step {
        Playback::Requested { lines, .. } => Some(lines),
        _ => None,
    };
    let lines: Vec<u32> = steps(&ran.records).into_iter().filter_map(lines).collect();
    assert_eq!(lines, [720, 1_440, 1_080, 1_080, 720, 720]);
    expect("resolution_switch_count", &ran.records, &[3.0]);
}

/// At 1 s the connection is lost while the third piece is in progress: 20 ms to connect, then the
/// piece again. It was first requested at 640.
#[test]
fn a_reconnection_asks_again_for_what_is_lacking() {
    let ran =
        session(&[("duration", "3 s")], &[300, 300, 2_000, 300], "1 s,reconnect,").succeeded();
    expect("reconnection_count", &ran.records, &[1.0]);
    expect("reconnect_ms", &ran.records, &[20.0]);
    equal("pieces", &pieces_ms(&ran.records), &[330.0, 310.0, 1_330.0 - 640.0]);
    expect("loading_delay_ms", &ran.records, &[330.0]);
    expect("rebuffering_ms", &ran.records, &[0.0]);
    assert_eq!((ran.open, ran.closed.len()), (0, 2));
}

#[test]
fn a_reconnection_with_a_full_buffer_costs_the_viewer_nothing() {
    let settings = [("duration", "4 s"), ("buffer", "2 s")];
    let ran = session(&settings, &[300], "1 s,reconnect,\n1 s,seek,10 %\n2 s,reconnect,");
    expect("reconnect_ms", &ran.records, &[20.0, 20.0]);
    expect("seek_delay_ms", &ran.records, &[330.0]);
    assert_eq!((ran.open, ran.closed.len()), (0, 3));
}

#[test]
fn a_connection_that_breaks_is_replaced_twice_and_no_more() {
    let broken = |broken| {
        session_of(&[("duration", "3 s")], &[300], &Behaviour { broken, ..Behaviour::default() })
    };
    let ran = broken(&[1, 2]).succeeded();
    expect("reconnection_count", &ran.records, &[]);
    assert_eq!(failures(&broken(&[1, 2, 3]).records), ["fake: sending failed: broken"]);
    let refused = Behaviour { refused: u32::MAX, ..Behaviour::default() };
    let ran = session_of(&[], &[300], &refused);
    assert_eq!(failures(&ran.records), ["fake: connecting failed: refused"]);
}

#[test]
fn a_session_to_which_nothing_comes_is_given_up() {
    let ran = session_of(&[], &[300], &Behaviour { unanswered: &[2], ..Behaviour::default() });
    assert_eq!(failures(&ran.records), ["no progress for 60 s (workload.timeout)"]);
    // The third piece was requested at 640 ms.
    assert_eq!(ran.records.last().unwrap().at.as_millis_f64(), 60_640.0);
    assert_eq!(ran.open, 0);
}

#[test]
fn sessions_that_resume_begin_with_the_environment() {
    let mut behaviour = behaviour("1 s,seek,50 %", Time::from_millis(600_000));
    behaviour.handshake = Handshake::Resumed;
    let ran = session_of(&[("duration", "2 s")], &[300], &behaviour);
    assert_eq!(moves(&ran.records)[0], (600_330.0, "playing"));
    assert_eq!(moves(&ran.records)[1], (601_000.0, "sought"));
    behaviour.course =
        Course::new(Time::from_millis(10), Arc::new(behaviour.course.timeline().clone()));
    let ran = session_of(&[], &[300], &behaviour);
    assert!(failures(&ran.records)[0].contains("took longer than 0.01 s"));
}

#[test]
fn several_viewers_have_a_session_each() {
    let ran = session(&[("duration", "2 s"), ("phones", "3")], &[300], "1 s,seek,50 %");
    expect("startup_delay_ms", &ran.records, &[330.0; 3]);
    expect("seek_count", &ran.records, &[1.0; 3]);
}
