//! Timelines: their rules, what they depend on, and their text.

use trackbed_core::parameter::{Arguments, Kind, Value};
use trackbed_workloads::WorkloadError;
use trackbed_workloads::environment::{Environment, PARAMETERS, Timeline};

use crate::support::*;

fn environment(settings: &[(&'static str, &str)]) -> Result<Environment, WorkloadError> {
    let value = |(name, text): &(&'static str, &str)| {
        let kind = PARAMETERS.iter().find(|parameter| parameter.name == *name).unwrap().kind;
        let value = match kind {
            Kind::File => Value::Contents((*text).into()),
            kind => kind.parse(text).unwrap(),
        };
        (*name, value)
    };
    let given: Vec<_> = settings.iter().map(value).collect();
    Environment::read(&Arguments::read(PARAMETERS, &given).unwrap())
}

fn lively() -> Environment {
    environment(&[("delay", "100 ms"), ("reconnections", "4"), ("seek", "30 %")]).unwrap()
}

#[test]
fn a_timeline_is_a_matter_of_the_seed_alone() {
    let (seed, other) = (Seed::of_run(1, 0), Seed::of_run(1, 1));
    assert_eq!(lively().timeline(&seed), lively().timeline(&seed));
    assert_ne!(lively().timeline(&seed), lively().timeline(&other));
}

#[test]
fn one_changer_does_not_disturb_the_other() {
    let seed = Seed::of_run(1, 0);
    let all = lively().timeline(&seed);
    let seeks = |timeline: &Timeline| -> Vec<Moment> {
        let is_seek = |moment: &&Moment| matches!(moment.change, Change::Seek(_));
        timeline.moments().iter().filter(is_seek).copied().collect()
    };
    assert_eq!(seeks(&all), environment(&[("seek", "30 %")]).unwrap().timeline(&seed).moments());
    let delays = environment(&[("delay", "100 ms")]).unwrap().timeline(&seed);
    assert!(all.delays().eq(delays.delays()) && delays.moments().len() == 60);
}

#[test]
fn a_timeline_survives_its_text() {
    for run in 0..20 {
        let timeline = lively().timeline(&Seed::of_run(1, run));
        let text = timeline.to_string();
        assert_eq!(text.parse(), Ok((*timeline).clone()));
        let given = environment(&[("timeline", &text)]).unwrap();
        assert_eq!(given.timeline(&Seed::of_run(9, 9)), timeline);
    }
}

#[test]
fn a_table_may_have_comments_and_spaces() {
    let text = "# a drive\n\n at,change,value\n0 s, delay, 98.5 ms\n# a jump\n7 s,seek,37.5 %\n\
                7 s,reconnect,\n";
    let timeline: Timeline = text.parse().unwrap();
    let moment = |at, change| Moment { at: Duration::from_secs(at), change };
    assert_eq!(
        timeline.moments(),
        [
            moment(0, Change::Delay(Duration::from_micros(98_500))),
            moment(7, Change::Reconnect),
            moment(7, Change::Seek(Ratio::from_parts(375, 1000))),
        ]
    );
}

#[test]
fn a_bad_table_is_refused_with_its_line_and_a_remedy() {
    let refused = |text: &str, message: &str| {
        assert_eq!(text.parse::<Timeline>(), Err(message.to_owned()), "{text}");
        let why = environment(&[("timeline", text)]).unwrap_err();
        assert_eq!((why.parameter, why.advice.as_str()), ("timeline", message));
    };
    refused("", "line 1: \"\" is not the heading; write at,change,value and lines below it");
    let message =
        "line 1: \"0 s,delay,1 ms\" is not the heading; write at,change,value and lines below it";
    refused("0 s,delay,1 ms", message);
    for row in include_str!("../data/bad-timelines.txt").lines() {
        let (lines, message) = row.split_once(" | ").unwrap();
        refused(&format!("at,change,value\n{}", lines.replace("\\n", "\n")), message);
    }
}

#[test]
fn values_that_do_not_go_together_are_refused_with_advice() {
    for (settings, parameter, advice) in [
        (&[("deviation", "5 ms")][..], "deviation", "delay = \"100 ms\""),
        (&[("period", "1 us")], "period", "at least \"1 ms\""),
        (&[("duration", "0 ms")], "duration", "\"1 ms\" to"),
        (&[("duration", "25 h")], "duration", "to \"24 h\""),
        (&[("duration", "24 h"), ("period", "1 ms")], "period", "the maximum is 1000000"),
        (&[("reconnections", "60")], "reconnections", "there are 59"),
    ] {
        let why = environment(settings).unwrap_err();
        assert_eq!(why.parameter, parameter);
        assert!(why.advice.contains(advice), "{why}");
    }
    assert!(environment(&[("reconnections", "59")]).is_ok());
}

#[test]
fn an_environment_without_words_is_still() {
    assert!(environment(&[]).unwrap().is_still() && Environment::default().is_still());
    assert!(!environment(&[("delay", "5 ms")]).unwrap().is_still());
    assert!(environment(&[("delay", "5 ms")]).unwrap().has_delay());
    assert!(!environment(&[("seek", "5 %")]).unwrap().has_delay());
}

#[test]
fn a_course_begins_when_the_measured_part_does() {
    let text = "at,change,value\n0 s,delay,10 ms\n2 s,delay,20 ms\n3 s,reconnect,";
    let course = Course::new(Time::from_millis(500), Arc::new(text.parse().unwrap()));
    let ms = Duration::from_millis;
    let delays: Vec<_> = course.delays().collect();
    assert_eq!(delays, [(Time::ZERO, ms(10)), (Time::from_millis(2_500), ms(20))]);
    assert_eq!(course.changes().last(), Some((Time::from_millis(3_500), Change::Reconnect)));
    assert_eq!(Course::default().changes().count(), 0);
}
