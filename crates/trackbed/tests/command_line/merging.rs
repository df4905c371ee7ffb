//! Merging of results.

use super::sweeps::{FILES, SWEEP};
use super::*;

/// Merging fewer runs of the same campaign deletes nothing.
#[test]
fn what_is_merged_into_keeps_its_runs() {
    let scratch = scenario();
    scratch.succeed(&format!("{SWEEP} --out whole"));
    scratch.succeed(&format!("{SWEEP} --out same"));
    scratch.succeed("run a.toml --set link.loss=0,2%,5% --runs 3 --out fewer");
    scratch.trackbed("merge fewer --out whole").says(0, &["21 of 21 runs exist"]);
    scratch.same("whole", "same", &FILES);
}

/// A completed shard is a success whatever its runs gave; otherwise a cluster would repeat it, or cancel the
/// others. Merging reports the results of all shards.
#[test]
fn runs_that_fail_are_no_failure_of_their_shard() {
    let scratch = scenario();
    let sweep = "run a.toml --set link.loss=0,100%";
    for number in ["1/2", "2/2"] {
        let ended = scratch.trackbed(&format!("{sweep} --out big --shard {number}"));
        ended.prints(0, &["failed: 1 run of cell 1"]);
    }
    scratch.trackbed("merge big").says(1, &["4 of 4 runs exist"]);
    assert_eq!(scratch.trackbed(&format!("{sweep} --out whole")).status, 1);
}

/// A closed or full standard output does not change the exit status.
#[test]
fn a_reader_that_goes_away_changes_nothing() {
    let scratch = scenario();
    scratch.succeed(&format!("{SWEEP} --out big --shard 1/2"));
    let unread = |words: &str| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = scratch.command(words);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        Ended::from(child.wait_with_output().unwrap())
    };
    for words in ["merge big", "merge big --json"] {
        unread(words).says(1, &["10 of 21 runs exist"]);
    }
    assert_eq!(unread("run a.toml --set link.loss=100% --out lost").status, 1);
    assert_eq!(unread("list scenarios").status, 0);
    // A device that is always full.
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = scratch.command("merge big");
    Ended::of(command.stdout(full)).says(2, &["cannot write to standard output"]);
}

/// Runs in which the machine did not keep up, as the emulated substrate marks them.
#[test]
fn runs_that_were_too_late_are_merged_as_they_were_counted() {
    let scratch = scenario();
    scratch.succeed("run a.toml --runs 8 --out one");
    for file in ["about.json", "run.json"] {
        scratch.change(&format!("one/{file}"), |text| text["substrate"] = "emulated".into());
    }
    let mark = |line: &str| {
        let mut run: Value = serde_json::from_str(line).unwrap();
        let is_late = run["run"] == 3;
        run["certificate"] = json!({
            "verdict": if is_late { "invalid" } else { "valid" }, "packets": 100,
            "late_p50_us": 1.0, "late_p99_us": 2.0, "late_max_us": 3.0, "late_percent": 0.0,
            "overflowed": u64::from(is_late), "processor_ms": 1.0, "histogram": [],
        });
        format!("{run}\n")
    };
    let runs: String = scratch.read("one/runs.jsonl").lines().map(mark).collect();
    scratch.write("one/runs.jsonl", &runs);
    for (words, (n, left_out)) in [
        ("merge one --out two --json", (7, 1)),
        ("merge one --out three --json --keep-invalid", (8, 0)),
    ] {
        let cell = &scratch.succeed(words).cells()[0];
        assert_eq!(cell["metrics"]["completion_ms"]["n"], n, "{words}");
        assert_eq!(cell["invalid"].as_u64().unwrap_or(0), left_out, "{words}");
    }
}

/// Each machine counts once, in any order of merging, and whether or not all were merged at once.
#[test]
fn machines_of_real_time_are_kept_whatever_the_order() {
    let scratch = scenario();
    for (folder, machine) in [("one", "machine 1"), ("two", "machine 2"), ("three", "machine 3")] {
        scratch.succeed(&format!("run a.toml --runs 6 --out {folder}"));
        for file in ["about.json", "run.json"] {
            scratch.change(&format!("{folder}/{file}"), |text| {
                text["substrate"] = "emulated".into();
                text["environment"] = json!({ "kernel": machine });
            });
        }
    }
    // It was killed before the summary was written.
    fs::remove_file(scratch.path("two/run.json")).unwrap();
    let kernel = |words: &str| {
        let ended = scratch.succeed(&format!("merge {words} --json"));
        ended.json()["environment"]["kernel"].clone()
    };
    let both = "machine 1 | machine 3";
    assert_eq!(kernel("one two three --out all"), both);
    assert_eq!(kernel("three two one --out other"), both);
    assert_eq!(kernel("three --out steps"), "machine 3");
    assert_eq!(kernel("one --out steps"), both);
    assert_eq!(kernel("two three --out steps"), both);
    let about = scratch.json("steps/about.json");
    assert_eq!(about["command"][1], "merge", "{about}");
}
