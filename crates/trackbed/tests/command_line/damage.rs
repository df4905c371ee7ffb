//! Run directories that are damaged, truncated, from elsewhere or of other versions: status 2, one message with
//! the place and the remedy, and no file touched.

use super::support::start;
use super::*;

fn scratch() -> Scratch {
    let scratch = scenario();
    scratch.succeed("run a.toml --set protocol=quic,tcp --runs 3 --out good");
    scratch
}

/// Another copy of the good directory.
fn copy(scratch: &Scratch) {
    let _ = fs::remove_dir_all(scratch.path("bad"));
    fs::create_dir(scratch.path("bad")).unwrap();
    for file in ["about.json", "run.json", "runs.jsonl", "samples.csv"] {
        fs::copy(scratch.path("good").join(file), scratch.path("bad").join(file)).unwrap();
    }
}

/// The commands that read a directory's document.
const READERS: [&str; 4] =
    ["export bad", "export bad --table cells", "report bad", "compare good bad"];

#[test]
fn a_damaged_document_is_named_and_made_again_by_its_command() {
    let scratch = scratch();
    let good = scratch.read("good/run.json");
    for (text, part) in [
        (&good[..good.len() / 2], "run.json is damaged (EOF"),
        ("", "run.json is damaged (EOF"),
        ("[]", "run.json is damaged (invalid length"),
        (&good.replacen("\"cells\"", "\"sells\"", 1), "run.json is damaged (missing field `cells`"),
        (&good.replacen("\"schema\": 1", "\"schema\": 2", 1), "run.json has format 2"),
        (&good.replacen("\"schema\": 1", "\"schema\": 0", 1), "there is no format 0"),
    ] {
        copy(&scratch);
        scratch.write("bad/run.json", text);
        for words in READERS {
            scratch.refuse(words, &["bad: ", part]);
        }
        scratch.succeed("run a.toml --set protocol=quic,tcp --runs 3 --out bad");
        assert!(scratch.read("bad/run.json") == good, "{part}");
    }
    // Files from before the version number can be read.
    copy(&scratch);
    scratch.write("bad/run.json", &good.replacen("  \"schema\": 1,\n", "", 1));
    assert!(!scratch.read("bad/run.json").contains("schema"));
    assert!(scratch.succeed("export bad").stdout == scratch.succeed("export good").stdout);
}

#[test]
fn damaged_runs_are_named_with_their_line() {
    let scratch = scratch();
    let good = scratch.read("good/runs.jsonl");
    let lines: Vec<&str> = good.lines().collect();
    let far = lines[2].replacen("\"cell\":0", "\"cell\":4000000000", 1);
    for (line, part) in [
        ("{\"cell\":0", "runs.jsonl is damaged (line 3: EOF"),
        (
            "{\"cell\":0,\"run\":2,\"outcome\":{\"samples\":{\"rtt_ms\":[null]}}}",
            "(line 3: invalid type: null",
        ),
        (&far, "(line 3: cell 4000000000 is out of range)"),
    ] {
        copy(&scratch);
        let damaged = [&lines[..2], &[line], &lines[3..]].concat().join("\n") + "\n";
        scratch.write("bad/runs.jsonl", &damaged);
        for words in ["export bad", "export bad --table runs", "report bad", "compare good bad"] {
            scratch.refuse(words, &["bad: ", part, "delete that line"]);
        }
        // The remedy in the message works.
        scratch.write("bad/runs.jsonl", &damaged.replacen(&format!("{line}\n"), "", 1));
        let missing = "runs.jsonl has 2 runs of cell 0, but run.json was made of 3";
        scratch.refuse("export bad", &[missing]);
        scratch.succeed("run a.toml --set protocol=quic,tcp --runs 3 --out bad");
        assert!(scratch.read("bad/runs.jsonl") == good);
    }
    fs::remove_file(scratch.path("bad/runs.jsonl")).unwrap();
    scratch.refuse("export bad", &["runs.jsonl has 0 runs of cell 0"]);
}

