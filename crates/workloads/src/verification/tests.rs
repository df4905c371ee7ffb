//! The modelled unit compared with arithmetic, and with receivers that read signed messages.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::environment::Course;
use crate::signatures::judgement;
use trackbed_core::event::{Judgement, Record, Verification as Step};
use trackbed_core::parameter::Value;
use trackbed_core::{Arguments, Ratio, Seed};
use trackbed_net::NetworkBuilder;
use trackbed_substrate::simulated::Simulation;
use trackbed_v2x::job::PortableVerifier;
use trackbed_v2x::traffic::Origin;

use super::*;
use crate::contract::{Patience, WorkloadError};

fn plan(given: &[(&str, Value)]) -> Result<Plan, WorkloadError> {
    let arguments = Arguments::read(parameters::PARAMETERS, given).expect("of their kinds");
    Plan::new(&arguments, std::path::Path::new(""))
}

fn run(given: &[(&str, Value)]) -> Vec<Record> {
    let unit = Arc::new(plan(given).expect("it makes sense"));
    let seed = Seed::of_run(1, 0);
    let network = NetworkBuilder::default().build().expect("nothing is needed");
    let simulation = Simulation::default();
    simulation
        .run(seed, network, |_| async move {
            let log = EventLog::default();
            unit.drive(stage(seed, log.clone())).await;
            log.take()
        })
        .expect("it comes to its end")
}

fn stage(seed: Seed, log: EventLog) -> Stage {
    Stage {
        first: 0,
        phones: Vec::new(),
        capabilities: trackbed_protocols::NONE.capabilities(),
        hosts: Vec::new(),
        server: SocketAddr::from(([127, 0, 0, 1], 1)),
        handshake: trackbed_connection::Handshake::New,
        patience: Patience::VIRTUAL,
        course: Course::default(),
        seed,
        log,
    }
}

fn one(records: &[Record], metric: &str) -> f64 {
    let metric = trackbed_measure::metrics::find(metric).expect("there is one");
    let samples = (metric.compute)(records);
    assert_eq!(samples.len(), 1, "{}", metric.name);
    samples[0]
}

fn choice(name: &'static str) -> Value {
    Value::Choice(name)
}

#[test]
fn a_unit_that_is_fast_enough_is_late_with_nothing() {
    // 3,200 messages and 320 certificates a second, of 82 us each, are 0.29 of a core.
    let records = run(&[
        ("board", choice("trackbed-xeon-openssl")),
        ("workers", Value::Count(1)),
        ("certificates", choice("always")),
        ("duration", Value::Time(Duration::from_secs(3))),
    ]);
    let heard = one(&records, "heard_count");
    assert!((6_380.0..6_420.0).contains(&heard), "{heard}");
    assert_eq!(one(&records, "accepted_count"), heard);
    assert_eq!(one(&records, "late_verdict_ratio"), 0.0);
    assert_eq!(one(&records, "wrong_verdict_count"), 0.0);
    let rate = one(&records, "signature_rate_hz");
    assert!((3_500.0..3_650.0).contains(&rate), "{rate}");
    // In percent of the board's two cores.
    let share = one(&records, "verification_cpu_percent");
    let expected = (rate * 82e-4 + heard / 2.0 * 2.6e-4) / 2.0;
    assert!((share - expected).abs() < 0.5, "{share} and not {expected}");
}

#[test]
fn a_unit_that_is_too_slow_falls_behind_and_says_so() {
    // The paper's four Cortex-A9: 2,479/s, of 3,520.
    let given = |late| {
        [
            ("board", choice("etri-udoo-quad")),
            ("certificates", choice("always")),
            ("duration", Value::Time(Duration::from_secs(4))),
            ("late", choice(late)),
        ]
    };
    let behind = run(&given("verify"));
    assert!(one(&behind, "late_verdict_ratio") > 0.95);
    assert!(one(&behind, "verification_cpu_percent") > 99.0);
    assert_eq!(one(&behind, "dropped_count"), 0.0);
    // Dropping late messages leaves 2,479 of 3,520 signatures a second. Senders whose certificate was
    // dropped are unknown until it comes again. Most of the others begin just before their deadline.
    let dropping = run(&given("drop"));
    let without_verdict = one(&dropping, "unknown_signer_count") + one(&dropping, "dropped_count");
    let without_verdict = without_verdict / one(&dropping, "heard_count");
    assert!((0.28..0.40).contains(&without_verdict), "{without_verdict}");
    // With less to verify, its cores are sometimes idle.
    let rate = one(&dropping, "signature_rate_hz");
    assert!((1_800.0..2_480.0).contains(&rate), "{rate}");
    assert!(one(&dropping, "waiting_max_count") < one(&behind, "waiting_max_count") / 10.0);
}

