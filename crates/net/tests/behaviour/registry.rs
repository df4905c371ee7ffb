use std::collections::BTreeSet;

use trackbed_core::parameter::{Kind, Otherwise, Value};
use trackbed_net::spec::ModelEntry;
use trackbed_net::{MODELS, QUEUES, SELECTOR};

use crate::harness::*;

pub type Given<'a> = Vec<(&'a str, Value)>;

/// The values of parameters of `entry`; `None` if one of them cannot be read.
pub fn given<'a>(entry: &ModelEntry, pairs: &[(&'a str, &str)]) -> Option<Given<'a>> {
    let value = |text: &str, kind| match kind {
        Some(Kind::File) => Some(Value::Contents(text.into())),
        Some(kind) => kind.parse(text).ok(),
        None => Some(Value::Text(text.to_owned())),
    };
    let kind = |name: &str| entry.parameter(name).map(|parameter| parameter.kind);
    pairs.iter().map(|(name, text)| Some((*name, value(text, kind(name))?))).collect()
}

fn refusal(model: &str, pairs: &[(&str, &str)]) -> String {
    let entry = ModelEntry::find(model).unwrap();
    entry.model(&given(entry, pairs).unwrap()).unwrap_err().to_string()
}

#[test]
fn every_entry_is_complete_and_its_example_works() {
    let names: BTreeSet<&str> = MODELS.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), MODELS.len());
    for entry in MODELS {
        assert!(!entry.summary.is_empty(), "{}", entry.name);
        let spec = LinkSpec::new().then(entry.example_model());
        assert!(!run(&spec, every(ms(1), 200)).is_empty(), "{}", entry.name);
        for parameter in entry.parameters {
            let shown = entry.example.iter().any(|(name, _)| *name == parameter.name);
            let needed = parameter.otherwise == Otherwise::Required;
            assert!(shown || !needed, "{}: {}", entry.name, parameter.name);
            assert!(!parameter.help.is_empty());
        }
    }
}

#[test]
fn every_queue_can_be_chosen_and_its_parameters_are_distinct() {
    for queue in QUEUES {
        let entry = ModelEntry::find("rate").unwrap();
        let given = given(entry, &[("rate", "12 Mbit/s"), ("queue", queue.name)]).unwrap();
        let events = run(&LinkSpec::new().then(entry.model(&given).unwrap()), burst(3));
        assert_eq!(times(&events, Point::Delivered), [1, 2, 3].map(Time::from_millis));
        let names: BTreeSet<&str> = queue.parameters.iter().map(|p| p.name).collect();
        assert_eq!(names.len(), queue.parameters.len());
        assert!(names.iter().all(|name| *name != "queue" && *name != "rate"));
    }
}

#[test]
fn refusals_name_the_model_and_the_remedy() {
    for row in include_str!("refusals.txt").lines() {
        let fields: Vec<String> = row.split(" | ").map(|it| it.replace("\\n", "\n")).collect();
        let [model, pairs, parts @ ..] = &fields[..] else { panic!("{row}") };
        let pairs: Vec<(&str, &str)> =
            pairs.split("; ").filter_map(|pair| pair.split_once('=')).collect();
        let error = refusal(model, &pairs);
        assert!(parts.iter().all(|part| error.contains(part.as_str())), "{row}: {error}");
    }
    let error = ModelEntry::find("wormhole").unwrap_err().to_string();
    assert!(error.contains("gilbert-elliott"), "{error}");
}

#[test]
fn values_of_another_kind_are_refused() {
    let path = || Value::File("trace.txt".into());
    for (model, name, value, message) in [
        ("rate", "rate", Value::Flag(true), "\"true\" is not a valid value; write a rate such as"),
        (
            "rate",
            "queue",
            Value::Choice("red"),
            "\"red\" is not a valid value; write one of drop-tail, codel",
        ),
        (
            "loss",
            "loss",
            Value::Number(0.003),
            "\"0.003\" is not a valid value; write a share such as",
        ),
        ("loss-list", "packets", Value::Counts(vec![]), "write whole numbers such as [3, 17]"),
        (
            "delay-pareto",
            "shape",
            Value::Number(-1.0),
            "\"-1\" is not a valid value; write a positive number",
        ),
        ("delay-trace", "trace", path(), "trace.txt has not been read; give its contents"),
        ("delay", "delay", path(), "\"trace.txt\" is not a valid value; write a time such as"),
    ] {
        let entry = ModelEntry::find(model).unwrap();
        let error = entry.model(&[(name, value)]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{model}: {name}: ")), "{error}");
        assert!(error.contains(message), "{error}");
    }
}

/// Whatever stands in a scenario, as long as it can be read: it gives a model that works or an
/// error that names the model; it never panics.
#[test]
fn nonsense_is_refused_and_extremes_are_survived() {
    let values = "| |:|,|::|0|1|-1|1e999|nan|inf|true|0 s|1 ns|0 %|100 %|0 s: 0 s|1 s: 0 s|\u{0}|0\n1|\
                  18446744073709551615|18446744073709551615 ns|18446744073709551615 B|\
                  18446744073709551615 bit/s|0 s: 18446744073709551615 ns|codel|drop-tail|µ|\
                  0 18446744073709.551615|18446744073709551615\n|time,Mbit/s\n1e300,1|t,s\n0,1e99";
    let mut accepted = 0;
    for entry in MODELS {
        let queue = QUEUES.iter().flat_map(|queue| queue.parameters).chain([&SELECTOR]);
        for parameter in entry.parameters.iter().chain(queue.filter(|_| entry.has_queue)) {
            for value in values.split('|') {
                let others = entry.example.iter().filter(|(name, _)| *name != parameter.name);
                let given: Vec<_> = others.copied().chain([(parameter.name, value)]).collect();
                let Some(given) = self::given(entry, &given) else { continue };
                match entry.model(&given) {
                    Err(error) => assert!(error.to_string().starts_with(entry.name), "{error}"),
                    Ok(model) => {
                        accepted += 1;
                        let mut driver = Driver::new(
                            LinkSpec::new().then(model).build(&Seed::of_run(1, 0)),
                            Vec::new(),
                        );
                        every(ms(1), 20).for_each(|(at, packet)| driver.push(at, packet));
                    }
                }
            }
        }
    }
    assert!(accepted > 50, "{accepted}");
}

#[test]
fn only_delays_that_are_the_same_at_once_take_super_packets() {
    let takes = |entry: &&&ModelEntry| {
        LinkSpec::new().then(entry.example_model()).build(&Seed::of_run(1, 0)).takes_super_packets()
    };
    let names: Vec<&str> = MODELS.iter().filter(takes).map(|entry| entry.name).collect();
    assert_eq!(names, ["delay", "delay-timetable", "delay-trace"]);
    let loss = ModelEntry::find("loss").unwrap().example_model();
    let delay = ModelEntry::find("delay").unwrap().example_model();
    let around = LinkSpec::new().then(loss.clone()).then(delay.clone());
    let inside = LinkSpec::new().then(delay).then(loss);
    for spec in [around, inside] {
        assert!(!spec.build(&Seed::of_run(1, 0)).takes_super_packets());
    }
    assert!(LinkSpec::new().build(&Seed::of_run(1, 0)).takes_super_packets());
}
