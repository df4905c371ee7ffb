//! Run directories that tests of other projects write with `trackbed-test`.

use trackbed_test::{Results, Track};

use super::*;

/// Twelve runs of two cells. Those of `slow` take `slow_ms` and up to a millisecond more by their seed, those
/// of `fast` 10 ms; with `fails`, the last run of `slow` fails.
fn record(scratch: &Scratch, name: &str, slow_ms: f64, fails: bool) {
    let results = Results::new("pauses");
    for seed in 0..12 {
        for (kind, ms) in [("slow", slow_ms), ("fast", 10.0)] {
            let mut track = Track::new(seed);
            let record = track.recorder(&results, &[("kind", kind)]);
            let outcome = track.try_run(async move {
                record.record("rtt_ms", ms + seed as f64 / 12.0);
                assert!(!(fails && kind == "slow" && seed == 11), "no answer");
            });
            assert_eq!(outcome.is_err(), fails && kind == "slow" && seed == 11);
        }
    }
    results.write(scratch.path(name)).unwrap();
}

#[test]
fn every_command_reads_what_a_test_has_recorded() {
    let scratch = Scratch::new();
    record(&scratch, "before", 20.0, false);
    record(&scratch, "after", 25.0, false);
    record(&scratch, "failing", 20.0, true);
    let cells = scratch.succeed("export before --table cells").stdout;
    // The mean of twelve steps from 0 to 11/12 ms is 5.5/12 ms.
    let mean = |cell: &str| -> f64 {
        let line = cells.lines().find(|line| line.contains(&format!(",{cell},rtt_ms,"))).unwrap();
        line.split(',').nth(3).unwrap().parse().unwrap()
    };
    assert!((mean("slow") - 20.0 - 5.5 / 12.0).abs() < 1e-9, "{cells}");
    assert!((mean("fast") - 10.0 - 5.5 / 12.0).abs() < 1e-9, "{cells}");
    assert_eq!(scratch.succeed("export before").stdout.lines().count(), 1 + 24);
    let advice = "Best: fast. 1 of 2 cells meet the need.";
    scratch.trackbed("advise before --need rtt<15ms").prints(0, &[advice]);
    scratch.trackbed("compare before after --metric rtt_ms").prints(1, &["slow"]);
    assert_eq!(scratch.trackbed("compare before before --metric rtt_ms").status, 0);
    scratch.refuse("replay before 0 0", &["a test measured these runs"]);
    scratch.succeed("report failing --out failing.html");
    let page = scratch.read("failing.html");
    assert!(page.contains("pauses") && page.contains("no answer"));
}

#[test]
fn what_cannot_be_compared_is_not_written() {
    let scratch = Scratch::new();
    let results = Results::new("twice");
    for value in [1.0, 2.0] {
        Track::new(5).recorder(&results, &[]).record("rtt_ms", value);
    }
    let why = results.write(scratch.path("twice")).unwrap_err().to_string();
    assert!(why.contains("same factors and the seed 5"), "{why}");
    let results = Results::new("infinite");
    Track::new(5).recorder(&results, &[]).record("rtt_ms", f64::NAN);
    let why = results.write(scratch.path("infinite")).unwrap_err().to_string();
    assert!(why.contains("rtt_ms of the run with seed 5 is not finite"), "{why}");
}
