use std::collections::BTreeSet;

use trackbed_core::{Seed, Time};
use trackbed_net::Point;
use trackbed_net::queue::{QUEUES, SELECTOR};
use trackbed_net::spec::{Kind, LinkSpec, MODELS, ModelEntry, Otherwise, Value};

use crate::harness::{Driver, burst, every, ms, run, times};

fn text(pairs: &[(&str, &str)]) -> Vec<(String, Value)> {
    pairs.iter().map(|(name, value)| (name.to_string(), Value::Text(value.to_string()))).collect()
}

fn refusal(model: &str, given: &[(String, Value)]) -> String {
    ModelEntry::find(model).unwrap().model(given).unwrap_err().to_string()
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
            assert!(!parameter.summary.is_empty());
        }
    }
}

#[test]
fn every_queue_can_be_chosen_and_its_parameters_are_distinct() {
    for queue in QUEUES {
        let given = text(&[("rate", "12 Mbit/s"), ("queue", queue.name)]);
        let model = ModelEntry::find("rate").unwrap().model(&given).unwrap();
        let events = run(&LinkSpec::new().then(model), burst(3));
        assert_eq!(times(&events, Point::Delivered), [1, 2, 3].map(Time::from_millis));
        let names: BTreeSet<&str> = queue.parameters.iter().map(|p| p.name).collect();
        assert_eq!(names.len(), queue.parameters.len());
        assert!(names.iter().all(|name| *name != "queue" && *name != "rate"));
    }
}

#[test]
fn refusals_name_the_model_and_the_remedy() {
    let rate = |pairs: &[(&str, &str)]| refusal("rate", &text(pairs));
    for (error, parts) in [
        (rate(&[]), ["rate: ", "write a rate such as \"50 Mbit/s\""]),
        (rate(&[("rate", "fast")]), ["rate: rate: ", "50 Mbit/s"]),
        (rate(&[("rate", "0 bit/s")]), ["nothing passes", "above"]),
        (rate(&[("rate", "1 Mbit/s"), ("lanes", "2")]), ["\"lanes\"", "queue_packets"]),
        (rate(&[("rate", "1 Mbit/s"), ("rate", "1 Mbit/s")]), ["twice", "keep one"]),
        (rate(&[("rate", "1 Mbit/s"), ("queue", "red")]), ["red", "drop-tail, codel"]),
        (rate(&[("rate", "1 Mbit/s"), ("codel_target", "1 ms")]), ["codel_target", "queue_bytes"]),
        (
            refusal("delay-uniform", &text(&[("least", "2 ms"), ("most", "1 ms")])),
            ["least", "swap"],
        ),
        (refusal("loss", &text(&[("loss", "150 %")])), ["loss: ", "between 0 and 1"]),
        (refusal("loss-periodic", &text(&[("every", "0")])), ["every", "1 or more"]),
        (refusal("loss-list", &text(&[("packets", "3, 0")])), ["packets", "counted from 1"]),
        (refusal("outage", &text(&[("outage", "3 s: 2 s")])), ["outage: ", "no time"]),
        (refusal("rate-trace", &text(&[("trace", "1\n0\n")])), ["rate-trace: line 2", "order"]),
        (
            refusal("delay-pareto", &text(&[("least", "1 ms"), ("shape", "-1")])),
            ["shape", "positive"],
        ),
    ] {
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    let error = ModelEntry::find("wormhole").unwrap_err().to_string();
    assert!(error.contains("gilbert-elliott"), "{error}");
}

#[test]
fn values_may_be_typed_or_text() {
    let pair = |a: &str, b: &str| Value::List(vec![Value::Text(a.into()), Value::Text(b.into())]);
    let typed = [("outage".into(), Value::List(vec![pair("1 s", "2 s"), pair("3 s", "4 s")]))];
    let entry = ModelEntry::find("outage").unwrap();
    let as_text = entry.model(&text(&[("outage", "1 s: 2 s, 3 s: 4 s")])).unwrap();
    assert_eq!(format!("{:?}", entry.model(&typed).unwrap()), format!("{as_text:?}"));
    let loss = ModelEntry::find("loss").unwrap();
    let number = loss.model(&[("loss".into(), Value::Number(0.003))]).unwrap();
    let percent = loss.model(&text(&[("loss", "0.3 %")])).unwrap();
    assert_eq!(format!("{number:?}"), format!("{percent:?}"));
    for value in [Value::Flag(true), Value::List(vec![]), Value::Number(-0.1), Value::Number(1.5)] {
        let error = refusal("loss", &[("loss".into(), value)]);
        assert!(error.contains("0.3 %"), "{error}");
    }
    let listed = Value::List(vec![Value::Integer(1), Value::Text("x".into())]);
    let error = refusal("loss-list", &[("packets".into(), listed)]);
    assert!(error.contains("whole number such as 100"), "{error}");
}

/// Whatever stands in a scenario, reading it gives a model that works or an error that names the
/// model; it never panics.
#[test]
fn nonsense_is_refused_and_extremes_are_survived() {
    let values = [
        "",
        " ",
        ":",
        ",",
        "::",
        "0",
        "1",
        "-1",
        "1e999",
        "nan",
        "inf",
        "true",
        "0 s",
        "1 ns",
        "0 %",
        "100 %",
        "18446744073709551615",
        "18446744073709551615 ns",
        "18446744073709551615 B",
        "18446744073709551615 bit/s",
        "0 s: 18446744073709551615 ns",
        "0 s: 0 s",
        "1 s: 0 s",
        "\u{0}",
        "0 18446744073709.551615",
        "18446744073709551615\n",
        "0\n1",
        "codel",
        "drop-tail",
        "µ",
    ];
    let mut accepted = 0;
    for entry in MODELS {
        let queue = QUEUES.iter().flat_map(|queue| queue.parameters).chain([&SELECTOR]);
        for parameter in entry.parameters.iter().chain(queue.filter(|_| entry.has_queue)) {
            for value in values {
                let others = entry.example.iter().filter(|(name, _)| *name != parameter.name);
                let given: Vec<_> = others.copied().chain([(parameter.name, value)]).collect();
                match entry.model(&text(&given)) {
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
fn every_kind_says_what_to_write() {
    for entry in MODELS {
        for parameter in entry.parameters {
            let said = parameter.kind.to_string();
            assert!(!said.is_empty() && said != format!("{:?}", parameter.kind));
        }
    }
    assert_eq!(Kind::Choice(&["a", "b"]).to_string(), "one of a, b");
}
