//! Packs: a run directory with every file that its scenario reads, repeated where none of these files is.

use super::support::printed;
use super::*;

/// A scenario whose link follows a trace in another folder, run and packed.
fn packed() -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("traces")).unwrap();
    scratch.write("traces/up.txt", "1\n3\n4\n");
    let trace = "rate = { trace = { trace = \"traces/up.txt\" } }";
    scratch.write("a.toml", &SCENARIO.replace("rate = \"50 Mbit/s\"", trace));
    scratch.succeed("run a.toml --out out");
    scratch.succeed("pack out -o out.tar.gz");
    scratch
}

#[test]
fn a_pack_is_repeated_where_no_other_file_is() {
    let elsewhere = Scratch::new();
    let first = packed();
    fs::copy(first.path("out.tar.gz"), elsewhere.path("out.tar.gz")).unwrap();
    let trace = first.path("traces/up.txt");
    drop(first);
    assert!(!trace.exists());
    let whole = "2 of 2 runs repeated (--draw 1): 0 differ\nrun.json matches the runs\n";
    let verified = elsewhere.succeed("verify-results out.tar.gz --draw 1").stdout;
    assert!(verified.starts_with(&format!("5 files have the digests of the pack\n{whole}")));
    assert_eq!(elsewhere.entries("").len(), 1, "nothing is left");

    printed(Command::new("tar").args(["xzf", "out.tar.gz"]).current_dir(elsewhere.folder()));
    assert_eq!(elsewhere.succeed("verify-results out --draw 1").stdout, verified);
    elsewhere.succeed("replay out 0 0");
    elsewhere.succeed("pack out -o again.tar.gz");
    let packs = ["out.tar.gz", "again.tar.gz"].map(|name| fs::read(elsewhere.path(name)).unwrap());
    assert!(packs[0] == packs[1], "the same directory gives the same pack");

    elsewhere.write("out/samples.csv", "cell\n");
    elsewhere.refuse("verify-results out", &["samples.csv has changed", "found sha256", "(5 B)"]);
    let half = &packs[0][..packs[0].len() / 2];
    elsewhere.write("half.tar.gz", half);
    elsewhere.refuse("verify-results half.tar.gz", &["half.tar.gz: is cut off; copy it again"]);
    elsewhere.refuse("verify-results out/run.json", &["run.json: is not a pack"]);
}

/// Ten equal pilot runs leave a share of one half in eleven: 13 pairs are the fewest of which, with ten
/// comparisons, one may differ and in 80 % not more do (exact sums of the sign test at 0.5 %).
#[test]
fn the_runs_for_a_difference_and_the_methods_are_those_of_the_scenario() {
    let scratch = Scratch::new();
    let planned = scratch.succeed("plan vru --set link.loss=0 --difference 5%").stdout;
    assert!(planned.starts_with("A difference of 5 % needs 13 runs of each cell"), "{planned}");
    scratch.refuse("plan vru --runs 5 --difference 5%", &["--runs", "give at least 6"]);
    scratch.refuse("plan vru --set protocol=tcp --difference 5%", &["one cell", "two values"]);
    scratch.succeed("run vru --runs 6 --set protocol=tcp,http1 --seed 8 --out out --report");
    let methods = scratch.succeed("report out --methods").stdout;
    let about = scratch.json("out/about.json");
    let build = format!("Trackbed 0.2.0, build {}", about["build"].as_str().unwrap());
    let runs = "with up to 6 runs each; 0 runs failed";
    has(&methods, &[runs, "root seed 8", "virtual time", &build]);
    assert!(scratch.read("out/report.html").contains(&methods.trim_end().replace('"', "&quot;")));
}

/// The digests are those of `sha256sum`.
#[test]
fn a_file_that_moved_or_changed_is_named_with_both_digests() {
    let scratch = packed();
    let sum = || {
        let mut sum = Command::new("sha256sum");
        printed(sum.arg(scratch.path("traces/up.txt")))[..64].to_owned()
    };
    let about = scratch.json("out/about.json");
    let (path, before) = (scratch.path("traces/up.txt"), sum());
    let recorded = serde_json::json!({ "path": path, "sha256": before, "bytes": 6 });
    assert_eq!(about["files"], serde_json::json!([recorded]));
    let build = about["build"].as_str().unwrap();
    assert!(build.len() == 40 && build.bytes().all(|digit| digit.is_ascii_hexdigit()), "{build}");

    scratch.write("traces/up.txt", "1\n3\n5\n7\n");
    let recorded = format!("recorded: sha256 {before} (6 B), found");
    let found = format!("{recorded}: sha256 {} (8 B)", sum());
    let path = path.to_str().unwrap();
    for words in ["verify-results out", "replay out 0 0", "pack out -o b.tar.gz"] {
        scratch.refuse(words, &[path, &found, "put it back, or run the scenario again"]);
    }
    scratch.refuse("run a.toml --out out", &[path, &found, "another directory with --out"]);
    fs::rename(scratch.path("traces"), scratch.path("moved")).unwrap();
    scratch.refuse("verify-results out", &[path, &format!("{recorded}: none (cannot read"), "put"]);
    assert!(!scratch.path("b.tar.gz").exists());
}
