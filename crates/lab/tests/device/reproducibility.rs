//! The same plan gives the same results, and a device that takes no time changes nothing.

use std::num::NonZeroUsize;

use trackbed_core::Event;
use trackbed_core::event::Record;
use trackbed_lab::backend::{Backend as _, Virtual};
use trackbed_lab::campaign::{self, Execution};
use trackbed_measure::results::{Document, RunResult};
use trackbed_scenario::Plan;
use trackbed_substrate::Cancel;

use crate::{costs, durations, events, plan, telemetry};

const PROTOCOLS: [&str; 7] = ["http1", "http2", "http3", "quic", "mqtt", "coap+dtls", "sctp+dtls"];

/// Every event at the same nanosecond.
#[test]
fn a_device_that_takes_no_time_changes_nothing() {
    for protocol in PROTOCOLS {
        let workload = "rate = \"20 /s\"\nsize = \"2 kB\"";
        let lossy = |lines: &str| {
            let text = telemetry(protocol, lines, workload);
            text.replace("[link]\n", "[link]\nrate = \"2 Mbit/s\"\nloss = \"3 %\"\n")
        };
        let bare = events(&lossy("").replace("[inference]\n", ""));
        let modelled = events(&lossy(&format!("kind = \"none\"\n{}", costs("0 s", "0 s", "0 s"))));
        let (readings, rest): (Vec<Record>, Vec<Record>) =
            modelled.into_iter().partition(|record| matches!(record.event, Event::Load(_)));
        assert!(readings.len() >= 7, "{protocol}");
        assert_eq!(rest, bare, "{protocol}");
        // Frames in parallel occupy cores, but do not delay work that takes no time.
        let file = durations("aside.txt", 4, &[(1_000_000, 30_000_000)]);
        let inference = format!(
            "kind = \"detector\"\ncores = 1\ndurations = {file:?}\n{}",
            costs("0 s", "0 s", "0 s")
        );
        let is_own =
            |record: &Record| !matches!(record.event, Event::Load(_) | Event::Inferred { .. });
        let beside = events(&lossy(&inference));
        assert!(beside.iter().any(|record| matches!(record.event, Event::Inferred { .. })));
        let rest: Vec<Record> = beside.into_iter().filter(is_own).collect();
        assert_eq!(rest, bare, "{protocol}");
    }
}

#[test]
fn results_do_not_depend_on_how_many_run_at_once() {
    let text =
        telemetry("http2", "kind = [\"none\", \"detector\"]\ncores = [1, 2]", "rate = \"50 /s\"")
            .replace("\"http2\"", "[\"http2\", \"http3\", \"mqtt\", \"coap+dtls\"]");
    let plan = plan(&format!("runs = 2\n{text}"));
    let results = |jobs: usize| {
        let execution = Execution { jobs: NonZeroUsize::new(jobs), cancel: Cancel::default() };
        campaign::run_all(&plan, &Virtual::default(), &execution)
    };
    let alone = results(1);
    assert_eq!(alone.len(), 32);
    assert!(alone.iter().all(|run| run.outcome.samples().is_some()), "{alone:?}");
    assert_eq!(alone, results(5));
    // Each run starts at a different place in the measurement.
    assert_ne!(alone[2].outcome, alone[3].outcome);
}

fn document_of_nothing(plan: &Plan) -> Document {
    trackbed_analysis::document(
        plan,
        &campaign::origin(&Virtual::default(), plan),
        &Vec::<RunResult>::new(),
        false,
    )
    .unwrap()
}

/// The document states that its results come from a model.
#[test]
fn the_document_says_that_it_is_a_model() {
    let with = plan(&telemetry("http2", "kind = \"detector\"\ncores = [1, 4]", ""));
    let words = document_of_nothing(&with).model.unwrap();
    assert!(words.contains("1 or 4 cores") && words.contains("measured on"), "{words}");
    let without = plan(&telemetry("http2", "", "").replace("[inference]\n", ""));
    assert_eq!(Virtual::default().model(&without), None);
    assert_eq!(document_of_nothing(&without).model, None);
}
