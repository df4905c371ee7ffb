//! `trackbed fit` and `trackbed paper --settings`: searches that are kept, continued and refused.

use std::fs;

use super::scenario;

const FIT: &str = "fit a.toml --set protocol=quic --set workload.count=4 --runs 4 --settings 12 \
                   --over link.delay=1ms..100ms --out out";

#[test]
fn a_delay_is_found_by_its_round_trip_and_kept() {
    let scratch = scenario();
    let asked = format!("{FIT} --to 'median rtt = 80 ms +- 5 %'");
    let first = scratch.succeed(&asked);
    assert!(first.stdout.contains("settings of "), "{}", first.stdout);
    let document = scratch.json("out/fit.json");
    for setting in document["settings"].as_array().unwrap() {
        let delay = setting["values"]["link.delay"].as_str().unwrap();
        let delay: f64 = delay.strip_suffix(" ms").unwrap().parse().unwrap();
        assert!((37.0..43.0).contains(&delay), "a round trip of 80 ms has no {delay} ms one way");
    }
    let tried = scratch.read("out/tried.jsonl");
    let again = scratch.trackbed(&asked);
    assert_eq!((again.status, again.stdout), (0, first.stdout));
    assert_eq!(scratch.read("out/tried.jsonl"), tried, "nothing is tried twice");
    let other = format!("{FIT} --to 'median rtt = 60 ms +- 5 %'");
    scratch.refuse(&other, &["belongs to another question"]);
}

#[test]
fn figures_that_exclude_each_other_are_named() {
    let scratch = scenario();
    let figures = "--to 'median rtt = 80 ms +- 5 %' --to 'min rtt = 20 ms +- 5 %'";
    scratch.trackbed(&format!("{FIT} {figures}")).prints(1, &["were not met together"]);
}

#[test]
fn bad_input_says_what_to_write() {
    let scratch = scenario();
    scratch.refuse_all("fit");
    let unmeasured = "--to 'plt = 80 ms +- 5 %' --over link.delay=1ms..9ms";
    let found = scratch.trackbed(&format!("fit a.toml --runs 2 --settings 2 {unmeasured}"));
    found.prints(1, &["was never measured ("]);
}

#[test]
fn a_study_is_run_in_settings_that_it_leaves_open() {
    let scratch = scenario();
    let words = "paper vru --settings 4 --runs 12 --out out";
    let first = scratch.succeed(words).stdout;
    assert!(first.starts_with("Of 7 statements, "), "{first}");
    let kept = scratch.read("out/settings.jsonl");
    assert_eq!(kept.lines().count(), 5, "the question, and four settings");
    assert_eq!(scratch.succeed(words).stdout, first);
    assert_eq!(scratch.read("out/settings.jsonl"), kept, "nothing is run twice");
    // Killed while it wrote.
    scratch.write("out/settings.jsonl", &kept[..kept.len() - 9]);
    assert_eq!(scratch.succeed(words).stdout, first);
    assert_eq!(scratch.read("out/settings.jsonl"), kept);
    fs::create_dir(scratch.path("damaged")).unwrap();
    scratch.write("damaged/settings.jsonl", "nonsense\n");
    scratch.refuse_all("settings of papers");
    scratch.trackbed("paper train --unknowns").prints(0, &["receive buffer"]);
}
