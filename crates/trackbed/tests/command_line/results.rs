//! The output of `run`, `list` and `paper`.

use super::support::{cases, start};
use super::*;

#[test]
fn the_document_has_the_shape_that_programs_count_on() {
    let scratch = Scratch::new();
    let words = "run vru --runs 2 --json --set protocol=quic --set link.loss=0,1% --set tls=1.3";
    let ended = scratch.succeed(words);
    let document = ended.json();
    assert_eq!(document["trackbed"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["scenario"], "vru");
    assert_eq!(document["substrate"], "virtual");
    assert_eq!((document["seed"].as_u64(), document["runs"].as_u64()), (Some(1), Some(2)));
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 6);
    let factors = cells[1]["factors"].as_object().unwrap();
    let names: Vec<&str> = factors.keys().map(String::as_str).collect();
    assert_eq!(names, ["protocol", "tls", "handshake", "loss"]);
    assert_eq!(factors["protocol"], "quic");
    assert_eq!(factors["tls"], "1.3");
    assert_eq!(factors["loss"], 0.01, "a share is a number between 0 and 1");
    for cell in cells {
        assert_eq!(cell["failed"], 0);
        let completion = &cell["metrics"]["completion_ms"];
        for name in ["mean", "p50", "p95", "p99", "min", "max"] {
            assert!(completion[name].as_f64().unwrap() > 100.0, "{name}: {completion}");
        }
        assert_eq!(completion["ci95"].as_array().unwrap().len(), 2);
        assert_eq!(completion["n"], 2);
        let units = ["_ms", "_mbps", "_bytes", "_percent", "_hz", "_ratio", "_count"];
        for metric in cell["metrics"].as_object().unwrap().keys() {
            assert!(units.iter().any(|unit| metric.ends_with(unit)), "{metric}");
        }
    }
    let checks = document["checks"].as_array().unwrap();
    assert!(!checks.is_empty(), "a clean link is compared with arithmetic");
    for check in checks {
        assert_eq!(check["pass"], true, "{check}");
        assert!(check["name"].is_string() && check["detail"].is_string());
    }
    assert_eq!(scratch.read("trackbed-out/vru/run.json"), ended.stdout);
}

/// 2 messages over QUIC: a round trip for the handshake and one each, 10 ms every one.
#[test]
fn tables_name_cells_and_show_arithmetic_beside_measurements() {
    let scratch = scenario();
    let ended = scratch
        .succeed("run a.toml --set protocol=quic,tcp --set useful-difference=0.1ms --runs 6");
    let text = &ended.stdout;
    assert!(text.contains("\na: 2 cells, 6 runs each, virtual substrate, seed 1\n"), "{text}");
    // tcp is not encrypted: 3 round trips too, and fewer bytes.
    assert!(text.starts_with("Fastest: TCP: median completion time"), "{text}");
    assert!(text.contains("\n   0  quic "), "{text}");
    let quic = text.lines().find(|line| line.starts_with("   0  quic")).unwrap();
    let words: Vec<&str> = quic.split_whitespace().collect();
    assert!(words.windows(2).any(|pair| pair == ["3", "30"]), "3 round trips are 30 ms: {quic}");
    assert!(words.ends_with(&["6", "0"]), "six runs, none failed: {quic}");
    assert!(text.contains("checks against arithmetic: 2 of 2 hold (-v shows them)"), "{text}");
    assert!(ended.stderr.contains("trackbed replay trackbed-out/a CELL RUN"), "{}", ended.stderr);

    scratch.trackbed("run a.toml -v").prints(0, &["holds  quic: 3 round trips", "wire_bytes"]);
}