#[test]
fn a_closed_loop_takes_as_long_as_its_cores() {
    let rate = |split| {
        let records = run(&[
            ("load", choice("closed")),
            ("board", choice("etri-odroid-xu4")),
            ("split", choice(split)),
        ]);
        one(&records, "signature_rate_hz")
    };
    let (fixed, dynamic) = (rate("static"), rate("dynamic"));
    assert!((5_760.0..5_776.0).contains(&fixed), "{fixed}");
    assert!((9_160.0..9_185.0).contains(&dynamic), "{dynamic}");
}

fn hostile() -> Vec<(&'static str, Value)> {
    vec![
        ("roads", Value::Count(1)),
        ("lanes", Value::Count(2)),
        ("forged", Value::Share(Ratio::from_parts(20, 100))),
        ("flood", Value::Period(Duration::from_millis(5))),
        ("pseudonyms", Value::Time(Duration::from_millis(700))),
        ("duration", Value::Time(Duration::from_secs(2))),
        ("warm-up", Value::Time(Duration::ZERO)),
    ]
}

/// The decisions about each vehicle's messages, by arrival; and the number for floods.
type Decisions = (BTreeMap<u64, Judgement>, BTreeMap<Judgement, u64>);

fn decisions(records: &[Record]) -> Decisions {
    let (mut each, mut flood) = Decisions::default();
    for record in records {
        match &record.event {
            Event::Verification(Step::Judged(all)) => all.iter().for_each(|it| {
                let twice = each.insert(it.heard.as_nanos(), it.judgement);
                assert_eq!(twice, None, "two messages at once: take another seed");
            }),
            Event::Verification(Step::Repelled { messages, judgement }) => {
                *flood.entry(*judgement).or_default() += messages;
            }
            _ => {}
        }
    }
    (each, flood)
}

#[test]
fn the_model_decides_as_a_receiver_does_that_reads_the_messages() {
    for certificates in ["cached", "always"] {
        let given = [hostile(), vec![("certificates", choice(certificates))]].concat();
        let modelled = decisions(&run(&given));
        let plan = plan(&given).expect("it makes sense");
        let seed = Seed::of_run(1, 0);
        let until = plan.duration.as_nanos() as u64;
        let (script, mut receiver) =
            measured::script::write(&plan, &seed, |_, at| at < until).expect("it fits");
        let (mut each, mut flood) = Decisions::default();
        for line in &script.lines {
            let time = script.time_of_day(line.at);
            let accepted = receiver.accept(script.text(line), time, &mut PortableVerifier);
            let judgement = match accepted {
                Ok(_) => Judgement::Accepted,
                Err(refusal) => judgement(&refusal),
            };
            match line.origin {
                Origin::Flood => *flood.entry(judgement).or_default() += 1,
                _ => assert_eq!(each.insert(line.at, judgement), None),
            }
        }
        assert_eq!(modelled, (each.clone(), flood));
        let count = |judgement| each.values().filter(|one| **one == judgement).count();
        assert!(count(Judgement::BadSignature) > 40 && count(Judgement::Accepted) > 200);
    }
}

#[test]
fn a_run_that_hears_nothing_has_failed() {
    let records = run(&[
        ("roads", Value::Count(1)),
        ("lanes", Value::Count(1)),
        ("spacing", Value::Count(300)),
        ("rate", Value::Period(Duration::from_secs(100))),
    ]);
    let reason = trackbed_measure::metrics::outcome(&records).expect_err("nothing came");
    assert!(reason.contains("no message arrived"), "{reason}");
}

/// A vehicle that stands sends one message a second; the unit has its certificate from the first one on.
#[test]
fn vehicles_of_a_file_are_heard_where_the_unit_is() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let row = "<vehicle id=\"a\" x=\"500\" y=\"0\" angle=\"0\" speed=\"0\"/>";
    let steps =
        (0..=20).map(|second| format!("<timestep time=\"{second}\">\n{row}\n</timestep>\n"));
    let text = format!("<fcd-export>\n{}</fcd-export>\n", steps.collect::<String>());
    std::fs::write(file.path(), text).expect("it can be written");
    let at = |x| {
        [
            ("traffic", Value::File(file.path().to_owned())),
            ("centre", Value::Counts(vec![x, 0])),
            ("triggered", Value::Flag(true)),
            ("duration", Value::Time(Duration::from_secs(11))),
        ]
    };
    assert_eq!(one(&run(&at(700)), "accepted_count"), 10.0);
    let unheard = run(&at(900));
    assert!(unheard.iter().any(|record| matches!(record.event, Event::Failed { .. })));
    assert!(plan(&at(700)[1..]).is_err_and(|why| why.parameter == "centre"));
}
