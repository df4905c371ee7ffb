use std::time::Duration;

use trackbed_analysis::divergence::{Content, Tcp, divergence};
use trackbed_core::Time;

use super::*;

/// Three packets down, the last two of which may be missing or lost.
fn run(lost: Option<&'static str>, count: usize) -> Vec<Sent> {
    let packet = |number: u32| Sent {
        at: Time::from_millis(u64::from(number) * 10),
        direction: Direction::Backward,
        link: 0,
        content: Content {
            flow: 0,
            payload: 1_000,
            tcp: Some(Tcp { flags: 16, sequence: 1_000 * number, acknowledgment: 1, window: 64 }),
        },
        lost: lost.filter(|_| number == 1),
    };
    (0..3).map(packet).take(count).collect()
}

fn nothing() -> Pair<'static> {
    Pair { sent: [&[], &[]], divergence: None, late: None, windows: [&[], &[]] }
}

#[test]
fn the_first_sentence_says_where_runs_diverge() {
    let (virtually, emulated) = (run(None, 3), run(Some("loss"), 3));
    let found = divergence(&virtually, &emulated);
    let pair = Pair { sent: [&virtually, &emulated], divergence: found.as_ref(), ..nothing() };
    let text = render("cell 0 (tcp), run 3", &pair);
    assert!(
        text.starts_with(
            "The runs diverge 10.0 ms after their first packet, at packet 2 down of a connection.\n"
        ),
        "{text}"
    );
    let line = "TCP 0 ACK, sequence 1000, acknowledgment 1, window 64, 1000 B";
    assert!(text.contains(&format!(" >     10.000 ms  down  {line}\n")), "{text}");
    assert!(text.contains(&format!(" >     10.000 ms  down  {line}; lost by the link (loss)\n")));
    assert!(text.contains("1000 B in virtual time, 1000 B on the kernel"), "{text}");
}

#[test]
fn a_run_that_ends_early_sends_nothing_more() {
    let (virtually, emulated) = (run(None, 3), run(None, 2));
    let found = divergence(&virtually, &emulated);
    let pair = Pair { sent: [&virtually, &emulated], divergence: found.as_ref(), ..nothing() };
    let text = render("a", &pair);
    let first = "Both runs send the same packets until the one on the kernel ends, each less than 1 ms apart.\n";
    assert!(text.starts_with(first) && text.contains(" >    nothing more"), "{text}");
    // What is worth showing is where they were apart before.
    let late = [&virtually, &emulated].map(|run| run[1].clone());
    let text = render("a", &Pair { late: Some(&late), ..pair });
    let first = "Both runs send the same packets until the one on the kernel ends, but not at the same time: \
                 from 10.0 ms in virtual time and 10.0 ms on the kernel on, they are more than 1 ms apart.\n";
    assert!(text.starts_with(first) && !text.contains("nothing more"), "{text}");
    let same = Pair { sent: [&virtually, &virtually], ..nothing() };
    assert_eq!(sentence(&same), "Both runs send the same packets, each less than 1 ms apart.");
}

/// The second packet, at 10 ms, is the first difference.
#[test]
fn the_windows_are_those_at_that_time() {
    let (virtually, emulated) = (run(None, 3), run(Some("loss"), 3));
    let found = divergence(&virtually, &emulated);
    let window = |at, direction, bytes| Window {
        at: Time::from_millis(at),
        direction,
        path: 0,
        bytes,
        rtt: (bytes > 14_480).then_some(Duration::from_micros(20_100)),
    };
    let grown = [
        window(0, Direction::Backward, 14_480),
        window(1, Direction::Forward, 14_480),
        window(9, Direction::Backward, 15_928),
        window(11, Direction::Backward, 17_376),
    ];
    let windows = [&grown[..], &grown[..1]];
    let pair =
        Pair { sent: [&virtually, &emulated], divergence: found.as_ref(), late: None, windows };
    let text = render("a", &pair);
    assert!(
        text.ends_with(
            "\ncongestion windows of the first TCP connection: the last changes that its ends saw when they \
             read or wrote\n  \
             virtual  up 14480 B at 1.0 ms; down 15928 B at 9.0 ms (smoothed RTT 20.1 ms)\n  \
             kernel   down 14480 B at 0.0 ms\n"
        ),
        "{text}"
    );
}

/// 3 kB in 20 ms.
#[test]
fn the_picture_has_both_curves_and_the_place_where_they_diverge() {
    let (virtually, emulated) = (run(None, 3), run(Some("loss"), 3));
    let found = divergence(&virtually, &emulated);
    let pair = Pair { sent: [&virtually, &emulated], divergence: found.as_ref(), ..nothing() };
    let [panel] = &plot(&pair).unwrap().panels[..] else { panic!("one panel") };
    let is_whole =
        |mark: &&Mark| matches!(mark, Mark::Line(_, points) if points.last() == Some(&[20.0, 3.0]));
    assert_eq!(panel.marks.iter().filter(is_whole).count(), 2, "{panel:?}");
    assert!(panel.marks.iter().any(|mark| matches!(mark, Mark::Rule([10.0, _]))), "{panel:?}");
    assert_eq!(panel.marks.iter().filter(|mark| matches!(mark, Mark::Dot(..))).count(), 1);
    assert_eq!(svg(&nothing()), None);
}
