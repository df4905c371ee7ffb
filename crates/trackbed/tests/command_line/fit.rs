//! `trackbed fit` and `trackbed paper --settings`: searches that are kept, continued and refused.

use super::scenario;
use super::support::{Ended, Scratch};

const FIT: &str = "fit a.toml --set protocol=quic --set workload.count=4 --runs 4 --settings 12 \
                   --over link.delay=1ms..100ms";

fn run(scratch: &Scratch, words: &[&str]) -> Ended {
    Ended::of(scratch.command("").args(words))
}

#[test]
fn a_delay_is_found_by_its_round_trip_and_kept() {
    let scratch = scenario();
    let words: Vec<&str> = FIT.split_whitespace().collect();
    let asked = [&words[..], &["--to", "median rtt = 80 ms +- 5 %", "--out", "out"]].concat();
    let first = run(&scratch, &asked);
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(first.stdout.contains("settings of "), "{}", first.stdout);
    let document = scratch.json("out/fit.json");
    for setting in document["settings"].as_array().unwrap() {
        let delay = setting["values"]["link.delay"].as_str().unwrap();
        let delay: f64 = delay.strip_suffix(" ms").unwrap().parse().unwrap();
        assert!((37.0..43.0).contains(&delay), "a round trip of 80 ms has no {delay} ms one way");
    }
    let tried = scratch.read("out/tried.jsonl");
    let again = run(&scratch, &asked);
    assert_eq!((again.status, again.stdout), (0, first.stdout));
    assert_eq!(scratch.read("out/tried.jsonl"), tried, "nothing is tried twice");
    let other = [&words[..], &["--to", "median rtt = 60 ms +- 5 %", "--out", "out"]].concat();
    let other = run(&scratch, &other);
    assert_eq!(other.status, 2);
    assert!(other.stderr.contains("belongs to another question"), "{}", other.stderr);
}

#[test]
fn figures_that_exclude_each_other_are_named() {
    let scratch = scenario();
    let words: Vec<&str> = FIT.split_whitespace().collect();
    let figures = ["--to", "median rtt = 80 ms +- 5 %", "--to", "min rtt = 20 ms +- 5 %"];
    let found = run(&scratch, &[&words[..], &figures, &["--out", "out"]].concat());
    assert_eq!(found.status, 1, "{}", found.stderr);
    assert!(found.stdout.contains("were not met together"), "{}", found.stdout);
}

#[test]
fn bad_input_says_what_to_write() {
    let scratch = scenario();
    let rtt = "median rtt = 80 ms +- 5 %";
    for (figure, keys, expected) in [
        ("rtt = 80 ms +- 0 %", "link.delay=1ms..9ms", "tolerance of zero"),
        (rtt, "link.delay=9ms..1ms", "the smaller number first"),
        (rtt, "link.dely=1ms..9ms", "did you mean \"delay\""),
        (rtt, "link.delay=1ms..9apples", "apples"),
        (
            "rtt[protocol=carrier] = 80 ms +- 5 %",
            "link.delay=1ms..9ms",
            "no cell has protocol carrier",
        ),
        ("rtt[speed=3] = 80 ms +- 5 %", "link.delay=1ms..9ms", "has no factor \"speed\""),
        ("plt = 80 ms +- 5 %", "link.delay=1ms..9ms", "never measured"),
    ] {
        let words =
            ["fit", "a.toml", "--runs", "2", "--settings", "2", "--out", "out", "--to", figure];
        let ended = run(&scratch, &[&words[..], &["--over", keys]].concat());
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert_ne!(ended.status, 0, "{figure} {keys}: {said}");
        assert!(said.contains(expected), "{figure} {keys}: {said}");
    }
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
    let remedy = ["belongs to another question", "choose another folder"];
    scratch.refuse("paper hsr --settings 2 --runs 12 --out out", &remedy);
    scratch.refuse("paper vru --settings 4 --runs 13 --out out", &remedy);
    scratch.write("out/settings.jsonl", "nonsense\n");
    scratch.refuse(words, &remedy);
    scratch.refuse("paper all --unknowns", &["for one paper"]);
    scratch.refuse("paper vru --unknowns --set link.loss=5%", &["add --settings"]);
    let listed = scratch.succeed("paper train --unknowns").stdout;
    assert!(listed.contains("receive buffer"), "{listed}");
}
