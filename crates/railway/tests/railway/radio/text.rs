//! Timelines as files.

use std::time::Duration;

use trackbed_core::{Bitrate, Ratio, Seed, Time};
use trackbed_railway::motion::Direction;
use trackbed_railway::radio::{
    LinkDirection, RadioTimeline, Service, signal_to_text, timelines_from_text, timelines_to_text,
};

use super::railway;

#[test]
fn a_timeline_reads_as_it_was_written() {
    for profile in ["ns3", "3gpp", "hsr-measured"] {
        let railway = railway(&[("profile", profile), ("interference", "50 %")]);
        let ride = railway.ride(Direction::Backward);
        for run in 0..5 {
            let end = Time::from_millis(200_000);
            let timelines = railway.drive(&ride, end, &Seed::of_run(1, run));
            let text = timelines_to_text(&timelines);
            let bare =
                |timeline: &RadioTimeline| RadioTimeline { signal: Vec::new(), ..timeline.clone() };
            let expected: Vec<RadioTimeline> = timelines.iter().map(bare).collect();
            assert_eq!(timelines_from_text(&text).unwrap(), expected);
            let lines = signal_to_text(&timelines).lines().count();
            assert_eq!(lines, 1 + timelines.iter().map(|t| t.signal.len()).sum::<usize>());
        }
    }
}

#[test]
fn a_recorded_drive_may_say_less() {
    let text = "# by hand\nat,operator,direction,change,value\n\n0 s,K,both,rate,10 Mbit/s\n\
                1 s,K,down,loss,5 %\n2 s,K,both,service,lost\n2500 ms,K,both,service,up\n\
                3 s,K,both,service,held\n";
    let timelines = timelines_from_text(text).unwrap();
    let [timeline] = &timelines[..] else { panic!("{timelines:?}") };
    let second = |n: u64| Time::from_millis(n * 1_000);
    let (up, down) = (LinkDirection::Up, LinkDirection::Down);
    assert_eq!(timeline.rates(up), [(Time::ZERO, Bitrate::from_mbps(10))]);
    assert_eq!(timeline.losses(down), [(second(1), Ratio::from_parts(1, 20))]);
    assert!(timeline.losses(up).is_empty() && timeline.delays(up).is_empty());
    let half = second(2) + Duration::from_millis(500);
    assert_eq!(timeline.spells(up, Service::Lost), [(second(2), half)]);
    assert_eq!(timeline.spells(up, Service::Held), [(second(3), Time::MAX)]);
}

#[test]
fn mistakes_are_told_with_their_line() {
    let head = "at,operator,direction,change,value\n";
    for (line, parts) in [
        ("1 s,A,up,rate", ["line 3", "five fields"]),
        ("1 s,,up,rate,1 Mbit/s", ["line 3", "no operator"]),
        ("1 s,A,sideways,rate,1 Mbit/s", ["line 3", "up, down or both"]),
        ("1 s,A,up,rat,1 Mbit/s", ["line 3", "unknown change"]),
        ("1 s,A,up,rate,1", ["line 3", "no unit"]),
        ("1 s,A,up,loss,150 %", ["line 3", "between 0 and 1"]),
        ("1 s,A,up,service,down", ["line 3", "up, held or lost"]),
        ("soon,A,up,rate,1 Mbit/s", ["line 3", "10 ms"]),
        ("0 ms,A,up,delay,1 ms", ["line 3", "sort"]),
        ("1 ms,A,up,delay,1 ms", ["line 3", "twice"]),
        ("1 s,A,both,handover,x3", ["line 3", "x2 nor failure"]),
        ("1 s,A,both,handover,x2 from=a; to=b", ["line 3", "no report="]),
        (
            "1 s,A,both,handover,x2 from=a; to=b; report=2 s; end=3 s; disturbed=1 s; \
             undisturbed=2 s; chainage_m=0; disturbed_m=0; undisturbed_m=0",
            ["line 3", "not in order"],
        ),
        (
            "1 s,A,both,handover,x2 from=a; to=b; report=1 s; end=3 s; disturbed=1 s; \
             undisturbed=2 s; chainage_m=NaN; disturbed_m=0; undisturbed_m=0",
            ["line 3", "chainage_m=NaN"],
        ),
    ] {
        let text = format!("{head}1 ms,A,up,delay,5 ms\n{line}\n");
        let error = timelines_from_text(&text).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    for (text, part) in
        [("", "line 1: \"\" is not the heading"), ("0 s,A,up,rate,1 Mbit/s\n", "heading")]
    {
        assert!(timelines_from_text(text).unwrap_err().to_string().contains(part));
    }
}
