//! Timelines as files.

use std::time::Duration;

use trackbed_core::{Bitrate, Ratio, Seed, Time};
use trackbed_railway::motion::Direction;
use trackbed_railway::radio::{
    LinkDirection, RadioTimeline, Service, signal_to_text, timelines_from_text, timelines_to_text,
};

use super::railway;
use crate::{assert_told, rows};

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
    for row in rows(include_str!("mistakes.txt")) {
        let text = format!("{head}1 ms,A,up,delay,5 ms\n{}\n", row[0]);
        assert_told(timelines_from_text(&text).unwrap_err(), &row[1..]);
    }
    for (text, part) in
        [("", "line 1: \"\" is not the heading"), ("0 s,A,up,rate,1 Mbit/s\n", "heading")]
    {
        assert!(timelines_from_text(text).unwrap_err().to_string().contains(part));
    }
}