#[test]
fn directories_of_others_are_called_so_and_left_alone() {
    let scratch = scratch();
    fs::create_dir(scratch.path("bad")).unwrap();
    for about in [None, Some("{ \"name\": \"a browser\", \"schema\": 1 }"), Some("[]")] {
        if let Some(about) = about {
            scratch.write("bad/about.json", about);
        }
        for words in READERS {
            scratch.refuse(words, &["bad: this is not a run directory", "trackbed run SCENARIO"]);
        }
    }
    scratch.refuse("run a.toml --out bad", &["bad: ", "is not a run directory"]);
    assert_eq!(fs::read_dir(scratch.path("bad")).unwrap().count(), 1);
    scratch.refuse("export a.toml", &["a.toml: this is not a directory; give a run directory"]);
    copy(&scratch);
    let about = scratch.read("good/about.json");
    scratch.write("bad/about.json", &about.replacen("\"schema\": 1", "\"schema\": 7", 1));
    for words in READERS {
        scratch.refuse(words, &["about.json has format 7", "with the version that wrote it"]);
    }
    copy(&scratch);
    scratch.write("bad/runs.jsonl", "");
    fs::remove_file(scratch.path("bad/run.json")).unwrap();
    for words in READERS {
        scratch.refuse(words, &["it has no summary yet", "continue it"]);
    }
}

#[test]
fn a_table_that_cannot_be_made_costs_no_file() {
    let scratch = scratch();
    scratch.write("table.csv", "years of work");
    scratch.refuse("export missing --out table.csv", &["missing: this is not a run directory"]);
    assert_eq!(scratch.read("table.csv"), "years of work");
    scratch.succeed("export good --out table.csv");
    assert!(scratch.read("table.csv") == scratch.read("good/samples.csv"));
    assert_eq!(fs::read_dir(scratch.folder()).unwrap().count(), 3, "nothing is left beside it");
    scratch.refuse("export good --out good", &["cannot write good", "give another path"]);
}

/// The versions of this build.
fn formats() -> impl Iterator<Item = &'static str> {
    ["csv", "ndjson"].into_iter().chain(cfg!(feature = "parquet").then_some("parquet"))
}

#[test]
fn a_full_disk_is_an_error_that_names_the_place() {
    let scratch = scratch();
    if !Path::new("/dev/full").exists() {
        return;
    }
    for format in formats() {
        let words = format!("export good --format {format}");
        scratch.refuse(
            &format!("{words} --out /dev/full"),
            &["cannot write /dev/full", "give another path"],
        );
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = Ended::of(scratch.command(&words).stdout(full));
        ended.says(2, &["cannot write to standard output: No space"]);
    }
}

#[test]
fn a_reader_that_goes_away_ends_an_export_quietly() {
    let scratch = scratch();
    for format in formats() {
        for table in ["samples", "runs", "cells", "differences"] {
            let words = format!("export good --table {table} --format {format}");
            let mut child = start(scratch.command(&words));
            drop(child.stdout.take());
            let ended = Ended::from(child.wait_with_output().unwrap());
            assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{words}");
        }
    }
}

/// Commands that summarise an incomplete copy of results report that some are missing.
#[test]
fn every_reader_notices_missing_results() {
    let scratch = scratch();
    copy(&scratch);
    let runs = scratch.read("good/runs.jsonl");
    let some: String = runs.lines().take(4).map(|line| format!("{line}\n")).collect();
    for left in [some.as_str(), ""] {
        scratch.write("bad/runs.jsonl", left);
        scratch.refuse_all("missing results");
    }
}

/// Neither by their names nor by others.
#[test]
fn results_are_not_written_over_through_links() {
    let scratch = scratch();
    copy(&scratch);
    let runs = scratch.read("bad/runs.jsonl");
    std::os::unix::fs::symlink(scratch.path("bad/runs.jsonl"), scratch.path("link")).unwrap();
    scratch.refuse_all("links of results");
    assert!(scratch.read("bad/runs.jsonl") == runs);
    assert!(!scratch.path("s3:").exists());
}
