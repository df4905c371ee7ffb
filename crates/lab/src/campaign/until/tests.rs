use std::collections::BTreeMap;

use trackbed_measure::results::{Outcome, RunResult};

use super::*;
use crate::testing::built_in;

#[test]
fn precisions_are_read_and_written() {
    for (text, written) in [
        ("completion_ms 2%", "mean completion_ms 2%"),
        ("median rtt_ms 0.5", "p50 rtt_ms 0.5"),
        ("p99 rtt_ms 10%", "p99 rtt_ms 10%"),
        ("p99.9 rtt_ms 0.0001%", "p99.9 rtt_ms 0.0001%"),
        ("p95 rtt 0.5", "p95 rtt_ms 0.5"),
        ("p99 rtt < 30 ms decided", "p99 rtt < 30 ms decided"),
        (
            "rtt < 1 s and (fps > 9 or lost=0)  decided",
            "mean rtt < 1000 ms and (mean fps > 9 or mean lost = 0) decided",
        ),
    ] {
        assert_eq!(text.parse::<Until>().unwrap().to_string(), written);
    }
    let malformed = "|completion_ms|completion_ms 0%|p0 rtt_ms 1%|p100 rtt_ms 1%|completion_ms -1%|completion_ms x|completion_ms 1e300|\
                     completion_ms 1e-323%|p1e-323 rtt_ms 1%|p99.999999999999999999 rtt_ms 1%|best rtt_ms 1%|a b c d";
    for text in malformed.split('|') {
        assert!(text.parse::<Until>().unwrap_err().contains("for example"), "{text}");
    }
    assert!("rtts 2%".parse::<Until>().unwrap_err().contains("did you mean rtt_ms?"));
    for (need, message) in [
        ("p99 rtt < 30 ms", "write for example"),
        ("p99 rtt < 30 decided", "needs a unit"),
        ("max rtt < 30 ms decided", "about a minimum"),
        ("rtt < 30 ms and rtt < baseline decided", "a baseline is for"),
    ] {
        assert!(need.parse::<Until>().unwrap_err().contains(message), "{need}");
    }
}

/// All runs of cell 0 are below the bound, and of cell 1 above. Cell 2 does not measure it. A 99th percentile is below the
/// largest of n values for certain when 0.99^n is at most the error of the look: 0.24 % after 345 runs (look 6), which
/// takes 603; 0.19 % after 518, which takes 625; 0.15 % after 777, which takes 647.
#[test]
fn a_need_is_decided_at_the_look_that_theory_names() {
    let plan = built_in("vru", &["protocol=quic,tcp,http1", "tls=1.3", "handshake=new"]);
    let until = "p99 rtt < 30 ms decided".parse::<Until>().unwrap();
    let run = |limit: u32, failed: Option<u32>| {
        let mut rounds = Rounds::new(&plan, until.clone(), 30, limit).unwrap();
        let result = |cell: u32, run: u32| {
            let name = if cell == 2 { "completion_ms" } else { "rtt_ms" };
            let values = vec![f64::from(20 + 20 * cell) + f64::from(run) / 100.0];
            let outcome = match (cell, Some(run) == failed) {
                (0, true) => Outcome::Failed("lost".to_owned()),
                _ => Outcome::Samples(BTreeMap::from([(name.to_owned(), values)])),
            };
            RunResult { cell, run, outcome, certificate: None, answered: None }
        };
        let all = (0..3).flat_map(|cell| (0..limit).map(move |run| result(cell, run)));
        let all = all.collect::<Vec<_>>();
        while rounds.look(&all).unwrap() {}
        (rounds.outlook().unwrap(), rounds.summary())
    };
    let (outlook, summary) = run(900, None);
    assert!(outlook.ends_with("decided in 2 of 3; the others will probably need 777 runs"));
    assert!(summary.starts_with("30 to 777 runs per cell: p99 rtt < 30 ms met by 1 of 3"));
    let (outlook, summary) = run(518, None);
    assert!(outlook.ends_with("need more than 518 runs"), "{outlook}");
    assert!(summary.ends_with("met by 0 of 3, not met by 1; undecided: cell 0, 2"), "{summary}");
    // The runs that did not fail are a selection.
    assert!(run(900, Some(29)).1.ends_with("met by 0 of 3, not met by 1; undecided: cell 0, 2"));
}

/// Cell 0 is constant, cell 1 varies, cell 2 lacks the metric.
#[test]
fn each_cell_gets_the_runs_that_it_needs() {
    let plan = built_in("vru", &["protocol=quic,tcp,http1", "tls=1.3", "handshake=new"]);
    assert_eq!(plan.cells.len(), 3);
    let result = |cell: u32, run: u32| {
        let value = if cell == 1 { 100.0 + f64::from(run % 2) } else { 7.0 };
        let name = if cell == 2 { "rtt_ms" } else { "completion_ms" };
        let outcome = Outcome::Samples(BTreeMap::from([(name.to_owned(), vec![value])]));
        RunResult { cell, run, outcome, certificate: None, answered: None }
    };
    let until = "completion_ms 0.1".parse::<Until>().unwrap();
    let mut rounds = Rounds::new(&plan, until.clone(), 30, 1_000).unwrap();
    let mut looks = 0;
    loop {
        let wanted = (0..3).flat_map(|cell| (0..1_000).map(move |run| (cell, run)));
        let wanted = wanted.filter(|(cell, run)| rounds.wants(*cell, *run));
        let results: Vec<RunResult> = wanted.map(|(cell, run)| result(cell, run)).collect();
        assert_eq!(results.len() as u64, rounds.len());
        looks += 1;
        if !rounds.look(&results).unwrap() {
            break;
        }
    }
    // Half the width, 1.96 times 0.5 over the root of n, is below 0.1 from 97 runs on.
    assert!((97..=130).contains(&rounds.most_runs()), "{}", rounds.most_runs());
    assert!((4..12).contains(&looks), "{looks}");
    assert_eq!((rounds.cells[0].runs, rounds.short_of()), (30, vec![2]));
    assert!(rounds.summary().ends_with("reached by 2 of 3; not reached by cell 2"));

    let mut short = Rounds::new(&plan, until, 30, 40).unwrap();
    let all = |runs: u32| (0..runs).flat_map(|run| (0..3).map(move |cell| result(cell, run)));
    while short.look(&all(40).collect::<Vec<_>>()).unwrap() {}
    assert_eq!(short.short_of(), [1, 2]);
    let begun = |least, most| Rounds::new(&plan, "rtt_ms 1%".parse().unwrap(), least, most);
    assert!(begun(3, 40).is_err());
    assert!(begun(30, 3_333_333).is_ok());
    assert!(begun(30, 3_333_334).unwrap_err().contains("at most 10000000 runs fit one plan"));
}
