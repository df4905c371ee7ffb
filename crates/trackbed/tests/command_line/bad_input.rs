//! Every bad input gives status 2, nothing on standard output, and one message with the place and what to write
//! instead.

use super::support::cases;
use super::*;

/// The commands of a section of cases must be refused, and begin no results.
fn refused(scratch: &Scratch, section: &str) {
    scratch.refuse_all(section);
    assert!(!scratch.path("trackbed-out").exists(), "{section}: results were begun");
}

#[test]
fn mistakes_in_a_scenario_are_shown_with_their_line_and_the_remedy() {
    let scratch = Scratch::new();
    for row in cases("mistakes in a scenario") {
        let [from, to, parts @ ..] = &row[..] else { panic!("{row:?}") };
        assert!(SCENARIO.contains(from), "{from}");
        scratch.write("bad.toml", &SCENARIO.replacen(from, to, 1));
        scratch.refuse("run bad.toml", parts);
        scratch.refuse("run bad.toml --json", parts);
    }
    assert!(!scratch.path("trackbed-out").exists(), "results were begun");
}

#[test]
fn files_that_are_no_scenario_are_called_so() {
    let scratch = Scratch::new();
    fs::write(scratch.path("binary.toml"), [0xff_u8, 0x00, 0x80, 0xfe]).unwrap();
    scratch.write("empty.toml", "");
    fs::create_dir(scratch.path("folder.toml")).unwrap();
    refused(&scratch, "no scenarios");
}

#[test]
fn arguments_are_refused_with_advice() {
    scenario().refuse_all("arguments");
}

#[test]
fn a_place_that_cannot_be_written_is_refused() {
    let scratch = scenario();
    scratch.write("file", "");
    fs::create_dir(scratch.path("mine")).unwrap();
    scratch.write("mine/thesis.tex", "years of work");
    refused(&scratch, "places");
    assert_eq!(fs::read_dir(scratch.path("mine")).unwrap().count(), 1);
}

#[test]
fn replay_refuses_what_is_not_there() {
    let scratch = scenario();
    scratch.succeed("run a.toml --out done");
    scratch.succeed("run a.toml --out damaged");
    scratch.write("damaged/about.json", "{ \"trackbed\": 1");
    refused(&scratch, "replay");
}

#[cfg(not(feature = "store"))]
#[test]
fn without_object_stores_the_error_says_how_to_get_them() {
    let scratch = scenario();
    refused(&scratch, "without a store");
    assert!(!scratch.path("merged").exists());
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_parquet_the_error_says_how_to_get_it() {
    let words = "export results --format parquet";
    Scratch::new().refuse(words, &["--features parquet", "--format csv"]);
}

/// Each file is taken for what it is; what is left out of it is counted; a bad one has a run's error.
#[test]
fn a_file_is_checked_before_it_is_used() {
    let scratch = Scratch::new();
    scratch.write("my.toml", SCENARIO);
    assert_eq!(scratch.succeed("check my.toml").stdout, "my.toml: scenario: 1 cell\n");
    for row in cases("check") {
        let [name, text, expected] = row[..] else { panic!("{row:?}") };
        scratch.write(name, text);
        let ended = scratch.trackbed(&format!("check my.toml {name}"));
        ended.says(i32::from(expected.contains("error")), &[]);
        let expected = format!("my.toml: scenario: 1 cell\n{name}: {expected}");
        assert!(ended.stdout.starts_with(&expected), "{expected}, not {}", ended.stdout);
    }
}