#[test]
fn failed_runs_make_status_1_and_come_with_the_command_that_replays_them() {
    let scratch = scenario();
    let words = "run a.toml --set link.loss=1 --set workload.timeout=2s --out lost";
    let command = "trackbed replay lost 0 0";
    scratch.trackbed(words).prints(1, &[&format!("    {command}\n")]);
    // With JSON in a pipe, the replay command goes to standard error.
    let ended = scratch.trackbed(&format!("{words} --json"));
    assert_eq!((ended.status, &ended.json()["cells"][0]["failed"]), (1, &Value::from(2)));
    assert!(ended.stderr.contains(command), "{}", ended.stderr);
    // A failed run is repeated as such.
    let ended = scratch.trackbed(command.strip_prefix("trackbed ").unwrap());
    ended.says(1, &["the result equals the one in the directory"]);
    assert!(ended.stdout.contains("the run failed: "), "{}", ended.stdout);
}

#[test]
fn two_processes_and_any_number_of_jobs_give_the_same_bytes() {
    let scratch = Scratch::new();
    let words = "run vru --runs 2 --set link.loss=2% --json";
    let one = scratch.succeed(&format!("{words} --out one --jobs 1"));
    for (name, jobs) in [("two", 1), ("three", 3)] {
        let other = scratch.succeed(&format!("{words} --out {name} --jobs {jobs}"));
        assert!(one.stdout == other.stdout, "{name}");
        scratch.same("one", name, &["run.json", "samples.csv", "runs.jsonl"]);
    }
    let other = scratch.succeed(&format!("{words} --out other --seed 2"));
    assert_ne!(other.json()["cells"], one.json()["cells"]);
}

#[test]
fn the_statements_of_a_paper_are_compared_with_our_results() {
    let scratch = Scratch::new();
    let ended = scratch.trackbed("paper vru --runs 6 --json");
    let document = ended.json();
    let statements = document["paper"]["statements"].as_array().unwrap();
    let tried = || statements.iter().filter(|one| one["verdict"] != "not_testable");
    assert!(tried().count() >= 6 && tried().all(|one| one["ours"].is_number()));
    let holds = tried().all(|one| one["verdict"] == "holds");
    assert_eq!(ended.status, if holds { 0 } else { 1 });
    // A statement about missing cells cannot hold.
    let ended = scratch.trackbed("paper vru --runs 1 --set protocol=http3");
    ended.prints(1, &["cells that were not run"]);
}

#[test]
fn lists_and_help_are_complete() {
    let scratch = Scratch::new();
    for row in cases("help") {
        let ended = scratch.succeed(row[0]);
        assert_eq!(ended.stderr, "", "{row:?}");
        for part in &row[1..] {
            assert!(ended.stdout.contains(part), "{row:?}: no {part} in\n{}", ended.stdout);
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scratch = Scratch::new();
    for words in ["list keys", "run vru --runs 1"] {
        let mut child = start(scratch.command(words));
        drop(child.stdout.take());
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words}");
    }
}

#[test]
fn nothing_is_coloured_and_no_bar_is_drawn_in_a_pipe() {
    let scratch = Scratch::new();
    let mut command = scratch.command("run vru --runs 1");
    let ended = Ended::from(command.env("CLICOLOR_FORCE", "0").output().unwrap());
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text:?}");
    }
}

#[test]
fn quiet_is_quiet_and_watching_a_pipe_is_plain() {
    let scratch = Scratch::new();
    let loud = scratch.succeed("run vru --runs 1");
    let quiet = scratch.succeed("run vru --runs 1 --quiet");
    assert_eq!((quiet.stderr.as_str(), quiet.stdout == loud.stdout), ("", true));
    assert!(loud.stderr.contains("results: "), "{}", loud.stderr);
    // Errors are still printed.
    let wrong = scratch.trackbed("--quiet run nothing");
    assert!(wrong.status == 2 && wrong.stderr.contains("nothing"), "{}", wrong.stderr);

    let watched = scratch.succeed("run vru --runs 60 --watch");
    let last = watched.stderr.lines().rfind(|line| line.contains(" runs/s, ")).unwrap();
    assert!(last.starts_with("660 of 660 runs, ") && last.contains(" left, cell "), "{last}");
    assert!(!watched.stderr.contains('\u{1b}'), "{:?}", watched.stderr);
}
